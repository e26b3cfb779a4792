"""Questions, conversations and job trees on the command line, answered without any model or key."""

import json
from pathlib import Path

import pytest

from core.answering.redaction import REDACTED
from tests.e2e.conftest import SAMPLES, Footnote

QUESTION = "How long must we wait before starting the gate controller again?"
WAIT = "Wait a full minute."
ANSWER_KEYS = {
    "status", "answer", "partial", "grounded", "unsupported", "citations", "references", "choices", "suggestions",
    "response_type", "data", "data_sources", "data_gaps", "conversation_id", "message_id", "jobs", "usage",
    "timings_ms",
}  # fmt: skip
CITATION_KEYS = {
    "number", "source", "document", "document_title", "page_id", "page_number", "heading_path", "quote", "span",
    "revision", "url", "deep_link", "proved",
}  # fmt: skip
JOB_KEYS = {
    "id", "parent_id", "children", "kind", "name", "status", "input", "output", "error", "attempts", "created_at",
    "started_at", "completed_at", "duration_ms",
}  # fmt: skip
PARTS = [
    "database",
    "embedding model",
    "other models",
    "index",
    "library",
    "readers",
    "source readers",
    "scans",
    "jail",
    "provider",
    "discord",
    "slack",
    "sign-in",
]


def test_an_answer_quotes_its_page_and_says_how_it_was_made(footnote: Footnote) -> None:
    answer = footnote("ask", QUESTION, "--json").json

    assert set(answer) == ANSWER_KEYS
    assert (answer["status"], answer["grounded"]) == ("answered", True)
    assert WAIT in answer["answer"]
    citation = answer["citations"][0]
    assert set(citation) == CITATION_KEYS
    assert (citation["document"], citation["proved"]) == ("operations/Runbook - ticket gates offline.md", True)
    page = footnote("page", citation["page_id"], "--json").json
    start, end = citation["span"]
    assert page["text"][start:end] == citation["quote"]
    assert page["revision"] == citation["revision"]
    assert set(answer["jobs"][0]) == JOB_KEYS
    assert answer["jobs"][0]["children"] == [job["id"] for job in answer["jobs"][1:]]
    assert answer["timings_ms"]["total"] > 0


def test_people_see_text_footnotes_and_suggestions(footnote: Footnote) -> None:
    outcome = footnote("ask", "How fast is the Pelican?")

    assert outcome.code == 0
    for part in ("9 knots", '[1] Page 2 of "Fleet"', "You could also ask: • How many may board?"):
        assert part in " ".join(outcome.out.split())


def test_what_the_library_does_not_say_is_refused_with_the_closest_pages(footnote: Footnote) -> None:
    answer = footnote("ask", "Who won the football world cup in 1998?", "--json").json

    assert (answer["status"], answer["citations"]) == ("not_found", [])
    assert "Closest pages" in footnote("ask", "Who won the football world cup in 1998?").out


def test_a_greeting_is_answered_without_a_search(footnote: Footnote) -> None:
    answer = footnote("ask", "Hello!", "--json").json

    assert (answer["status"], answer["citations"], answer["references"]) == ("answered", [], [])
    assert "not from the documents" not in answer["answer"]
    assert "tool" not in {job["kind"] for job in answer["jobs"]}


def test_a_follow_up_goes_on_in_its_conversation(footnote: Footnote) -> None:
    first = footnote("ask", "Who keeps the drowned bell?", "--json").json
    footnote("ask", "How does the haunting end?", "--conversation", first["conversation_id"], "--json")
    shown = footnote("conversations", "show", first["conversation_id"], "--json").json

    assert [m["role"] for m in shown["messages"] if m["role"] != "tool_result"] == ["user", "assistant"] * 2
    assert shown["title"] == "Who keeps the drowned bell?"


def test_answers_from_one_document_alone(footnote: Footnote) -> None:
    answer = footnote("ask", "What happened with the bell?", "--document", "the-clockmaker-of-tern.txt", "--json").json

    assert {c["document"] for c in answer["citations"]} <= {"stories/the-clockmaker-of-tern.txt"}


