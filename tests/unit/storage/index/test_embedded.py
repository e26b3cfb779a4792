"""Folders of embedded indexes: one opener, one model, and clear words when they can't be used."""

import asyncio
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.errors import StorageError
from storage.index import folder, opening
from storage.index.edge import open_edge
from storage.index.engine import Engine
from storage.index.folder import IndexFolder, IndexMeta, parse_meta
from storage.index.opening import INDEX_FOLDER, embedded_index
from storage.index.server import open_local, open_memory
from storage.text import indexed_text
from tests.fakes import HashEmbedder
from tests.unit.storage.search_builders import ask, build_entry, within

META = IndexMeta(format=1, model="hash-256", dimensions=256)
Opener = Callable[[Path, IndexMeta], Engine]
OPEN = (
    "from pathlib import Path; from {module} import {name}; from storage.index.folder import IndexMeta; "
    "from storage.index import folder; folder.LOCK_WAIT_SECONDS = 0.1; "
    "engine = {name}(Path({path!r}), IndexMeta(format=1, model='hash-256', dimensions=256))"
)
both = pytest.mark.parametrize("opener", [open_edge, open_local])


async def fill(data_dir: Path) -> None:
    index = embedded_index(data_dir, HashEmbedder())
    try:
        await index.add([build_entry("The spyglass costs gold.")])
    finally:
        await index.close()


async def test_what_was_added_is_there_after_reopening(tmp_path: Path) -> None:
    await fill(tmp_path)

    reopened = embedded_index(tmp_path, HashEmbedder())

    assert await reopened.count() == 1
    assert len(await reopened.search(ask("spyglass"), within())) == 1
    await reopened.close()


async def test_an_index_that_is_not_used_makes_no_folder(tmp_path: Path) -> None:
    await embedded_index(tmp_path, HashEmbedder()).close()

    assert not (tmp_path / INDEX_FOLDER).exists()


@both
def test_a_second_opener_is_told_that_the_folder_is_in_use(
    tmp_path: Path, opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "LOCK_WAIT_SECONDS", 0.1)
    first = opener(tmp_path, META)

    with pytest.raises(StorageError, match="Another Footnote process is using the search index"):
        opener(tmp_path, META)

    first.close()
    opener(tmp_path, META).close()


@both
def test_another_process_is_told_so_too(tmp_path: Path, opener: Opener) -> None:
    first = opener(tmp_path, META)
    code = OPEN.format(module=opener.__module__, name=opener.__name__, path=str(tmp_path))

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[4])

    first.close()
    assert ran.returncode == 1
    assert "StorageError: Another Footnote process" in ran.stderr


@both
@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (IndexMeta(format=1, model="other", dimensions=256), "made with the embedding model 'hash-256'"),
        (IndexMeta(format=1, model="hash-256", dimensions=8), "but 'hash-256' \\(8\\) is configured"),
        (IndexMeta(format=2, model="hash-256", dimensions=256), "made by another version"),
    ],
)
def test_an_index_of_another_model_is_refused_with_a_way_out(
    tmp_path: Path, opener: Opener, wanted: IndexMeta, words: str
) -> None:
    opener(tmp_path, META).close()

    with pytest.raises(StorageError, match=f"{words}.*footnote db reindex --from-scratch"):
        opener(tmp_path, wanted)

    opener(tmp_path, META).close()  # a refusal leaves the folder unlocked and as it was


@both
@pytest.mark.parametrize("notes", ["{", "[]", json.dumps({"format": "1"})])
def test_unreadable_notes_are_damage(tmp_path: Path, opener: Opener, notes: str) -> None:
    opener(tmp_path, META).close()
    (tmp_path / "index.json").write_text(notes)

    with pytest.raises(StorageError, match=r"damaged.*footnote db reindex --from-scratch"):
        opener(tmp_path, META)


async def test_damaged_engine_files_are_named_with_the_next_step(tmp_path: Path) -> None:
    await fill(tmp_path)
    (tmp_path / INDEX_FOLDER / "edge" / "edge_config.json").write_text("{")

    index = embedded_index(tmp_path, HashEmbedder())

    with pytest.raises(StorageError, match=r"damaged.*footnote db reindex --from-scratch"):
        await index.count()
    await index.close()


def test_damaged_files_of_local_mode_are_named_with_the_next_step(tmp_path: Path) -> None:
    open_local(tmp_path, META).close()
    (tmp_path / "local" / "meta.json").write_text("{")

    with pytest.raises(StorageError, match=r"damaged.*footnote db reindex --from-scratch"):
        open_local(tmp_path, META)


def test_a_refused_opening_can_be_tried_again(tmp_path: Path) -> None:
    (tmp_path / "edge").mkdir()
    (tmp_path / "edge" / "edge_config.json").write_text("{")
    with pytest.raises(StorageError):
        open_edge(tmp_path, META)

    (tmp_path / "edge" / "edge_config.json").unlink()

    open_edge(tmp_path, META).close()


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StorageError, match="can't be opened"):
        IndexFolder(tmp_path / "file" / "index").acquire(META)


def test_notes_that_can_not_be_written_are_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "index.new").mkdir()

    with pytest.raises(StorageError, match="can't be written"):
        IndexFolder(tmp_path).acquire(META)


def test_an_engine_error_names_the_index(tmp_path: Path) -> None:
    engine = open_edge(tmp_path, META)
    engine.close()

    with pytest.raises(StorageError, match="can't be read"):
        engine.count()


