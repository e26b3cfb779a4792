"""The whole way of files into the library: a real child process, and database and index in memory."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.domain.corpus import SearchQuery
from core.domain.ingest_report import IngestProgress
from core.domain.passages import IndexEntry
from core.errors import NotFound
from storage.documents import run as run_module
from tests.builders import build_conversation, build_source
from tests.fakes import MemoryIndex
from tests.integration.ingest_place import Place, Unopened, counts, reasons


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


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


async def test_of_a_thousand_files_the_one_that_changed_is_touched_alone(place: Place) -> None:
    for number in range(1_000):
        place.write(f"{number % 20}/{number}.md", f"Note {number}.")
    first = await place.ingest()
    before = {path: (document.revision, document.crawled_at) for path, document in (await place.documents()).items()}
    place.write("7/507.md", "Note 507, mended.")
    second = await place.ingest()
    after = {path: (document.revision, document.crawled_at) for path, document in (await place.documents()).items()}

    assert (first.added, second.updated, second.unchanged) == (1_000, 1, 999)
    assert place.read_paths == ["507.md"]
    assert {path for path in after if after[path] != before[path]} == {"7/507.md"}
    assert (await place.texts())["7/507.md"] == "Note 507, mended."


async def test_a_touched_file_is_read_and_counted_unchanged(place: Place) -> None:
    file = place.write("a.txt")
    await place.ingest()
    os.utime(file, ns=(1, 1))

    assert counts(await place.ingest()) == (0, 0, 1, 0, 0)
    assert place.read_paths == ["a.txt"]
    await place.ingest()
    assert place.read_paths == []


async def test_what_a_file_hides_is_noted_also_where_its_pages_stay_the_same(tmp_path: Path) -> None:
    place = Place(tmp_path, "storage.documents.base:build_readers")
    page = '<p>The ferry leaves at noon.</p><p style="opacity:0">{}</p>'
    for said in ("one", "four"):
        place.write("a.html", page.format(said))
        await place.ingest()
        [document] = (await place.documents()).values()
        assert document.hidden == (f"text that no reader sees left out: {len(said)} characters",)


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
    assert reasons(report)["large.txt"].startswith("too large: 0.2 MB, at most 0.1 MB are read")
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

    await place.ingest(progress=lambda now: None if now.is_under_way else seen.append(now))

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