def test_front_matter_and_numbers_of_documents_are_read(footnote: Footnote, tmp_path: Path) -> None:
    for number, author in ((7, "Ada Quill"), (12, "Bo Marsh")):
        note = f"---\nauthor: {author}\nstatus: accepted\n---\n# Plan {number * 3}\n\nBoats sail by the tide tables.\n"
        (tmp_path / f"rfc-{number:04}-boats.md").write_text(note, encoding="utf-8")
    footnote("ingest", str(tmp_path))
    for number, author in ((7, "Ada Quill"), (12, "Bo Marsh")):
        answer = footnote("ask", f"Who is the author of RFC {number}?", "--json").json
        assert [item["quote"] for item in answer["citations"]] == [f"author: {author}"]


def test_a_reading_position_hides_what_comes_later(footnote: Footnote) -> None:
    pages = [
        footnote("page", "--document", "the-clockmaker-of-tern.txt", "--number", str(number), "--json").json
        for number in (1, 2, 3)
    ]
    place = "the-clockmaker-of-tern.txt=1"
    for question in ("How does the story of the clockmaker end?", "What does the clockmaker do in the last chapter?"):
        answer = footnote("ask", question, "--position", place, "--json").json
        later = {page["page_id"] for page in pages[1:]}
        assert not later & {citation["page_id"] for citation in answer["citations"]}
        assert not any(
            reference["snippet"][:60] in pages[2]["text"]
            for reference in answer["references"]
            if reference["document"] == pages[0]["document"] and reference["snippet"]
        )
    assert footnote("ask", "who winds the clock?", "--position", "the-clockmaker-of-tern.txt=chapter 99").code == 1


def test_a_copy_of_a_book_hides_what_its_position_hides(footnote: Footnote, tmp_path: Path) -> None:
    book = (SAMPLES / "stories" / "the-clockmaker-of-tern.txt").read_text(encoding="utf-8")
    (tmp_path / "reading copy.md").write_text(" ".join(book.split()), encoding="utf-8")
    footnote("ingest", str(tmp_path))
    question = "What is the tool that is missing from the clockmaker's case?"
    assert footnote("ask", question, "--json").json["status"] == "answered"
    answer = footnote("ask", question, "--position", "the-clockmaker-of-tern.txt=chapter 1", "--json").json
    assert "tuning fork" not in str(answer)


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (("ask",), 2, "give a question"),
        (("ask", "why", "--batch", "x.jsonl"), 2, "give a question"),
        (("ask", "why", "--document", "a", "--journal", "b"), 2, "exclude"),
        (("ask", "?!"), 1, "empty"),
        (("ask", "why", "--conversation", "nope"), 1, "nope"),
        (("ask", "--batch", "missing.jsonl"), 1, "Can't read"),
    ],
)
def test_a_question_that_cannot_be_asked(footnote: Footnote, arguments: tuple[str, ...], code: int, part: str) -> None:
    outcome = footnote(*arguments)

    assert (outcome.code, outcome.out) == (code, "")
    assert part in outcome.err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--document", "zebra"), "zebra"),
        (("--strategy", "guess"), "guess"),
        (("--model", "gpt"), "provider"),
        (("--position", "12"), "which document"),
    ],
)
def test_options_that_do_not_fit_end_in_one_clear_error_answer(
    footnote: Footnote, arguments: tuple[str, ...], part: str
) -> None:
    outcome = footnote("ask", "Where is the bell?", *arguments, "--json")

    assert (outcome.code, outcome.json["status"]) == (1, "error")
    assert part in outcome.json["answer"]


