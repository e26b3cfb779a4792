from datetime import timedelta

import pytest

from bot.showing.answer_words import (
    answer_markdown,
    asked_and_not_found,
    closed_up,
    further_questions,
    job_tree,
    job_words,
    passage_lines,
    source_path,
    source_quote,
    source_title,
)
from core.domain.answer import Answer, AnswerStatus
from core.domain.corpus import Span
from core.domain.jobs import JobStatus
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


def test_a_quote_is_one_line_and_ends_with_an_ellipsis_where_it_is_cut() -> None:
    assert source_quote(build_citation(quote="under\n  the mat")) == "under the mat"
    assert source_quote(build_citation(quote="word " * 200)).endswith("word…")


def test_gaps_beyond_the_tenth_are_counted() -> None:
    answer = build_answer(data_gaps=tuple(f"{n}" for n in range(11)))
    assert asked_and_not_found(answer).endswith("8; 9 and 1 more")


def test_nothing_missing_is_no_line() -> None:
    assert asked_and_not_found(build_answer()) == ""


def test_questions_are_written_out_where_no_button_shows_them_whole() -> None:
    answer = build_answer(suggestions=("Why?", "A long one?", "How?"))
    lines = further_questions(answer, buttons=2, longest_label=5)
    assert lines == ["You could also ask: A long one?", "You could also ask: How?"]


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
        name="search",
        status=JobStatus.DONE,
        input={"query": "the key"},
        output={"passages": 1},
        started_at=NOON,
        completed_at=NOON + timedelta(seconds=2),
    )
    assert job_words(done) == "✓ search “the key” (1 passage, 2.0 s)"
    failed = build_job("p", name="plan", status=JobStatus.FAILED, error="No reply.", attempts=2)
    assert job_words(failed, str.upper) == "✗ PLAN (failed, try 2, NO REPLY.)"


def test_a_draft_that_loses_its_notes_has_no_space_before_its_points() -> None:
    assert closed_up("Under the mat [1]. Two  [12][3], three [x].") == "Under the mat[1]. Two[12][3], three [x]."
