"""What the child does with a file, without starting one; tests/integration/test_sandbox.py starts it."""

import io
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from core.access.positions.places import places_of
from core.domain.read_limits import ReadLimits
from core.ports.documents import Reader
from storage.documents.child import (
    HEADER_BYTES,
    ChildParts,
    ReadDocument,
    ReadFailure,
    ReadTask,
    answer,
    reader_finder,
    serve,
)
from storage.documents.extractors.base import build_extractors
from tests.unit.storage.documents.fake_readers import build_fake_readers

PARTS = ChildParts(
    find_reader=reader_finder(build_fake_readers), find_places=places_of, build_extractors=build_extractors
)


def task(path: Path, known_revision: str | None = None) -> ReadTask:
    return ReadTask(path=path, root=path.parent, workspace="local", document_id="d", known_revision=known_revision)


def reason(path: Path, limits: ReadLimits | None = None) -> str:
    result = answer(task(path), PARTS, limits or ReadLimits()).result
    assert isinstance(result, ReadFailure)
    return result.reason


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.txt"
    path.write_text("One.\fTwo.")
    return path


def test_a_file_is_read_and_cut(note: Path) -> None:
    result = answer(task(note), PARTS, ReadLimits()).result

    assert isinstance(result, ReadDocument)
    assert (result.title, result.kind) == ("note", "text")
    assert [page.text for page in result.pages] == ["One.", "Two."]
    assert [passage.text for passage in result.passages] == ["One.", "Two."]
    assert result.characters == 8


def test_content_that_is_known_is_not_sent_back(note: Path) -> None:
    first = answer(task(note), PARTS, ReadLimits()).result
    assert isinstance(first, ReadDocument)

    again = answer(task(note, first.revision), PARTS, ReadLimits()).result

    assert isinstance(again, ReadDocument)
    assert (again.revision, again.pages, again.passages) == (first.revision, (), ())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.refused", "it is of a version that is not read"),
        ("a.bug", "its reader failed (ValueError: surprise)"),
        ("a.deep", "nested too deeply to be read"),
        ("a.epub", "no reader for .epub"),
        ("missing.txt", "vanished before it was read; ingest again when it is back"),
    ],
)
def test_every_failure_has_a_reason_for_people(tmp_path: Path, name: str, expected: str) -> None:
    path = tmp_path / name
    if not name.startswith("missing"):
        path.write_text("text")

    assert reason(path) == expected


def test_a_bug_is_reported_with_its_trace(tmp_path: Path) -> None:
    path = tmp_path / "a.bug"
    path.write_text("text")

    result = answer(task(path), PARTS, ReadLimits()).result

    assert isinstance(result, ReadFailure)
    assert result.trace is not None
    assert "surprise" in result.trace


def test_documents_beyond_a_limit_are_refused_with_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a.long").write_text("x")
    (tmp_path / "a.huge").write_text("x")

    assert reason(tmp_path / "a.long", ReadLimits(pages=999)) == (
        "too many pages: 1,000, at most 999 are read; split the file"
    )
    assert "1,000,000 characters" in reason(tmp_path / "a.huge", ReadLimits(characters=500_000))


def test_a_child_that_has_grown_asks_to_be_replaced(note: Path) -> None:
    assert answer(task(note), PARTS, ReadLimits(memory_bytes=1)).retire
    assert not answer(task(note), PARTS, ReadLimits(memory_bytes=2**40)).retire


def test_a_file_that_takes_too_much_memory_is_reported_and_the_child_replaced(note: Path) -> None:
    def exhausted(task: ReadTask) -> Reader:
        raise MemoryError

    reply = answer(task(note), replace(PARTS, find_reader=exhausted), ReadLimits())

    assert reply.result == ReadFailure(
        reason="too large: reading it takes more than 1,024 MB of memory; raise [ingest] parse_memory_mb, or split it",
        out_of_memory=True,
    )
    assert reply.retire


def test_an_engine_that_names_a_lack_of_memory_in_its_own_words_is_no_bug(note: Path) -> None:
    def exhausted(task: ReadTask) -> Reader:
        raise RuntimeError("Non-zero status code returned while running Conv node: std::bad_alloc")

    result = answer(task(note), replace(PARTS, find_reader=exhausted), ReadLimits()).result

    assert isinstance(result, ReadFailure)
    assert result.reason.startswith("too large: reading it takes more than 1,024 MB of memory")
    assert result.trace is None


def test_tasks_are_served_until_their_stream_ends(note: Path) -> None:
    message = pickle.dumps(task(note))
    replies = io.BytesIO()

    serve(io.BytesIO(2 * (len(message).to_bytes(HEADER_BYTES) + message)), replies, PARTS, ReadLimits(seconds=1000))

    size = int.from_bytes(replies.getvalue()[:HEADER_BYTES])
    reply = pickle.loads(replies.getvalue()[HEADER_BYTES : HEADER_BYTES + size])
    assert reply.result.title == "note"
    assert len(replies.getvalue()) == 2 * (HEADER_BYTES + size)


def test_a_result_beyond_its_bound_becomes_a_failure(note: Path) -> None:
    message = pickle.dumps(task(note))
    replies = io.BytesIO()

    serve(io.BytesIO(len(message).to_bytes(HEADER_BYTES) + message), replies, PARTS, ReadLimits(result_bytes=100))

    reply = pickle.loads(replies.getvalue()[HEADER_BYTES:])
    assert reply.result.reason == "too large: its text can't be stored in one piece; split the file"
    assert reply.retire