def test_a_batch_gives_one_answer_a_line_whatever_the_line(footnote: Footnote, tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": "a", "question": QUESTION}),
        "",
        json.dumps({"id": "b", "question": "And why?", "followup_of": "a"}),
        "not json",
        json.dumps({"id": "c"}),
        json.dumps({"id": "d", "question": "Why?", "followup_of": "nobody"}),
        json.dumps({"id": "e", "question": "Where?", "document": "zebra"}),
        json.dumps({"id": "f", "question": "Where?", "document": ["Fleet"]}),
        json.dumps({"id": "g", "question": "Where?", "document": "Fleet", "journal": "Fleet"}),
        json.dumps({"id": "h", "question": "Where is the bell\ud800?"}),
        json.dumps({"id": None, "question": "Where is the bell?"}),
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    outcome = footnote("ask", "--batch", str(file))
    answers = [json.loads(line) for line in outcome.out.splitlines()]

    assert outcome.code == 0
    assert [answer["id"] for answer in answers] == ["a", "b", "line 4", "c", "d", "e", "f", "g", "h", "line 11"]
    assert [answer["status"] for answer in answers][2:8] == ["error"] * 6
    assert "error" not in [answer["status"] for answer in (*answers[:2], *answers[8:])]
    assert answers[0]["conversation_id"] == answers[1]["conversation_id"]
    assert "nobody" in answers[4]["answer"]
    assert "Line 8: 'document' has to be a text" in answers[6]["answer"]
    assert outcome.err == ""


def test_what_is_odd_about_a_file_of_questions_is_said_beside_its_answers(footnote: Footnote, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"id": "a", "question": "/stop"}\n{"id": "a", "question": "/stop"}\n')
    twice = footnote("ask", "--batch", str(file))
    file.write_text("\n \n")
    empty = footnote("ask", "--batch", str(file))

    assert [json.loads(line)["id"] for line in twice.out.splitlines()] == ["a", "a"]
    assert "Lines 1 and 2 have the same id 'a'" in " ".join(twice.err.split())
    assert (empty.code, empty.out, "holds no question" in " ".join(empty.err.split())) == (0, "", True)


@pytest.mark.parametrize("command", [("ask", "--batch"), ("eval",)])
def test_a_file_that_is_no_text_is_said_to_be_none(
    footnote: Footnote, tmp_path: Path, command: tuple[str, ...]
) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_bytes(b"\xff\x00\xd8")
    outcome = footnote(*command, str(file))

    assert (outcome.code, outcome.out) == (1, "")
    assert "Save it as UTF-8" in outcome.err


def test_conversations_are_listed_renamed_exported_and_deleted(footnote: Footnote, tmp_path: Path) -> None:
    name = footnote("ask", QUESTION, "--json").json["conversation_id"]
    listed = footnote("conversations", "list", "--json").json["conversations"]

    assert set(listed[0]) == {
        "id", "title", "thread", "owner", "focus", "message_count", "created_at", "last_message_at",
    }  # fmt: skip
    assert listed[0]["focus"]["document"] == "operations/Runbook - ticket gates offline.md"
    about = footnote("conversations", "list", "--document", "Runbook - ticket gates offline.md", "--json").json
    assert [item["id"] for item in about["conversations"]] == [name]
    assert footnote("conversations", "rename", name, "Gates", "--json").json["title"] == "Gates"
    assert "Gates" in footnote("conversations", "list").out
    assert WAIT in footnote("conversations", "show", name).out
    assert footnote("conversations", "export", name).out.startswith("# Gates\n")
    assert footnote("conversations", "export", name, "--format", "json").json["title"] == "Gates"
    recap = footnote("conversations", "recap", name, "--json").json
    assert QUESTION in recap["recap"] and recap["citations"][0]["proved"]
    assert QUESTION.split()[-1] in footnote("conversations", "recap", name).out
    printed = tmp_path / "gates.pdf"
    assert "Written" in footnote("conversations", "export", name, "--format", "pdf", "--output", str(printed)).out
    assert printed.read_bytes().startswith(b"%PDF-")
    nowhere = footnote("conversations", "export", name, "--output", str(tmp_path / "no" / "x.md"))
    assert (nowhere.code, "Can't write" in nowhere.err) == (1, True)
    assert footnote("conversations", "export", name, "--format", "docx").code == 1
    assert "Deleted" in footnote("conversations", "delete", name).out
    assert footnote("conversations", "show", name).code == 1


def test_removing_a_document_marks_its_conversations_stale_and_tells_how_many(footnote: Footnote) -> None:
    name = footnote("ask", QUESTION, "--json").json["conversation_id"]
    removal = footnote("documents", "remove", "operations/Runbook - ticket gates offline.md", "--json").json
    shown = footnote("conversations", "show", name, "--json").json

    assert removal["conversations"] == 1
    assert shown["focus"] is None
    assert shown["messages"][-1]["content"] == REDACTED
    assert footnote("ask", QUESTION, "--json").json["citations"] == [] or all(
        "Runbook" not in citation["document"] for citation in footnote("ask", QUESTION, "--json").json["citations"]
    )


def test_job_trees_are_listed_shown_and_guarded(footnote: Footnote) -> None:
    root = footnote("ask", QUESTION, "--json").json["jobs"][0]
    listed = [job for job in footnote("jobs", "--json").json["jobs"] if job["kind"] == "request"]

    assert [job["id"] for job in listed] == [root["id"]]
    assert listed[0]["children"] == root["children"]
    shown = footnote("jobs", "show", root["children"][0], "--json").json["jobs"]
    assert [job["id"] for job in shown] == [root["id"], *root["children"]]
    assert "request answer" in footnote("jobs", "show", root["id"]).out
    for action in ("cancel", "retry"):
        assert footnote("jobs", action, root["id"]).code == 1
    failed = footnote("ask", "Where is the bell?", "--document", "zebra", "--json").json["jobs"][0]["id"]
    again = footnote("jobs", "retry", failed, "--json")
    assert again.json["jobs"][0]["status"] == "failed"


def test_an_evaluation_reports_rates_over_the_sample_questions(footnote: Footnote, tmp_path: Path) -> None:
    questions = (Path(__file__).parents[1] / "data" / "sample_questions.jsonl").read_text().splitlines()[:12]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(questions))
    report = footnote("eval", str(file), "--json").json

    assert report["questions"] == len(questions)
    assert report["recall_at_5"] >= 0.95
    assert report["footnote_document"] >= 0.85
    assert report["answered"] >= 0.7
    assert report["refused_answerable"] <= 0.12
    assert report["left_out"] == {}
    assert set(report["latency_ms"]) == {"p50", "p95"}


