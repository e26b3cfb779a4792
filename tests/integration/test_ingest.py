"""The whole way of files into the library: a real child process, and in-memory twins of database and index."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.domain.corpus import Document, IndexEntry, SearchQuery, Source
from core.errors import NotFound, StorageError
from core.ingestion import run as run_module
from core.ingestion.child import ReadTask
from core.ingestion.limits import MEBIBYTE, ReadLimits
from core.ingestion.pipeline import Ingestor
from core.ingestion.report import IngestProgress, IngestReport
from core.ingestion.run import ReadAhead
from core.ingestion.sandbox import Sandbox
from storage.memory.conversations import MemoryConversationRepository
from storage.memory.corpus import MemoryCorpusRepository
from storage.memory_index import MemoryIndex
from tests.builders import build_conversation, build_scope, build_source
from tests.fakes import ManualClock
from tests.unit.core.ingestion.fake_readers import HERE

LIMITS = ReadLimits(seconds=5, memory_bytes=400 * MEBIBYTE, file_bytes=100_000)


class Place:
    """A source folder with everything around it; `ingest` runs as a new process would."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.corpus: Any = MemoryCorpusRepository()
        self.index: Any = MemoryIndex()
        self.conversations = MemoryConversationRepository()
        self.source = build_source("notes", location=str(root))
        self.scope = build_scope(self.source)
        self.read_paths: list[str] = []

    def write(self, path: str, text: str = "Some words.") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        stamp = os.stat(file).st_mtime_ns + 1  # two writes within one tick of the clock differ all the same
        os.utime(file, ns=(stamp, stamp))
        return file

    async def ingest(self, only: str | None = None, source: Source | None = None, **options: Any) -> IngestReport:
        source = source or self.source
        await self.corpus.save_source(source)
        self.read_paths.clear()
        sandbox = WatchedSandbox(self.read_paths)
        ingestor = Ingestor(
            corpus=self.corpus,
            index=self.index,
            conversations=self.conversations,
            clock=ManualClock(),
            sandbox=sandbox,
            limits=LIMITS,
        )
        report = await ingestor.ingest(source, self.root, only, **options)
        assert sandbox._process is None
        return report

    async def documents(self) -> dict[str, Document]:
        return {document.path: document for document in await self.corpus.list_documents("local")}

    async def texts(self) -> dict[str, str]:
        return {
            path: "|".join(page.text for page in await self.corpus.list_pages(document.id, self.scope))
            for path, document in (await self.documents()).items()
        }


class WatchedSandbox(Sandbox):
    def __init__(self, read_paths: list[str]) -> None:
        super().__init__(LIMITS, HERE)
        self._read_paths = read_paths

    async def read(self, task: ReadTask) -> Any:
        self._read_paths.append(task.path.name)
        return await super().read(task)


class Unopened:
    """An index that must not be touched."""

    def __getattr__(self, name: str) -> Callable[..., Awaitable[None]]:
        raise AssertionError(f"the index was used: {name}")


class Killed(Exception):
    """What stands for kill -9: nothing of the run goes on."""


class Fuse:
    """Counts calls that write, and ends the run before the one at `burns_at`."""

    def __init__(self, burns_at: int) -> None:
        self.left = burns_at

    def guard(self, target: Any, *names: str) -> Any:
        fuse = self

        class Guarded:
            def __getattr__(self, name: str) -> Any:
                method = getattr(target, name)
                if name not in names:
                    return method

                async def call(*args: Any) -> Any:
                    fuse.left -= 1
                    if fuse.left < 0:
                        raise Killed(name)
                    return await method(*args)

                return call

        return Guarded()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def counts(report: IngestReport) -> tuple[int, int, int, int, int]:
    return report.added, report.updated, report.unchanged, report.removed, len(report.failures)


def reasons(report: IngestReport) -> dict[str, str]:
    return {failure.path: failure.reason for failure in report.failures}


