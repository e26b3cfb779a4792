"""Reading question files, and the rates that `footnote eval` reports."""

import json

import pytest

from core.domain.answer import Answer, AnswerStatus
from core.errors import BadInput
from core.evaluation import (
    EvaluationReport,
    FoundPage,
    GoldQuestion,
    evaluate,
    holds_answer,
    holds_quote,
    read_questions,
)
from tests.builders import build_citation

LINES = [
    {"id": "q1", "set_kind": "notes", "question": "Where is the key?", "answer": ["under the mat"], "type": "lookup",
     "document": "house.md", "quote": "under  the mat"},
    {"id": "q2", "set_kind": "notes", "question": "And the spare one?", "answer": ["shed"], "type": "followup",
     "followup_of": "q1", "document": "house.md", "quote": "in the shed"},
    {"id": "q3", "set_kind": "other", "question": "Who won?", "answer": [], "type": "unanswerable", "document": None},
    {"id": "q4", "question": "What is in the film?", "answer": ["x"], "type": "lookup", "document": "film.epub"},
    {"id": "q5", "question": "And then?", "answer": ["x"], "type": "followup", "followup_of": "q4", "document": None},
    {"id": "q6", "set_kind": "notes", "question": "How high is it?", "answer": ["2 m", "two metres"],
     "answer_match": "any", "type": "lookup", "document": "house.md", "quote": "2 m high",
     "reader_position": "chapter 2", "must_not_contain": ["secret"]},
]  # fmt: skip
PAGES = [
    FoundPage(document="other.md", text="under the mat"),
    FoundPage(document="house.md", text="It is under\nthe mat."),
]


class Library:
    """Answers q1 and q2 well, refuses q3, and answers q6 from another document, with a secret."""

    def __init__(self) -> None:
        self.conversations: list[tuple[str, str | None]] = []
        self.time = 0.0

    async def search(self, question: GoldQuestion) -> list[FoundPage]:
        return PAGES

    async def ask(self, question: GoldQuestion, conversation: str | None) -> Answer:
        self.conversations.append((question.id, conversation))
        self.time += 0.1 * len(self.conversations)
        good = build_citation(document="house.md", page_id="p1", proved=True)
        said = {
            "q1": Answer(status=AnswerStatus.ANSWERED, text="Under the mat.[1]", citations=(good,)),
            "q2": Answer(status=AnswerStatus.ANSWERED, text="In the shed.[1]", citations=(good,)),
            "q3": Answer(status=AnswerStatus.NOT_FOUND, text="I did not find it."),
            "q6": Answer(status=AnswerStatus.ANSWERED, text="A Secret.", citations=(build_citation(document="b.md"),)),
        }[question.id]
        from dataclasses import replace

        return replace(said, conversation_id=conversation or f"c-{question.id}")

    async def page_text(self, page_id: str) -> str:
        return "It is under the mat."


async def report() -> tuple[EvaluationReport, Library]:
    library = Library()
    questions = read_questions([json.dumps(line) for line in LINES])
    told: list[str] = []
    made = await evaluate(
        questions,
        search=library.search,
        ask=library.ask,
        page_text=library.page_text,
        documents={"house.md", "other.md", "b.md"},
        on_question=lambda outcome: told.append(outcome.question.id),
        clock=lambda: library.time,
    )
    assert told == ["q1", "q2", "q3", "q6"]
    return made, library


async def test_rates_are_over_the_questions_they_are_about() -> None:
    made, _ = await report()
    rates = made.to_json()
    assert rates["questions"] == 4
    assert (rates["recall_at_5"], rates["recall_at_10"], rates["mrr"]) == (0.5, 0.5, 0.25)  # rank 2, and none
    assert (rates["footnote_document"], rates["footnote_page"], rates["answered"]) == (0.5, 0.5, 0.5)
    assert (rates["followup"], rates["refused_unanswerable"], rates["refused_answerable"]) == (1.0, 1.0, 0.0)
    assert rates["latency_ms"] == {"p50": 200.0, "p95": 400.0}  # 100, 200, 300 and 400 ms


async def test_rates_of_a_kind_without_such_questions_are_none() -> None:
    made, _ = await report()
    by_kind = made.to_json()["by_set_kind"]
    assert isinstance(by_kind, dict)
    assert set(by_kind) == {"notes", "other"}
    assert by_kind["other"]["recall_at_5"] is None
    assert by_kind["other"]["refused_unanswerable"] == 1.0


async def test_questions_without_their_document_and_their_follow_ups_are_left_out_and_named() -> None:
    made, _ = await report()
    assert made.left_out == {"q4": "film.epub is not in the library", "q5": "it follows q4, which was left out"}


async def test_a_follow_up_goes_on_in_the_conversation_of_its_question() -> None:
    _, library = await report()
    assert library.conversations == [("q1", None), ("q2", "c-q1"), ("q3", None), ("q6", None)]


async def test_what_must_not_be_said_is_counted() -> None:
    made, _ = await report()
    assert made.to_json()["reveals"] == 1


async def test_no_questions_make_an_empty_report() -> None:
    assert EvaluationReport(outcomes=()).to_json()["latency_ms"] == {"p50": None, "p95": None}


def test_a_line_is_read_with_its_position() -> None:
    question = read_questions([json.dumps(LINES[5]), ""])[0]
    assert (question.position, question.any_answer, question.forbidden) == ("chapter 2", True, ("secret",))


def test_a_single_answer_may_be_a_text() -> None:
    assert read_questions(['{"question": "Who?", "answer": "Ann"}'])[0].answers == ("Ann",)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["{"], "Line 1 is not JSON"),
        (["", '{"id": "a"}'], "Line 2 has no question"),
        (['["a"]'], "Line 1 has no question"),
        (['{"question": "Who?", "answer": 5}'], "'answer' has to be a text or a list"),
        (['{"id": "a", "question": "Who?"}'] * 2, "Two questions have the id 'a'"),
        (['{"id": "a", "question": "And?", "followup_of": "b"}'], "'a' follows 'b'"),
    ],
)
def test_a_file_that_can_not_be_used_is_refused_by_its_line(lines: list[str], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        read_questions(lines)


def test_quotes_are_found_across_white_space_table_signs_and_forms_of_characters() -> None:
    assert holds_quote("| Legal\tfees |\n4,874.04 |", "Legal fees 4,874.04")
    assert holds_quote("a ﬁne day", "fine day")
    assert not holds_quote("a fine day", "bad day")


def test_all_answers_are_needed_unless_one_is_enough() -> None:
    both = GoldQuestion(id="1", question="?", answers=("Aesir", "Vanir"))
    one = GoldQuestion(id="1", question="?", answers=("Aesir", "Vanir"), any_answer=True)
    assert not holds_answer("The aesir.", both)
    assert holds_answer("The aesir and the VANIR.", both)
    assert holds_answer("The aesir.", one)
    assert not holds_answer("Anything.", GoldQuestion(id="1", question="?"))
