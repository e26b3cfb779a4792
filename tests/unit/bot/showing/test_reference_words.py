from dataclasses import replace

from bot.showing.reference_words import (
    NO_REFERENCES,
    also_looked_at,
    hidden_count,
    named_lines,
    reference_rows,
    references_markdown,
    row_words,
)
from core.domain.answer import Answer, AnswerStatus, Reference, ReferenceType
from tests.builders import build_citation

GUIDE = build_citation("d0", document="guide.md")
HOUSE = Reference(
    type=ReferenceType.DIRECT,
    label="[[House#Keys]]",
    document="house.md",
    document_id="d1",
    heading="Keys",
    summary="Where we live.",
)
BROKEN = Reference(
    type=ReferenceType.DIRECT,
    label="[[Boats]]",
    document=None,
    broken=True,
    summary="no document is called so",
    near=("[[Boat]]", "[[Goat]]"),
)
NO_HEADING = replace(HOUSE, label="[[House#Key]]", heading="", near=("[[House#Keys]]",))


def seen(count: int, first: int = 0) -> tuple[Reference, ...]:
    return tuple(
        Reference(type=ReferenceType.SEARCH, label=f"Doc {n}", document=f"{n}.md", document_id=f"d{n}")
        for n in range(first, first + count)
    )


def build_answer(*references: Reference) -> Answer:
    return Answer(status=AnswerStatus.ANSWERED, text="Yes.", citations=(GUIDE,), references=references)


def test_what_the_question_named_has_a_line_each_with_path_and_summary() -> None:
    assert named_lines(build_answer(HOUSE, BROKEN, NO_HEADING)) == [
        "House#Keys: house.md — Where we live.",
        "Boats: leads nowhere (no document is called so) — Did you mean Boat or Goat?",
        "House#Key: house.md has no such heading — Did you mean House#Keys?",
    ]
    assert named_lines(build_answer(replace(BROKEN, near=(), summary=""))) == ["Boats: leads nowhere"]


def test_all_that_comes_from_documents_is_escaped() -> None:
    odd = replace(HOUSE, label="[[*a*]]", document="*b*.md", summary="*c*")
    line = references_markdown(build_answer(odd), lambda text: text.replace("*", "\\*"))
    assert line == "1. \\*a\\*: \\*b\\*.md — \\*c\\*"


def test_only_what_was_not_used_was_also_looked_at() -> None:
    assert also_looked_at(build_answer(*seen(3)), str.upper) == "Also looked at: DOC 1, DOC 2"
    assert also_looked_at(build_answer(*seen(1))) == ""
    assert also_looked_at(build_answer(HOUSE)) == ""
    assert also_looked_at(build_answer(*seen(2, 1), *seen(2, 1))) == "Also looked at: Doc 1, Doc 2"


def test_ten_are_shown_and_the_others_counted() -> None:
    many = build_answer(*seen(13))  # one is cited
    assert also_looked_at(many, more=" (press)").endswith("Doc 9, Doc 10 and 2 more (press)")
    assert (hidden_count(many), hidden_count(build_answer(*seen(11)))) == (2, 0)


def test_what_was_named_takes_room_from_what_was_looked_at() -> None:
    named = tuple(replace(HOUSE, label=f"[[{n}]]", document_id=f"n{n}") for n in range(12))
    both = build_answer(*named[:8], *seen(5, 1))
    assert also_looked_at(both) == "Also looked at: Doc 1, Doc 2 and 3 more"
    assert len(named_lines(build_answer(*named))) == 10
    assert also_looked_at(build_answer(*named, *seen(5, 1))) == "And 7 more"
    assert hidden_count(build_answer(*named, *seen(5, 1))) == 7


def test_all_of_them_open_as_a_list_named_cited_and_looked_at() -> None:
    rows = reference_rows(build_answer(*seen(12), replace(HOUSE, document_id="h")))
    assert [row.label for row in rows] == ["House#Keys", *(f"Doc {n}" for n in range(12))]
    assert [row_words(row) for row in rows[:3]] == [
        "House#Keys: house.md — Where we live.",
        "Doc 0: 0.md, cited",
        "Doc 1: 1.md",
    ]


def test_references_of_old_conversations_have_no_ids_and_are_listed_all_the_same() -> None:
    old = [Reference(type=ReferenceType.SEARCH, label=name, document=name) for name in ("guide.md", "other.md")]
    assert also_looked_at(build_answer(*old)) == "Also looked at: other.md"
    assert [row.is_cited for row in reference_rows(build_answer(*old))] == [True, False]


def test_nothing_is_no_line() -> None:
    nothing = build_answer()
    assert (named_lines(nothing), also_looked_at(nothing), hidden_count(nothing)) == ([], "", 0)
    assert references_markdown(nothing, str) == NO_REFERENCES