async def test_files_become_documents_that_are_found(place: Place) -> None:
    place.write("a.txt", "The oak stands by the mill.\fThe river is cold.")
    place.write("sub/b.txt", "Rivers run. warn")

    report = await place.ingest()

    assert counts(report) == (2, 0, 0, 0, 0)
    assert (report.pages, report.passages) == (3, 3)
    document = (await place.documents())["a.txt"]
    assert (document.title, document.kind, document.source, document.pages) == ("a", "text", "notes", 2)
    assert document.crawled_at is not None
    hits = await place.index.search(SearchQuery(text="oak mill"), place.scope)
    assert hits[0].document_id == document.id


async def test_a_second_run_reads_nothing_and_opens_no_index(place: Place) -> None:
    place.write("a.txt")
    place.write("b.epub")
    await place.ingest()
    place.index = Unopened()

    report = await place.ingest()

    assert counts(report) == (0, 0, 1, 0, 1)
    assert reasons(report) == {"b.epub": "no reader for .epub"}
    assert place.read_paths == []


async def test_a_touched_file_is_read_and_counted_unchanged(place: Place) -> None:
    file = place.write("a.txt")
    await place.ingest()
    os.utime(file, ns=(1, 1))

    assert counts(await place.ingest()) == (0, 0, 1, 0, 0)
    assert place.read_paths == ["a.txt"]
    await place.ingest()
    assert place.read_paths == []


async def test_a_changed_file_replaces_its_old_revision_everywhere(place: Place) -> None:
    place.write("a.txt", "Old words.")
    await place.ingest()
    place.write("a.txt", "New words.")

    assert counts(await place.ingest()) == (0, 1, 0, 0, 0)
    assert await place.texts() == {"a.txt": "New words."}
    assert await place.index.revisions() == await place.corpus.live_revisions()
    await place.ingest()
    assert place.read_paths == []


async def test_a_vanished_file_is_forgotten_with_what_was_said_about_it(place: Place) -> None:
    place.write("a.txt")
    place.write("b.txt").rename(place.root / "c.txt")
    await place.ingest()
    document = (await place.documents())["a.txt"]
    await place.conversations.add(build_conversation(pinned_document_id=document.id))
    (place.root / "a.txt").unlink()

    assert counts(await place.ingest()) == (0, 0, 1, 1, 0)
    assert list(await place.documents()) == ["c.txt"]
    assert await place.index.revisions() == await place.corpus.live_revisions()
    assert (await place.conversations.get("c1", "local")).pinned_document_id is None


async def test_only_the_named_part_is_looked_at(place: Place) -> None:
    for path in ("a/1.txt", "a/2.txt", "b/3.txt"):
        place.write(path)
    await place.ingest()
    (place.root / "a/1.txt").unlink()
    (place.root / "b/3.txt").unlink()

    assert counts(await place.ingest("a")) == (0, 0, 1, 1, 0)
    assert list(await place.documents()) == ["a/2.txt", "b/3.txt"]


async def test_a_source_of_single_files_looks_at_these_files_only(place: Place) -> None:
    source = build_source("notes", location=str(place.root), kind="file")
    for path in ("a.txt", "b.txt", "other.txt"):
        place.write(path)
    await place.ingest("a.txt", source)
    await place.ingest("b.txt", source)
    (place.root / "a.txt").unlink()

    assert counts(await place.ingest(None, source)) == (0, 0, 1, 1, 0)
    assert list(await place.documents()) == ["b.txt"]


async def test_a_path_that_is_not_there_is_an_error(place: Place) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        await place.ingest("nothing.txt")


async def test_one_bad_file_never_stops_the_batch(place: Place) -> None:
    for name in ("a.txt", "b.crash", "c.txt", "d.leave", "e.bug", "f.refused", "g.deep", "h.txt", "i.epub", "j"):
        place.write(name)
    place.write("large.txt", "x" * 200_000)
    (place.root / "k.txt").symlink_to("/nowhere")

    report = await place.ingest()

    assert counts(report) == (3, 0, 0, 0, 9)
    assert reasons(report)["b.crash"] == "its reader crashed (SIGSEGV)"
    assert reasons(report)["large.txt"].startswith("it has 0.2 MB; at most 0.1 MB are read")
    assert (await place.documents())["f.refused"].failed_reason == "it is of a version that is not read"


