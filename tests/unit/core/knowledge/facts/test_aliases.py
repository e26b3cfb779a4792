"""Aliases: which main names a question is searched with, too."""

from collections.abc import Mapping

import pytest

from core.domain.extracts import ExtractType
from core.knowledge.facts.aliases import KEPT_SECONDS, MOST_NAMES, build_book, find_names
from core.knowledge.facts.ontology import Ontology
from tests.builders import build_scope, build_source
from tests.unit.core.library_builder import Shelf

ALIASES = {
    "Armor Class": ("AC",),
    "Benedict Stone": ("Ben", "the old ferryman"),
    "Benjamin Wood": ("Benny",),
    "Benefit Fund": ("Benny", "of", "7", "x"),
    "Consumer Price Index": ("price index of consumers",),
}


def names(text: str, aliases: Mapping[str, tuple[str, ...]] = ALIASES) -> tuple[str, ...]:
    return find_names(text, build_book(Ontology(entities=(), relations=(), aliases=aliases, extracts={})))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What raises AC?", ("Armor Class",)),
        ("What does the ac unit cost?", ()),  # an abbreviation is meant as it is written
        ("Where does the old ferryman live?", ("Benedict Stone",)),
        ("Where do The Old Ferryman and Ben meet an AC of 12?", ("Benedict Stone", "Armor Class")),
        ("Is Benedict Stone the old ferryman?", ()),  # the name is there already
        ("Who is Benny?", ()),  # which of the two?
        ("What is the price index of consumers in 7 of x?", ("Consumer Price Index",)),
        ("Where is the key?", ()),
    ],
)
def test_an_alias_gives_the_name_of_the_one_thing_it_names(text: str, found: tuple[str, ...]) -> None:
    assert names(text) == found


def test_a_text_full_of_aliases_is_widened_by_a_few() -> None:
    many = {f"Thing {number} itself": (f"alias{number}",) for number in range(9)}
    assert len(names(" ".join(f"alias{number}" for number in range(9)), many)) == MOST_NAMES


async def test_names_come_from_titles_and_entities_within_the_scope_and_are_looked_up_now_and_then() -> None:
    shelf = Shelf()
    glossary = await shelf.add("glossary.md", "Master of the harbour (quaymaster)", title="Glossary")
    thing = {"name": "Master of the harbour", "kind": "term", "aliases": ["quaymaster"]}
    await shelf.extract(glossary, ExtractType.ENTITY, thing)
    facts, question = shelf.facts, "What does the quaymaster do?"

    assert await facts.aliases.main_names(question, build_scope(build_source("secrets"))) == ()
    assert await facts.aliases.main_names(question, shelf.scope()) == ("Master of the harbour",)
    assert await facts.aliases.main_names(question, shelf.scope(**{glossary.id: 0})) == ()
    await shelf.corpus.remove_documents([glossary.id])
    assert await facts.aliases.main_names(question, shelf.scope()) == ("Master of the harbour",)
    shelf.clock.advance(KEPT_SECONDS)
    assert await facts.aliases.main_names(question, shelf.scope()) == ()
