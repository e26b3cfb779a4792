"""Ingests that are killed, cancelled, refused by the index or run side by side."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.domain.passages import IndexEntry
from core.errors import StorageError
from storage.documents.pipeline import Ingestor
from storage.documents.run import ReadAhead
from storage.documents.sandbox import Sandbox
from tests.fakes import ManualClock
from tests.integration.ingest_place import LIMITS, Fuse, Killed, Place, Unopened, counts, reasons
from tests.unit.storage.documents.fake_readers import HERE


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_leftovers_of_an_interrupted_run_are_removed(place: Place) -> None:
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
    place.corpus = fuse.guard(corpus, "switch_revision", "touch", "remove_documents", "save_failure", "save_source")
    place.index = fuse.guard(index, "add", "remove_revision", "remove_document", "optimise")

    with suppress(Killed):
        await place.ingest()
    place.corpus, place.index = corpus, index

    assert (await corpus.live_revisions()).items() <= (await index.revisions()).items()
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
    assert (await index.revisions()).items() >= (await corpus.live_revisions()).items()
    assert (fuse.left >= 0) == (point == WRITES), "WRITES is not the number of writes of this run any more"


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


async def test_a_file_that_vanishes_after_it_was_listed_is_reported_and_then_forgotten(place: Place) -> None:
    place.write("a.txt")
    doomed = place.write("b.txt")
    place.before_read = {"b.txt": doomed.unlink}

    assert reasons(await place.ingest()) == {"b.txt": "vanished before it was read; ingest again when it is back"}
    assert counts(await place.ingest()) == (0, 0, 1, 1, 0)


async def test_a_file_that_changes_after_it_was_listed_is_read_again_by_the_next_run(place: Place) -> None:
    file = place.write("a.txt", "Old words.")
    place.before_read = {"a.txt": lambda: file.write_text("New words, more of them.")}
    await place.ingest()
    place.before_read = {}

    assert await place.texts() == {"a.txt": "New words, more of them."}
    await place.ingest()
    assert place.read_paths == ["a.txt"]
    await place.ingest()
    assert place.read_paths == []


async def test_what_another_process_did_while_the_index_was_waited_for_is_not_done_again(place: Place) -> None:
    place.write("a.txt")
    index = place.index
    other = Place(place.root)
    other.corpus, other.index = place.corpus, index

    class Busy:
        async def revisions(self) -> dict[tuple[str, str], int]:
            await other.ingest()
            return await index.revisions()

        def __getattr__(self, name: str) -> Any:
            return getattr(index, name)

    place.index = Busy()

    assert counts(await place.ingest()) == (0, 0, 1, 0, 0)
    assert (other.read_paths, place.read_paths) == (["a.txt"], [])