async def test_a_failure_is_not_tried_again_until_the_file_changes(place: Place) -> None:
    place.write("a.txt", "Good.")
    await place.ingest()
    (place.root / "a.txt").write_bytes(b"\0binary")
    broken = await place.ingest()
    again = await place.ingest()

    assert list(reasons(broken)) == list(reasons(again)) == ["a.txt"]
    assert place.read_paths == []
    assert await place.texts() == {"a.txt": "Good."}

    place.write("a.txt", "Good.")
    assert counts(await place.ingest()) == (0, 1, 0, 0, 0)
    assert (await place.documents())["a.txt"].failed_reason is None
    assert await place.index.revisions() == await place.corpus.live_revisions()


async def test_a_document_is_read_again_when_a_file_embedded_in_it_changes(place: Place) -> None:
    place.write("a.txt", "embed: b.txt\n")
    place.write("b.txt", "Old.")
    await place.ingest()
    place.write("b.txt", "New.")
    await place.ingest("b.txt")

    assert counts(await place.ingest()) == (0, 1, 1, 0, 0)
    assert (await place.texts())["a.txt"].endswith("New.")


async def test_force_reads_and_stores_all_again(place: Place) -> None:
    place.write("a.txt")
    await place.ingest()
    place.index = MemoryIndex()

    assert counts(await place.ingest(force=True)) == (0, 1, 0, 0, 0)
    assert await place.index.revisions() == await place.corpus.live_revisions()


async def test_leftovers_of_an_interrupted_run_are_swept(place: Place) -> None:
    place.write("a.txt")
    await place.ingest()
    (entry,) = [entry for entry, _ in place.index._entries.values()]
    await place.index.add([_of_revision(entry, "dead")])
    place.write("b.txt")

    await place.ingest()

    assert await place.index.revisions() == await place.corpus.live_revisions()


def _of_revision(entry: IndexEntry, revision: str) -> IndexEntry:
    return replace(entry, passage=replace(entry.passage, id="dead", revision=revision))


WRITES = 10


@pytest.mark.parametrize("point", range(WRITES + 1))
async def test_killed_at_any_write_the_next_run_completes(tmp_path: Path, point: int) -> None:
    """Old and new never mix: what is live is always whole in the index, and the next run completes the work."""
    place = Place(tmp_path)
    for name in ("changed", "same", "gone", "worse"):
        place.write(f"{name}.txt", f"Old {name}.")
    await place.ingest()
    place.write("changed.txt", "New changed.")
    place.write("added.txt", "New added.")
    (place.root / "gone.txt").unlink()
    (place.root / "worse.txt").write_bytes(b"\0")
    corpus, index = place.corpus, place.index
    fuse = Fuse(point)
    place.corpus = fuse.guard(corpus, "switch_revision", "touch", "remove_document", "save_failure", "save_source")
    place.index = fuse.guard(index, "add", "remove_revision", "remove_document", "optimise")

    with suppress(Killed):
        await place.ingest()
    place.corpus, place.index = corpus, index

    assert await corpus.live_revisions() <= await index.revisions()
    report = await place.ingest()
    assert "worse.txt" in reasons(report)
    assert await place.texts() == {
        "added.txt": "New added.",
        "changed.txt": "New changed.",
        "same.txt": "Old same.",
        "worse.txt": "Old worse.",
    }
    place.index = Unopened()
    await place.ingest()
    assert await index.revisions() >= await corpus.live_revisions()
    assert (fuse.left >= 0) == (point == WRITES), "WRITES is not the number of writes of this run any more"


