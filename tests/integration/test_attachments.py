"""Files sent with questions: read in a child process, kept for their thread alone, and gone with it."""

import asyncio
import os
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import core.knowledge.attachments
from core.access.scopes import attached_name
from core.domain.answer import AnswerStatus
from core.domain.chat import ToolInvocation
from core.domain.corpus import FileStamp, SearchScope
from core.domain.incoming import IncomingMessage
from core.domain.jobs import JobKind, JobStatus
from core.errors import StorageError
from core.knowledge.attachments import safe_name
from core.work.attempts import Attempt
from core.work.conversations import Conversations
from tests.builders import build_conversation, build_incoming
from tests.fakes import ManualClock
from tests.integration.ingest_place import counts
from tests.integration.platform_files import Downloads, Files
from tests.scripted import calls, says
from tests.stores import Stores
from tests.unit.core.answering.steps.test_preparing import Languages
from tests.unit.core.answering.test_service import Desk
from tests.unit.core.library_builder import Shelf
from tests.unit.storage.documents.pdf_files import build_pdf

TIDES = b"The tide turns at noon."
PDF = build_pdf([[(50, 700, "The ferry sails at seven.")]])


def question(downloads: Downloads, *names: str, thread: str = "t1") -> IncomingMessage:
    return build_incoming("When?", thread=thread, attachments=tuple(map(downloads.attachment, names)))


@pytest.fixture
def downloads() -> Downloads:
    return Downloads({"tides.txt": TIDES, "ferry.pdf": PDF, "broken.pdf": b"%PDF-1.7 no", "big.txt": b"x" * 30_000})


async def stored(files: Files) -> dict[str, list[str]]:
    """Paths of readable documents by the name of their source."""
    found: dict[str, list[str]] = {}
    for document in await files.corpus.list_documents("local"):
        if document.revision is not None:
            found.setdefault(document.source, []).append(document.path)
    return found


async def test_texts_and_pdfs_become_documents_of_their_thread(downloads: Downloads) -> None:
    files = Files()
    asked = question(downloads, "tides.txt", "ferry.pdf")
    read = await files.attachments().read(asked, downloads)

    assert ([document.path for document in read.documents], read.notes) == (["tides.txt", "ferry.pdf"], ())
    assert await stored(files) == {attached_name(asked.address): ["ferry.pdf", "tides.txt"]}
    [source] = await files.corpus.list_sources("local")
    assert source.kind == "attachment"
    scope = SearchScope(workspace="local", sources=frozenset({source.id}))
    [page] = await files.corpus.list_pages(read.documents[1].id, scope)
    assert page.text == "The ferry sails at seven."
    assert await files.index.revisions() == await files.corpus.live_revisions()


async def test_nothing_stays_on_disk(downloads: Downloads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    read = await Files().attachments().read(question(downloads, "tides.txt", "broken.pdf"), downloads)

    assert (len(read.documents), os.listdir(tmp_path)) == (1, [])


async def test_the_same_file_again_is_not_read_again(downloads: Downloads) -> None:
    files = Files()
    attachments = files.attachments()
    first = await attachments.read(question(downloads, "tides.txt"), downloads)
    again = await attachments.read(question(downloads, "tides.txt"), downloads)

    assert [document.revision for document in again.documents] == [document.revision for document in first.documents]
    assert [counts(report) for report in files.reports] == [(1, 0, 0, 0, 0), (0, 0, 1, 0, 0)]


async def test_another_file_of_the_same_name_stands_beside_the_first(downloads: Downloads) -> None:
    files = Files()
    attachments = files.attachments()
    downloads.files["other"] = b"The tide turns at midnight."
    await attachments.read(question(downloads, "tides.txt"), downloads)
    other = replace(question(downloads), attachments=(downloads.attachment("tides.txt", "other"),))
    for _ in range(2):
        read = await attachments.read(other, downloads)
        assert [document.path for document in read.documents] == ["tides (2).txt"]
    assert list((await stored(files)).values()) == [["tides (2).txt", "tides.txt"]]


async def test_each_file_that_can_not_be_read_is_one_sentence_and_the_others_are_read(downloads: Downloads) -> None:
    downloads.files["photo.png"] = b"\x89PNG"
    names = ["gone.txt", "broken.pdf", "photo.png", "big.txt", "tides.txt"]
    read = await Files().attachments().read(question(downloads, *names), downloads)

    assert [document.path for document in read.documents] == ["tides.txt"]
    gone, broken, photo, big = read.notes
    assert gone == "I could not read gone.txt: The file is gone from the platform."
    assert broken.startswith("I could not read broken.pdf: ")
    assert photo == "I could not read photo.png: no reader for .png."
    assert big == "I could not read big.txt: too large: 0.0 MB, at most 0.0 MB are read."
    assert "big.txt" not in downloads.fetched


async def test_a_text_without_a_reader_of_its_own_is_read_as_plain_text(downloads: Downloads) -> None:
    downloads.files["pump.log"] = b"The pump failed at dawn."
    files, asked = Files(), question(downloads)
    log = downloads.attachment("pump.log", content_type="text/plain; charset=utf-8")
    attachments = files.attachments()
    for _ in range(2):
        read = await attachments.read(replace(asked, attachments=(log,)), downloads)
        assert [(document.path, document.kind) for document in read.documents] == [("pump.log", "text")]
    assert [counts(report) for report in files.reports] == [(1, 0, 0, 0, 0), (0, 0, 1, 0, 0)]


async def test_a_platform_that_understates_a_size_changes_nothing(downloads: Downloads) -> None:
    asked = replace(question(downloads), attachments=(downloads.attachment("big.txt", size_bytes=5),))
    read = await Files().attachments().read(asked, downloads)

    assert (read.documents, len(read.notes)) == ((), 1)
    assert "too large" in read.notes[0]


async def test_a_file_that_failed_before_fails_with_the_same_sentence(downloads: Downloads) -> None:
    attachments = Files().attachments()
    first = await attachments.read(question(downloads, "broken.pdf"), downloads)
    again = await attachments.read(question(downloads, "broken.pdf"), downloads)

    assert (again.notes, len(first.notes)) == (first.notes, 1)


async def test_no_more_files_than_allowed_are_read(downloads: Downloads) -> None:
    names = [f"note{number}.txt" for number in range(12)]
    downloads.files.update((name, name.encode()) for name in names)
    read = await Files().attachments().read(question(downloads, *names), downloads)

    assert len(read.documents) == 10
    assert read.notes == ("I read 10 files at most for one question, so I left out note10.txt, note11.txt.",)


async def test_a_broken_database_is_no_fault_of_a_file(downloads: Downloads, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*args: object) -> None:
        raise StorageError("The disk is full.")

    files = Files()
    monkeypatch.setattr(files.corpus, "switch_revision", broken)
    with pytest.raises(StorageError):
        await files.attachments().read(question(downloads, "tides.txt"), downloads)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("notes.pdf", "notes.pdf"),
        ("../../etc/passwd", "_.._etc_passwd"),
        (".hidden.txt", "hidden.txt"),
        ("a\x00b\n.md", "a_b_.md"),
        ("...", "file"),
        ("", "file"),
        ("日" * 300 + ".txt", "日" * 66 + ".txt"),
        ("a\ud800.txt", "a_.txt"),
    ],
)
def test_a_name_from_a_platform_becomes_one_that_every_disk_takes(name: str, safe: str) -> None:
    assert safe_name(name) == safe


