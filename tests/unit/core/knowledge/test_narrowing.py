"""Own readers of documents: neither the old text nor the new one is shown to anybody whom one of them is closed to."""

import pytest

from core.domain.readers import Narrowing, is_wider, narrowing_label
from core.knowledge.narrowing import Narrower, OwnReaders
from tests.builders import build_source
from tests.stores import Stores

GM, CREW = frozenset({"role:gm"}), frozenset({"role:gm", "role:crew"})
CREW_MAP = {"group:crew": CREW, "user:ann": frozenset({"person:U1"})}


def limited(*sets: frozenset[str]) -> Narrowing:
    return frozenset(sets)


@pytest.mark.parametrize(
    ("new", "old", "wider"),
    [
        (limited(), limited(), False),
        (limited(GM), limited(), False),
        (limited(), limited(GM), True),
        (limited(GM), limited(CREW), False),
        (limited(CREW), limited(GM), True),
        (limited(GM, CREW), limited(GM), False),
        (limited(GM), limited(GM, frozenset({"person:U1"})), True),
        (limited(GM), limited(frozenset()), True),
    ],
)
def test_limits_are_wider_if_one_of_before_no_longer_holds(new: Narrowing, old: Narrowing, wider: bool) -> None:
    assert is_wider(new, old) is wider


def test_limits_are_told_in_words() -> None:
    assert narrowing_label(limited(CREW)) == "role:crew, role:gm"
    assert narrowing_label(limited(GM, frozenset({"person:U1"}))) == "person:U1 who are also among role:gm"
    assert narrowing_label(limited(GM, frozenset())) == "nobody"
    assert narrowing_label(limited()) == "all readers of the source"


def test_a_set_without_a_mapped_name_is_nobody_and_is_reported_with_its_names() -> None:
    own = OwnReaders.of(
        {
            "a.html": (frozenset({"group:crew", "group:42"}),),
            "b.html": (frozenset({"group:crew"}), frozenset({"user:ben", "user:ann"})),
            "c.html": (frozenset({"user:ben"}),),
        },
        CREW_MAP,
    )

    assert own.by_path == {
        "a.html": limited(CREW),
        "b.html": limited(CREW, frozenset({"person:U1"})),
        "c.html": limited(frozenset()),
    }
    [said] = own.warnings("wiki")
    assert "Nobody may read 'c.html' in chats" in said
    assert "'user:ben'" in said and "[sources.reader_map] of 'wiki'" in said


def test_readers_that_the_source_does_not_tell_are_nobody() -> None:
    [said] = OwnReaders.of({"a.html": (frozenset(),)}, CREW_MAP).warnings("wiki")

    assert said.endswith("and doesn't say whom.")


async def test_a_document_has_both_limits_until_its_text_is_in_and_what_is_opened_is_told() -> None:
    stores, source = Stores(), build_source("wiki")
    await stores.corpus.save_source(source)
    narrower = await Narrower.of(stores.corpus, source)
    await narrower.close({"a.md": limited(GM)})
    await narrower.open({"a.md": limited(GM)})
    assert (narrower.limits("a.md"), narrower.warnings()) == (limited(GM), [])

    narrower = await Narrower.of(stores.corpus, source)
    other = frozenset({"person:U1"})
    await narrower.close({"a.md": limited(other)})
    assert list((await stores.corpus.narrowed("local")).values()) == [limited(GM, other)]
    await narrower.open({"a.md": limited(other)})
    assert list((await stores.corpus.narrowed("local")).values()) == [limited(other)]
    assert narrower.warnings() == ["More people than before may read 'a.md', as the source says now."]
    noted = [entry.note.about for entry in await stores.audit.newest("local", 10)]
    assert noted[0] == "wiki: more readers of 'a.md' (person:U1)"