async def test_batches_are_filled_across_documents_and_large_ones_are_cut(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "BATCH_CHARACTERS", 2_000)
    place.write("a-large.txt", "This is a sentence of some length, as they are. " * 400)
    for number in range(30):
        place.write(f"small{number}.txt", "A short note that stands alone. " * 5)
    sizes: list[int] = []
    add = place.index.add

    async def measured(entries: Sequence[IndexEntry]) -> None:
        sizes.append(sum(len(entry.passage.text) for entry in entries))
        await asyncio.sleep(0)
        await add(entries)

    place.index.add = measured
    report = await place.ingest()

    assert report.added == 31
    assert max(sizes) < 2_000 + 1_200
    assert len(sizes) < 20


async def test_progress_names_every_file_once(place: Place) -> None:
    for name in ("a.txt", "b.epub", "c.txt"):
        place.write(name)
    seen: list[IngestProgress] = []

    await place.ingest(progress=seen.append)

    assert [(step.done, step.total) for step in seen] == [(1, 3), (2, 3), (3, 3)]
    assert sorted(step.path for step in seen) == ["a.txt", "b.epub", "c.txt"]


async def test_warnings_of_readers_are_reported(place: Place) -> None:
    place.write("a.txt", "Text.\nwarn: a picture has no text")

    assert (await place.ingest()).warnings == [("a.txt", "a picture has no text")]


async def test_notes_of_a_vault_link_into_it_and_a_template_gives_addresses(place: Place) -> None:
    (place.root / ".obsidian").mkdir()
    place.write("a b.md")
    source = build_source("notes", location=str(place.root), link_template="https://wiki/{path}#{page}")

    await place.ingest(source=source)

    document = (await place.documents())["a b.md"]
    (page,) = await place.corpus.list_pages(document.id, place.scope)
    assert page.deep_link == f"obsidian://open?vault={place.root.name}&file=a%20b"
    assert document.url == "https://wiki/{path}#{page}"


async def test_an_index_that_fails_ends_the_run_with_its_error_and_what_was_stored_stays(place: Place) -> None:
    place.write("a.txt")
    await place.ingest()
    place.write("b.txt")

    async def fail(entries: Sequence[IndexEntry]) -> None:
        raise StorageError("the disk is full")

    place.index.add = fail
    with pytest.raises(StorageError, match="disk is full"):
        await place.ingest()
    assert list(await place.documents()) == ["a.txt"]


async def test_a_cancelled_run_stops_its_child_and_the_next_one_completes(place: Place) -> None:
    place.write("a.txt")
    place.write("b.hang")
    running = asyncio.create_task(place.ingest())
    await asyncio.sleep(1)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    (place.root / "b.hang").unlink()
    assert counts(await place.ingest()) == (1, 0, 0, 0, 0)


async def test_runs_of_one_ingestor_wait_for_each_other(place: Place) -> None:
    place.write("a.txt")
    await place.corpus.save_source(place.source)
    ingestor = Ingestor(
        corpus=place.corpus,
        index=place.index,
        conversations=place.conversations,
        clock=ManualClock(),
        sandbox=Sandbox(LIMITS, HERE),
        limits=LIMITS,
    )

    first, second = await asyncio.gather(*(ingestor.ingest(place.source, place.root) for _ in range(2)))

    assert (counts(first), counts(second)) == ((1, 0, 0, 0, 0), (0, 0, 1, 0, 0))


async def test_reading_ahead_waits_when_enough_is_waiting(place: Place) -> None:
    ahead = ReadAhead(limit=10)
    items = [_item(size) for size in (8, 2, 1, 50)]
    for item in items[:2]:
        await ahead.put(item)

    third = asyncio.create_task(ahead.put(items[2]))
    await asyncio.sleep(0.01)
    assert not third.done()

    assert await ahead.get() is items[0]
    await third
    large = asyncio.create_task(ahead.put(items[3]))
    assert [await ahead.get(), await ahead.get(), await ahead.get()] == items[1:]
    await large


def _item(characters: int) -> Any:
    class Content:
        pass

    item, content = Content(), Content()
    content.characters, item.content = characters, content  # type: ignore[attr-defined]
    return item
