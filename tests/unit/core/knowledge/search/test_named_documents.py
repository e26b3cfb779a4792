import pytest

from core.domain.corpus import Document
from core.knowledge.search.named_documents import MOST_NAMED, Named, find_named
from tests.builders import build_document

MILL = build_document("books/mill.txt", title="The Mill on the Long Water")
ISLAND = build_document("books/salt-island.txt", title="salt-island")
MEETING = build_document("minutes/Meeting 12.md", title="Harbour board, twelfth meeting")
LANTERN = build_document("books/lantern.epub", title="Lantern", aliases=("A Lamp in the Dark Wood",))
NOTES = build_document("daily-notes.md", title="Daily Notes")
SHELF = (MILL, ISLAND, MEETING, LANTERN, NOTES)


@pytest.mark.parametrize(
    ("query", "document", "rest"),
    [
        ("In The Mill on the Long Water, who owns the boat?", MILL, "who owns the boat?"),
        ("in the mill on the long water who owns the boat", MILL, "who owns the boat"),
        ("Who owns the boat in “The Mill on the Long Water”?", MILL, "Who owns the boat?"),
        ("Does The Mill on the Long Water say who owns the boat?", MILL, "Does say who owns the boat?"),
        ("How much gold was left at the end of Salt Island?", ISLAND, "How much gold was left at the end?"),
        ("When does the crane arrive, according to Meeting 12?", MEETING, "When does the crane arrive?"),
        ("In Lantern, who lights the lamp first?", LANTERN, "who lights the lamp first?"),
        ("In the novel A Lamp in the Dark Wood, who lights the fire?", LANTERN, "who lights the fire?"),
    ],
)
def test_a_document_is_named_by_title_alias_or_file_name(query: str, document: Document, rest: str) -> None:
    assert find_named(query, SHELF) == Named(frozenset({document.id}), rest)


@pytest.mark.parametrize(
    "query",
    [
        "Who owns the boat?",
        "How do daily notes use templates?",  # two words with nothing that points to a place: the subject itself
        "Who carries the lantern in lantern light?",  # one word, not set apart
        "What was agreed in Meeting 121 about cranes?",  # another meeting
        "What is The Mill on the Long Water about?",  # nothing is left to search for
        "In Salt Island?",
    ],
)
def test_what_only_looks_like_a_name_changes_nothing(query: str) -> None:
    assert find_named(query, SHELF) is None


def test_the_longest_name_counts() -> None:
    part = build_document("books/long-water.txt", title="Long Water")
    query = "In The Mill on the Long Water, who owns the boat?"
    assert find_named(query, [part, MILL]) == Named(frozenset({MILL.id}), "who owns the boat?")


def test_copies_of_a_document_are_named_together() -> None:
    copy = build_document("old/salt-island.txt", title="salt-island")
    named = find_named("Who digs first in Salt Island?", [ISLAND, copy])
    assert named is not None
    assert named.document_ids == {ISLAND.id, copy.id}


def test_a_name_that_many_share_points_to_none() -> None:
    many = [build_document(f"{number}/minutes-of-board.md", title=f"No {number}") for number in range(MOST_NAMED + 1)]
    assert find_named("Who came late, according to minutes of board?", many[:1]) is not None
    assert find_named("Who came late, according to minutes of board?", many) is None


def test_a_question_may_name_several_documents() -> None:
    named = find_named("Did the crane of Meeting 12 carry the gold in Salt Island?", SHELF)
    assert named == Named(frozenset({MEETING.id, ISLAND.id}), "Did the crane carry the gold?")