def test_a_mistake_of_ours_is_not_dressed_as_a_storage_error(tmp_path: Path) -> None:
    engine = open_edge(tmp_path, META)

    with pytest.raises(AttributeError):
        engine.upsert([SimpleNamespace(id="x")])
    engine.close()


async def test_platforms_without_edge_fall_back_to_local_mode_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(opening.importlib.util, "find_spec", lambda name: None)

    with caplog.at_level(logging.WARNING):
        await fill(tmp_path)

    assert (tmp_path / INDEX_FOLDER / "local").is_dir()
    assert [record.message for record in caplog.records if "local mode" in record.message]


def test_memory_mode_can_be_opened_and_closed() -> None:
    engine = open_memory(META)

    assert engine.count() == 0
    engine.close()


def test_notes_of_an_index_are_parsed_or_refused() -> None:
    assert parse_meta({"format": 1, "model": "hash-256", "dimensions": 256}) == META
    with pytest.raises(ValueError, match="not the notes"):
        parse_meta(None)


@pytest.mark.slow
async def test_many_pages_of_points_are_listed_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.index.edge.SCROLL_PAGE", 3)
    monkeypatch.setattr("storage.index.server.SCROLL_PAGE", 3)
    for opener in (open_edge, open_local):
        index = opening.QdrantIndex(lambda opener=opener: opener(tmp_path / opener.__name__, META), HashEmbedder())
        await index.add([build_entry("note", document=f"{n}.md") for n in range(10)])

        assert len(await index.revisions()) == 10
        await index.close()


def test_the_lock_goes_with_a_killed_process(tmp_path: Path) -> None:
    code = OPEN.format(module="storage.index.edge", name="open_edge", path=str(tmp_path))
    code += "; import os; os.kill(os.getpid(), 9)"

    ran = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[4])

    assert ran.returncode == -9 or os.name == "nt"
    open_edge(tmp_path, META).close()


def test_what_was_written_outlives_a_killed_process(tmp_path: Path) -> None:
    code = OPEN.format(module="storage.index.edge", name="open_edge", path=str(tmp_path))
    code += (
        "; import os; from tests.fakes import HashEmbedder; from storage.index.index import weigh_passage;"
        "from storage.index.engine import StoredPoint, payload;"
        "from tests.unit.storage.search_builders import build_entry;"
        "e = build_entry('gold'); v = HashEmbedder().embed_query('gold');"
        "engine.upsert([StoredPoint(e.passage.id, v, weigh_passage('gold'), payload(e))]); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[4])

    engine = open_edge(tmp_path, META)

    assert engine.count() == 1
    engine.close()


@both
def test_an_opener_waits_until_the_other_is_done(tmp_path: Path, opener: Opener) -> None:
    first = opener(tmp_path, META)
    order: list[str] = []
    closing = threading.Timer(0.3, lambda: (order.append("the other closes"), first.close()))
    closing.start()

    second = opener(tmp_path, META)
    order.append("opened")

    closing.join()
    second.close()
    assert order == ["the other closes", "opened"]


async def test_nothing_is_added_when_the_disk_is_nearly_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(tmp_path)
    monkeypatch.setattr(folder, "MIN_FREE_BYTES", 2**60)

    with pytest.raises(StorageError, match="nearly full"):
        await fill(tmp_path)
    with pytest.raises(StorageError, match="nearly full"):
        await fill(tmp_path / "new")
    reopened = embedded_index(tmp_path, HashEmbedder())
    assert len(await reopened.search(ask("spyglass"), within())) == 1
    await reopened.close()


def _bytes_with(folder: Path, needles: Sequence[bytes]) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if any(needle in path.read_bytes() for needle in needles))


async def test_erasing_leaves_no_byte_of_a_removed_document_and_all_of_the_others(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    index = embedded_index(tmp_path, embedder)
    kept = [build_entry(f"spyglass number {n}", document=f"{n}.md", source="s0") for n in range(798)]
    removed = [build_entry(text, document=f"{text}.md", source="s0") for text in ("Zarquelba", "Plimforth")]
    await index.add([*kept, *removed])
    await index.optimise()
    vectors = embedder.embed_passages([indexed_text(entry) for entry in removed])
    needles = [vector.tobytes() for vector in vectors] + [entry.passage.id.encode() for entry in removed]
    needles += [entry.passage.document_id.encode() for entry in removed]
    before = _bytes_with(tmp_path, needles)
    for entry in removed:
        await index.remove_document(entry.passage.document_id)

    found, _ = await asyncio.gather(index.search(ask("spyglass"), within("s0")), index.erase())

    assert before != []
    assert _bytes_with(tmp_path, needles) == []
    assert found
    assert await index.count() == 798
    await index.add(removed[:1])  # what is written later outlives a killed process, too
    assert (tmp_path / INDEX_FOLDER / "edge" / "wal").exists()
    await index.close()
    again = embedded_index(tmp_path, embedder)
    assert await again.count() == 799
    await again.close()


async def test_erasing_that_was_broken_off_is_done_at_the_next_call(tmp_path: Path) -> None:
    index = embedded_index(tmp_path, HashEmbedder())
    await index.add([build_entry("The spyglass costs gold.", document="gone.md"), build_entry("The map.")])
    await index.remove_document(build_entry("", document="gone.md").passage.document_id)
    await index.close()

    again = embedded_index(tmp_path, HashEmbedder())
    await again.erase()

    assert _bytes_with(tmp_path, [b"gone.md"]) == []
    assert await again.count() == 1
    await again.close()
