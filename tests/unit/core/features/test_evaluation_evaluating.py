"""What is asked, what is left out, and the rates that `footnote eval` reports."""

import json
from collections.abc import Mapping, Sequence

from core.domain.answer import Answer, AnswerStatus
from core.errors import BadInput
from core.features.evaluation import EvaluationReport, FoundPage, GoldQuestion, evaluate, read_questions
from tests.builders import build_citation

LINES: list[dict[str, object]] = [
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
        if question.id == "q8":
            raise BadInput("The question is empty.")
        self.conversations.append((question.id, conversation))
        self.time += 0.1 * len(self.conversations)
        good = build_citation(document="house.md", page_id="p1", proved=True)
        said = {
            "q1": Answer(status=AnswerStatus.ANSWERED, text="Under the mat.[1]", citations=(good,)),
            "q2": Answer(status=AnswerStatus.ANSWERED, text="In the shed.[1]", citations=(good,)),
            "q3": Answer(status=AnswerStatus.NOT_FOUND, text="I did not find it."),
            "q6": Answer(status=AnswerStatus.ANSWERED, text="A Secret.", citations=(build_citation(document="b.md"),)),
            "q9": Answer(status=AnswerStatus.ERROR, text="The model is down."),
        }[question.id]
        from dataclasses import replace

        return replace(said, conversation_id=conversation or f"c-{question.id}")

    async def page_text(self, page_id: str) -> str:
        return "It is under the mat."


async def report(lines: Sequence[Mapping[str, object]] = LINES) -> tuple[EvaluationReport, Library]:
    library = Library()
    questions = read_questions([json.dumps(line) for line in lines])
    told: list[str] = []
    made = await evaluate(
        questions,
        search=library.search,
        ask=library.ask,
        page_text=library.page_text,
        documents={"house.md", "other.md", "b.md"},
        on_question=lambda question: told.append(question.id),
        clock=lambda: library.time,
    )
    assert told == [question.id for question in questions]
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


async def test_each_question_that_lowers_a_figure_is_listed_with_it() -> None:
    made, _ = await report()
    (miss,) = (outcome for outcome in made.outcomes if outcome.missed)
    lowered = ["footnote_document", "footnote_page", "answered", "reveals"]
    assert made.to_json()["misses"] == [{"id": "q6", "question": miss.question.question, "figures": lowered}]


async def test_no_questions_make_an_empty_report() -> None:
    assert EvaluationReport(outcomes=()).to_json()["latency_ms"] == {"p50": None, "p95": None}


async def test_what_can_not_be_measured_is_left_out_with_a_reason_and_asked_where_something_follows_it() -> None:
    lines = [
        {"id": "q1", "question": "Tell me about the key."},
        {"id": "q2", "question": "And the spare one?", "type": "followup", "followup_of": "q1", "document": "house.md"},
        {"id": "q6", "question": "How high is it?", "documnt": "house.md", "note": "x"},
        {"id": "q7", "question": "And then?", "type": "followup", "followup_of": "q2", "answer": "x"},
    ]
    made, library = await report(lines)

    assert library.conversations == [("q1", None), ("q2", "c-q1")]
    assert [outcome.question.id for outcome in made.outcomes] == ["q2"]
    nothing = (
        'it has nothing to compare an answer with: give it "document", "quote" or "answer", or "type": "unanswerable"'
    )
    assert made.left_out == {
        "q1": nothing,
        "q6": f'{nothing} ("documnt", "note" are not read)',
        "q7": 'it is a follow-up without "document", where its answer stands',
    }


async def test_a_figure_is_over_the_lookups_that_say_what_it_compares() -> None:
    lines = [
        {"id": "q1", "question": "Where is the key?", "quote": "under the mat"},
        {"id": "q6", "question": "How high is it?", "answer": "2 m"},
    ]
    made, _ = await report(lines)
    rates = made.to_json()

    assert (rates["recall_at_5"], rates["mrr"], rates["footnote_page"]) == (
        1.0,
        1.0,
        1.0,
    )  # of any document, of q1 alone
    assert (rates["answered"], rates["footnote_document"], rates["refused_answerable"]) == (0.0, None, 0.0)


async def test_what_can_be_no_question_is_left_out_and_an_error_is_no_refusal() -> None:
    lines = [
        {"id": "q8", "question": "?!", "type": "unanswerable"},
        {"id": "q9", "question": "Who?", "type": "unanswerable"},
    ]
    made, _ = await report(lines)

    assert made.left_out == {"q8": "The question is empty."}
    assert made.to_json()["refused_unanswerable"] == 0.0


async def test_lists_pairs_tables_summaries_and_everyday_messages_have_rows_of_their_own() -> None:
    library = Library()
    both = [build_citation(document=name, proved=True) for name in ("house.md", "other.md")]
    said = {
        "list": "- Ann brings the ladder [1]\n- Ben paints",
        "pair": "Ann. Ben.",
        "sheet": "14 berths",
        "sum": "It says how keys are kept in the shed.",
        "hello": "Hello.",
    }

    async def ask(question: GoldQuestion, conversation: str | None) -> Answer:
        cited = {"pair": tuple(both), "hello": ()}.get(question.id, (both[0],))
        return Answer(status=AnswerStatus.ANSWERED, text=said[question.id], citations=cited)

    async def in_table(question: GoldQuestion) -> bool:
        return question.id == "sheet"

    lines = [
        {
            "id": "list",
            "question": "List it",
            "type": "extraction",
            "document": "house.md",
            "answer": ["Ladder: Ann to bring", "Ben paints", "Cy sweeps"],
        },
        {
            "id": "pair",
            "question": "Who?",
            "type": "multi-hop",
            "document": "house.md",
            "document2": "other.md",
            "answer": ["Ann", "Ben"],
        },
        {"id": "sheet", "question": "Berths?", "document": "house.md", "quote": "North | 14", "answer": "14 berths"},
        {
            "id": "sum",
            "question": "Sum up",
            "type": "summary",
            "document": "house.md",
            "answer": ["keys kept in the shed", "spare key"],
        },
        {"id": "hello", "question": "hello", "type": "everyday"},
    ]
    made = await evaluate(
        read_questions([json.dumps(line) for line in lines]),
        search=library.search,
        ask=ask,
        page_text=library.page_text,
        documents={"house.md", "other.md"},
        in_table=in_table,
    )
    assert made.to_json()["by_type"] == {
        "lists": {"questions": 1, "items": 0.6667, "complete": 0.0, "footnote_document": 1.0, "refused": 0.0},
        "two_documents": {"questions": 1, "answered": 1.0, "footnote_both": 1.0, "refused": 0.0},
        "tables": {"questions": 1, "answered": 1.0, "footnote_document": 1.0, "refused": 0.0},
        "summaries": {"questions": 1, "points": 0.5, "footnote_document": 1.0, "refused": 0.0},
        "everyday": {"questions": 1, "brief": 1.0},
    }
