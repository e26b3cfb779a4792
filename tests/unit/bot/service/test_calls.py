"""JSON forms of requests, responses and progress."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bot.service.operations  # noqa: F401 - registers the operations
from bot.service.calls import OPERATIONS, PROGRESS, AnswerProgress, JsonForm
from core.domain.answer import QueryType
from core.domain.features import ExportedFile, StoredCassette
from core.domain.incoming import ThreadAddress
from core.domain.ingest_report import Failure, IngestProgress, IngestReport
from core.domain.jobs import Job, JobKind, JobStatus
from core.work.commands import CommandCall, CommandResult, Question, ThreadRow
from tests.builders import build_citation, build_conversation

ADDRESS = ThreadAddress(platform="terminal", workspace="local", channel="cli", thread="t")
NOON = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
JOB = Job(
    id="r",
    root_id="r",
    parent_id=None,
    workspace="local",
    kind=JobKind.REQUEST,
    name="answer",
    status=JobStatus.RUNNING,
    input={"question": "why?", "options": ["a", ["b", 2]]},
    created_at=NOON,
)
ROW = ThreadRow(id="c1", title="Keys", owner="ada", message_count=2, last_used_at=NOON, address=ADDRESS)
CASSETTE = StoredCassette(
    message_id="m", workspace="w", question="q", recorded_at=NOON, document_ids=frozenset("d"), data=b"\xff\x00"
)
VALUES: tuple[tuple[Any, object], ...] = (
    (ThreadAddress, ADDRESS),
    (list[Path], [Path("/tmp/a b"), Path("/odd/\udcff.md")]),
    (IngestReport, IngestReport(failures=[Failure(path="\udcff", reason="odd")], warnings=[("a", "b")])),
    (Job, JOB),
    (list[StoredCassette], [CASSETTE]),
    (
        CommandCall,
        CommandCall(
            name="ask",
            options={"question": "where?", "private": "true"},
            workspace="local",
            conversation=build_conversation(),
            author="ada",
            address=ADDRESS,
        ),
    ),
    (CommandResult, CommandResult(text="", ask=Question(text="?", query_type=QueryType.SUMMARY, private=True))),
    (
        CommandResult,
        CommandResult(text="1", rows=(ROW,), pages=2, renamed=build_conversation(), citation=build_citation()),
    ),
    (
        CommandResult,
        CommandResult(text="", file=ExportedFile(name="a.pdf", content_type="application/pdf", data=b"%PDF\xff")),
    ),
)


def there_and_back(form: JsonForm[Any], value: object) -> object:
    return form.load(json.loads(json.dumps(form.dump(value)).encode("ascii")))


@pytest.mark.parametrize(("kind", "value"), VALUES)
def test_values_arrive_as_they_were_sent(kind: Any, value: object) -> None:
    assert there_and_back(JsonForm(kind), value) == value


@given(st.text(st.characters()) | st.binary())
def test_any_text_and_any_bytes_arrive_as_they_were_sent(value: str | bytes) -> None:
    assert there_and_back(JsonForm(type(value)), value) == value


@pytest.mark.parametrize(
    "event",
    [
        AnswerProgress(text="So far"),
        AnswerProgress(step=JOB),
        AnswerProgress(),
        IngestProgress(done=1, total=2, path="\udcff"),
    ],
)
def test_progress_arrives_as_it_was_sent(event: object) -> None:
    assert there_and_back(PROGRESS, event) == event


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_has_a_json_form_for_its_request_and_its_response(name: str) -> None:
    operation = OPERATIONS[name]

    assert operation.request is not None
    assert operation.response is not None


@pytest.mark.parametrize(
    ("kind", "plain"), [(ThreadAddress, {"platform": "x"}), (JobStatus, "no such status"), (Path, 3), (list[str], "a")]
)
def test_values_of_another_type_are_refused(kind: Any, plain: object) -> None:
    with pytest.raises(ValueError):
        JsonForm(kind).load(plain)