async def test_files_go_with_their_conversation(downloads: Downloads) -> None:
    files = Files()
    attachments = files.attachments()
    conversations = Conversations(files.conversations, ManualClock(), attachments.forget)
    kept, gone = question(downloads, "tides.txt", thread="t1"), question(downloads, "ferry.pdf", thread="t2")
    for asked in (kept, gone):
        await conversations.open(asked)
        await attachments.read(asked, downloads)
    await conversations.delete((await conversations.open(gone)).id, "local")
    await attachments.forget(gone.address)

    assert await stored(files) == {attached_name(kept.address): ["tides.txt"]}
    assert len(await files.corpus.list_sources("local")) == 1
    assert await files.index.revisions() == await files.corpus.live_revisions()


async def test_a_sweep_takes_the_files_of_threads_that_have_no_conversation(downloads: Downloads) -> None:
    files = Files()
    attachments = files.attachments()
    kept, gone = question(downloads, "tides.txt", thread="t1"), question(downloads, "ferry.pdf", thread="t2")
    await files.conversations.add(build_conversation(address=kept.address))
    for asked in (kept, gone):
        await attachments.read(asked, downloads)

    assert [await attachments.sweep(["local", "elsewhere"]) for _ in range(2)] == [1, 0]
    assert await stored(files) == {attached_name(kept.address): ["tides.txt"]}


async def test_an_answer_cites_a_file_by_its_name_and_goes_on_without_those_it_could_not_read(
    downloads: Downloads,
) -> None:
    shelf = Shelf()
    await shelf.add("house.md", "# Keys\n\nThe key hangs under the stairs.", title="House")
    search = calls(ToolInvocation(id="t1", name="search", arguments={"query": "when does the ferry sail"}))
    stores = Stores()
    desk = Desk(
        shelf,
        search,
        says("It sails at seven [1]."),
        stores=stores,
        pipeline={"readers": {"web": downloads}},
        settings=Languages(),
        attachments=Files(shelf.corpus, shelf.index).attachments(stores.conversations),
    )
    answer = await desk.service.answer(question(downloads, "ferry.pdf", "broken.pdf"), desk.progress, Attempt())

    assert answer.status is AnswerStatus.ANSWERED
    assert [(citation.document, citation.quote) for citation in answer.citations] == [
        ("ferry.pdf", "The ferry sails at seven.")
    ]
    assert answer.text.startswith("It sails at seven[1].\n\nI could not read broken.pdf: ")
    reading = {job.name: job for job in answer.jobs if job.kind is JobKind.INGEST}
    assert {name: job.status for name, job in reading.items()} == {
        "read ferry.pdf": JobStatus.DONE,
        "read broken.pdf": JobStatus.FAILED,
    }
    assert reading["read ferry.pdf"].output == {"pages": 1, "passages": 1, "unchanged": 0}
    assert desk.readings[0].focus.document == "ferry.pdf"
    assert "documents of these names: ferry.pdf" in desk.provider.requests[0].system
    assert "broken.pdf" not in desk.provider.requests[0].system


async def test_a_folder_stays_until_the_thread_that_writes_into_it_has_ended(
    downloads: Downloads, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    found: list[bool] = []

    def slow(folder: Path, name: str, data: bytes) -> tuple[Path, FileStamp]:
        writing.set()
        assert go_on.wait(30)
        found.append(folder.is_dir())
        ended.set()
        raise OSError("the folder is full")

    monkeypatch.setattr(core.knowledge.attachments, "_write", slow)
    reading = asyncio.create_task(Files().attachments().read(question(downloads, "tides.txt"), downloads))
    await asyncio.to_thread(writing.wait, 30)
    reading.cancel()
    await asyncio.sleep(0.05)
    go_on.set()
    await asyncio.wait({reading})
    await asyncio.to_thread(ended.wait, 30)

    assert reading.cancelled()
    assert found == [True]
