"""Entities: what a document, its glossary, its people and places are called."""

from pathlib import Path
from typing import Any

import pytest

from core.domain.corpus import Page
from core.domain.extracts import ExtractorInput, Found
from storage.documents.extractors.entities import EntitiesExtractor
from tests.builders import build_document
from tests.unit.storage.documents.extractors.meeting_reading import to_input
from tests.unit.storage.documents.extractors.notes import build_note


def extract(text: str, **fields: Any) -> list[Found]:
    return list(EntitiesExtractor().extract(build_note(text, **fields)))


def names(text: str, kind: str) -> list[str]:
    return [str(item.data["name"]) for item in extract(text) if item.data["kind"] == kind]


def definitions(text: str, **fields: Any) -> dict[str, str]:
    found = extract(text, **fields)
    return {str(item.data["name"]): str(item.data["definition"]) for item in found if item.data["kind"] == "term"}


def test_a_document_is_known_by_its_title_and_its_aliases() -> None:
    (item,) = extract("Some words.\n", title="Harbour rules", aliases=("rules", "the book"))
    assert item.data == {
        "name": "Harbour rules",
        "kind": "document",
        "aliases": ["rules", "the book"],
        "definition": "",
    }


@pytest.mark.parametrize(
    "text",
    [
        "| Term | Definition |\n|---|---|\n| Ebb | The falling tide. |\n",
        "| Meaning | Word |\n|---|---|\n| The falling tide. | **Ebb** |\n",
        "Ebb\n: The falling tide.\n",
        "## Glossary\n\n- Ebb: The falling tide.\n",
        "# Terms and definitions\n\n- Ebb – The falling tide.\n",
    ],
)
def test_terms_are_defined_in_many_styles(text: str) -> None:
    assert definitions(text)["Ebb"].lower() == "the falling tide."


def test_the_headings_of_a_glossary_are_terms() -> None:
    assert definitions("# Glossary\n\n## Ebb\n\nFalling water.\n", title="Glossary") == {"Ebb": "Falling water."}


@pytest.mark.parametrize(
    "text",
    [
        "| Term | Definition |\n|---|---|\n| Date | the 4th |\n| Action 3 | the board meets |\n| What now? | - |\n",
        "```\nEbb\n: The falling tide.\n```\n",
        "- Ebb: The falling tide.\n",
        "**Ann**: I think the tide is late.\n",
    ],
)
def test_labels_code_and_items_outside_of_a_glossary_define_nothing(text: str) -> None:
    assert definitions(text) == {}


def test_columns_that_say_of_what_give_their_names() -> None:
    text = (
        "| Country | Speaker | Tons |\n|---|---|---|\n"
        "| Norway | Ola Nordmann | 4 |\n| Total | n/a | 9 |\n| Chile | 7 | 5 |\n"
    )
    assert names(text, "place") == ["Norway", "Chile"]
    assert names(text, "person") == ["Ola Nordmann"]


@pytest.mark.parametrize(
    ("link", "aliases"),
    [
        ("[[harbour-rules|Harbour]]", ["Harbour"]),
        ("[[ops/harbour-rules.md#Fees|Rules of harbours]]", ["Rules of harbours"]),
        ("[[harbour-rules|here]]", None),
        ("[[harbour-rules|the rules]]", None),
        ("[[harbour-rules]]", None),
        ("`[[harbour-rules|Harbour]]`", None),
    ],
)
def test_a_name_that_a_link_gives_a_note_is_its_alias(link: str, aliases: list[str] | None) -> None:
    linked = [item.data["aliases"] for item in extract(f"See {link} for it.\n") if item.data["name"] == "harbour-rules"]
    assert linked == ([aliases] if aliases else [])


def test_pages_of_a_journal_and_what_its_links_name_are_entities() -> None:
    page = Page(
        id="p",
        document_id="d",
        revision="r1",
        number=1,
        title="Old Ben",
        text="Lives with @UUID[Actor.abc]{Mary} in @UUID[Compendium.world.scenes.Scene.x]{The Mill}.",
        deep_link="@UUID[JournalEntry.a.JournalEntryPage.b]",
    )
    document = build_document("keep.json", kind="foundry", title="Keep")
    found = list(EntitiesExtractor().extract(ExtractorInput(document=document, pages=(page,))))
    assert {(item.data["name"], item.data["kind"]) for item in found} == {
        ("Keep", "document"),
        ("Old Ben", "journal page"),
        ("Mary", "actor"),
        ("The Mill", "place"),
    }


def test_a_thing_is_found_once_with_all_its_names() -> None:
    text = "See [[harbour-rules|Harbour]].\n\nSee [[harbour-rules|Rules of harbours]].\n"
    (rules,) = [item for item in extract(text) if item.data["name"] == "harbour-rules"]
    assert rules.data["aliases"] == ["Harbour", "Rules of harbours"]


def test_the_place_of_a_name_in_a_very_long_line_is_its_sentence() -> None:
    said = "@UUID[Actor.abc]{Ahab} came aboard."
    given = build_note("It rained. " * 100 + said + " " + "It rained. " * 100)
    (ahab,) = [item for item in EntitiesExtractor().extract(given) if item.data["kind"] == "actor"]
    assert ahab.span.of(given.pages[0].text) == said


def test_definition_lists_of_web_pages_define_their_terms(tmp_path: Path) -> None:
    page = (
        "<h1>Harbour words</h1><dl><dt>Ebb</dt><dd>The falling tide.<br>It ends at low water.</dd><dt>Cleat</dt>"
        "<dt>Belaying pin</dt><dd><p>A fitting for ropes.</p></dd></dl>"
    )
    assert defined_in("words.html", page, tmp_path) == {
        "Ebb": "The falling tide. It ends at low water.",
        "Cleat": "A fitting for ropes.",
        "Belaying pin": "A fitting for ropes.",
    }


def test_definition_lists_and_glossaries_of_restructured_text_define_their_terms(tmp_path: Path) -> None:
    lists = ".. glossary::\n\n   ebb\n      The falling tide.\n\nFlow\n   Rising\n   water.\n"
    text = f"Words\n=====\n\n{lists}\n**Bold**\n\nNo meaning.\n"
    assert defined_in("words.rst", text, tmp_path) == {"ebb": "The falling tide.", "Flow": "Rising water."}


def defined_in(name: str, text: str, folder: Path) -> dict[str, str]:
    found = EntitiesExtractor().extract(to_input(name, text, folder))
    data = [item.data for item in found if isinstance(item, Found)]
    return {str(item["name"]): str(item["definition"]) for item in data if item["definition"]}


def test_an_alias_of_a_later_page_is_found_there() -> None:
    document = build_document("ferry.md", title="Ferry")
    texts = ("See [[harbour-rules|Harbour]].", "See [[harbour-rules|Harbour]] and [[harbour-rules|Rules of harbours]].")
    pages = tuple(
        Page(id=f"p{number}", document_id="d", revision="r1", number=number, title="", text=text)
        for number, text in enumerate(texts, 1)
    )
    found = EntitiesExtractor().extract(ExtractorInput(document=document, pages=pages))
    assert [(item.page_number, item.data["aliases"]) for item in found if item.data["name"] == "harbour-rules"] == [
        (1, ["Harbour"]),
        (2, ["Rules of harbours"]),
    ]