def test_the_doctor_finds_everything_well_and_says_what_is_not(
    footnote: Footnote, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = footnote("doctor", "--json").json["checks"]
    assert [check["name"] for check in checks if check["ok"]] == PARTS
    assert len(checks) == len(PARTS)
    monkeypatch.setenv("FOOTNOTE_PROVIDER__NAME", "anthropic")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    sick = footnote("doctor")

    assert sick.code == 1
    assert "✗ provider" in sick.out and "ANTHROPIC_API_KEY" in sick.out


def test_the_demo_of_another_copy_of_the_program_gives_way(footnote: Footnote, data_dir: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "another clone"
    elsewhere.mkdir()
    (elsewhere / "note.md").write_text("# A note\n\nOf another clone.\n")
    footnote("--data-dir", str(data_dir / "demo"), "ingest", str(elsewhere), "--source", "sample library")

    outcome = footnote("demo", "--once")

    assert (outcome.code, "I quote the documents" in outcome.out) == (0, True)
    documents = footnote("--data-dir", str(data_dir / "demo"), "documents", "--json").json["documents"]
    assert {document["source"] for document in documents} == {"sample library"}
    assert "note.md" not in {document["document"] for document in documents}


def test_the_demo_answers_its_examples_and_leaves(footnote: Footnote, data_dir: Path) -> None:
    outcome = footnote("demo", "--once")

    assert outcome.code == 0, outcome.err
    assert outcome.out.count("Q: ") == 3
    assert outcome.out.count("[1] Page") == 3
    assert (data_dir / "demo" / "footnote.db").exists()
    answers = footnote("demo", "--once", "--json").json
    assert [answer["status"] for answer in answers] == ["answered"] * 3
