from dataclasses import replace
from datetime import timedelta

import pytest

from bot.presentation.answer_text import (
    NO_REFERENCES,
    answer_markdown,
    gaps_line,
    has_other_references,
    job_line,
    job_tree,
    named_reference_lines,
    passage_lines,
    reference_line,
    reference_rows,
    references_markdown,
    remove_space_before_markers,
    source_path,
    source_title,
)
from core.domain.answer import Answer, AnswerStatus, Reference, ReferenceType
from core.domain.jobs import JobKind, JobStatus
from core.domain.passages import Span
from tests.builders import NOON, build_citation, build_job


def build_answer(**fields: object) -> Answer:
    values = {"status": AnswerStatus.ANSWERED, "text": "The words.", "message_id": "a", **fields}
    return Answer(**values)  # type: ignore[arg-type]  # fields are those of an answer


def said(answer: Answer) -> str:
    return answer_markdown(answer, str.upper, menu_holds=2, longest_option=5)


def test_a_document_without_a_title_goes_by_its_file() -> None:
    citation = build_citation(document_title=" ", document="books/a_guide.pdf")
    assert source_title(citation) == "Page 1 of “a_guide.pdf”"


def test_a_title_that_begins_the_path_is_not_said_twice() -> None:
    assert source_path(build_citation(heading_path=("Guide", "Doors", "Keys"))) == "Doors > Keys"
    assert source_path(build_citation(heading_path=("Guide",))) == ""


def test_gaps_beyond_the_tenth_are_counted() -> None:
    answer = build_answer(data_gaps=tuple(f"{n}" for n in range(11)))
    assert gaps_line(answer).endswith("8; 9 and 1 more")


def test_nothing_missing_is_no_line() -> None:
    assert gaps_line(build_answer()) == ""


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "The words."),
        ({"text": " "}, "This answer has no text."),
        ({"status": AnswerStatus.STOPPED}, "**Stopped**\n\nThe words."),
        ({"status": AnswerStatus.STOPPED, "text": "Stopped by Ada."}, "Stopped by Ada."),
        ({"choices": ("Red", "Blue")}, "The words."),
        ({"choices": ("Red", "Violet")}, "The words.\n\n1. RED\n2. VIOLET"),
        ({"choices": ("Red",), "message_id": ""}, "The words.\n\n1. RED"),
        (
            {"choices": ("a", "b", "c")},
            "The words.\n\n1. A\n2. B\n3. C\n\nThe menus hold the first 2; for another, write its name.",
        ),
    ],
)
def test_the_text_has_its_status_before_it_and_behind_it_what_menus_cannot_hold(
    fields: dict[str, object], expected: str
) -> None:
    assert said(build_answer(**fields)) == expected


def test_what_is_partial_or_unsupported_is_said_once() -> None:
    text = said(build_answer(partial=True, unsupported=(Span(0, 3),)))
    assert text.count("\n\n") == 2
    assert said(build_answer(text=text, partial=True, unsupported=(Span(0, 3),))) == text


def test_long_lines_of_passages_are_cut_between_words() -> None:
    assert list(passage_lines("one two three\n\n four", 8)) == ["one two", "three", "four"]
    assert list(passage_lines("x" * 20, 8)) == ["x" * 8, "x" * 8, "x" * 4]


def test_a_tree_gives_parents_before_children_and_orphans_as_roots() -> None:
    jobs = [
        build_job("r"),
        build_job("b", parent_id="r"),
        build_job("a", parent_id="gone"),
        build_job("c", parent_id="b"),
    ]
    assert [(depth, job.id) for depth, job in job_tree(jobs)] == [(0, "r"), (1, "b"), (2, "c"), (0, "a")]


def test_a_step_says_what_it_was_asked_and_what_came_of_it() -> None:
    done = build_job(
        "t",
        kind=JobKind.TOOL,
        name="search",
        status=JobStatus.DONE,
        input={"query": "the key"},
        output={"passages": 1},
        started_at=NOON,
        completed_at=NOON + timedelta(seconds=2),
    )
    assert job_line(done) == "✓ Searching for “the key” (1 passage, 2.0 s)"
    failed = build_job("p", name="plan", status=JobStatus.FAILED, error="No reply.", attempts=2)
    assert job_line(failed, str.upper) == "✗ PLAN (failed, try 2, NO REPLY.)"


def test_a_draft_that_loses_its_notes_has_no_space_before_its_points() -> None:
    assert (
        remove_space_before_markers("Under the mat [1]. Two  [12][3], three [x].")
        == "Under the mat[1]. Two[12][3], three [x]."
    )


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
    summary="no document has this name",
    near=("[[Boat]]", "[[Goat]]"),
)
NO_HEADING = replace(HOUSE, label="[[House#Key]]", heading="", near=("[[House#Keys]]",))


def seen(count: int, first: int = 0) -> tuple[Reference, ...]:
    return tuple(
        Reference(type=ReferenceType.SEARCH, label=f"Doc {n}", document=f"{n}.md", document_id=f"d{n}")
        for n in range(first, first + count)
    )


def build_referring_answer(*references: Reference) -> Answer:
    return Answer(status=AnswerStatus.ANSWERED, text="Yes.", citations=(GUIDE,), references=references)


def test_what_the_question_named_has_a_line_each_with_path_and_summary() -> None:
    assert named_reference_lines(build_referring_answer(HOUSE, BROKEN, NO_HEADING)) == [
        "House#Keys: house.md — Where we live.",
        "Boats: leads nowhere (no document has this name) — Did you mean Boat or Goat?",
        "House#Key: house.md has no such heading — Did you mean House#Keys?",
    ]
    assert named_reference_lines(build_referring_answer(replace(BROKEN, near=(), summary=""))) == [
        "Boats: leads nowhere"
    ]


def test_all_that_comes_from_documents_is_escaped() -> None:
    odd = replace(HOUSE, label="[[*a*]]", document="*b*.md", summary="*c*")
    line = references_markdown(build_referring_answer(odd), lambda text: text.replace("*", "\\*"))
    assert line == "1. \\*a\\*: \\*b\\*.md — \\*c\\*"


def test_what_was_named_or_not_used_opens_as_a_list() -> None:
    assert has_other_references(build_referring_answer(*seen(3)))
    assert has_other_references(build_referring_answer(HOUSE))
    assert not has_other_references(build_referring_answer(*seen(1)))  # which is cited


def test_ten_of_those_named_are_shown() -> None:
    named = (replace(HOUSE, label=f"[[{n}]]", document_id=f"n{n}") for n in range(12))
    assert len(named_reference_lines(build_referring_answer(*named))) == 10


def test_all_of_them_open_as_a_list_named_cited_and_looked_at() -> None:
    rows = reference_rows(build_referring_answer(*seen(12), replace(HOUSE, document_id="h")))
    assert [row.label for row in rows] == ["House#Keys", *(f"Doc {n}" for n in range(12))]
    assert [reference_line(row) for row in rows[:3]] == [
        "House#Keys: house.md — Where we live.",
        "Doc 0: 0.md, cited",
        "Doc 1: 1.md",
    ]


def test_references_of_old_conversations_have_no_ids_and_are_listed_all_the_same() -> None:
    old = [Reference(type=ReferenceType.SEARCH, label=name, document=name) for name in ("guide.md", "other.md")]
    assert [row.is_cited for row in reference_rows(build_referring_answer(*old))] == [True, False]


def test_nothing_is_no_line() -> None:
    nothing = build_referring_answer()
    assert named_reference_lines(nothing) == []
    assert references_markdown(nothing, str) == NO_REFERENCES
