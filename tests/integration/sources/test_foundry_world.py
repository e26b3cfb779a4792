"""Foundry worlds: databases of both kinds, read while Foundry has them open, and the readers' way with them."""

import asyncio
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.domain.sources import FoundryWorldOrigin
from core.errors import SourceUnavailable
from core.ports.documents import Fetched, FetchProgress
from storage.documents.readers.foundry_journal import FoundryJournalReader
from storage.sources.foundry_world import FoundryWorldFetcher
from storage.sources.mirror import Mirror

plyvel = pytest.importorskip("plyvel", reason="there is none for this Python")

INN = {"_id": "e1", "name": "The inn", "pages": ["p1", "p2"], "ownership": {"default": 0}}
ROOMS = {"_id": "p1", "name": "Rooms", "type": "text", "text": {"content": "<p>Three rooms.</p>", "format": 1}}
CELLAR = {"_id": "p2", "name": "Cellar", "type": "text", "text": {"content": "<p>It is flooded.</p>", "format": 1}}
STORED = {"!journal!e1": INN, "!journal.pages!e1.p1": ROOMS, "!journal.pages!e1.p2": CELLAR}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    folder = tmp_path / "mill-town"
    (folder / "data").mkdir(parents=True)
    (folder / "packs").mkdir()
    (folder / "world.json").write_text("{}")
    return folder


def store(place: Path, values: Mapping[str, Any], *, keep_open: bool = False) -> Any:
    database = plyvel.DB(str(place), create_if_missing=True)
    for key, value in values.items():
        database.put(key.encode(), json.dumps(value).encode())
    if not keep_open:
        database.close()
    return database


def told(done: int, total: int | None, name: str) -> None:
    """Progress that nobody looks at."""


async def fetch(world: Path, tmp_path: Path) -> Fetched:
    return await FoundryWorldFetcher(FoundryWorldOrigin(path=world)).fetch(tmp_path / "mirror", told)


def read(fetched: Fetched) -> dict[str, str]:
    """Path -> the text of its pages, by our own reader."""
    files = sorted(item for item in fetched.root.rglob("*.json"))
    return {
        file.relative_to(fetched.root).as_posix(): "|".join(
            page.text for page in FoundryJournalReader().read(file, fetched.root).pages
        )
        for file in files
    }


async def test_a_world_is_read_while_foundry_has_it_open(world: Path, tmp_path: Path) -> None:
    database = store(world / "data/journal", STORED, keep_open=True)
    store(world / "packs/lore", {"!journal!e9": {**INN, "_id": "e9", "pages": ["p1"]}, "!journal.pages!e9.p1": ROOMS})
    done = await fetch(world, tmp_path)

    assert read(done) == {
        "journal/The inn-e1.json": "Three rooms.|It is flooded.",
        "packs/lore/The inn-e9.json": "Three rooms.",
    }
    database.put(b"!journal!e2", json.dumps({**INN, "_id": "e2", "name": "The mill"}).encode())
    database.close()
    assert (await fetch(world, tmp_path)).changed == 1


async def test_a_world_that_did_not_change_writes_nothing_and_what_is_gone_goes(world: Path, tmp_path: Path) -> None:
    database = store(world / "data/journal", {**STORED, "!journal!e2": {**INN, "_id": "e2", "name": "Gone"}})
    await fetch(world, tmp_path)
    assert (await fetch(world, tmp_path)).changed == 0
    database = plyvel.DB(str(world / "data/journal"))
    database.delete(b"!journal!e2")
    database.close()

    done = await fetch(world, tmp_path)
    assert (done.changed, done.removed) == (0, 1)


async def test_worlds_of_older_versions_are_lines_of_json(world: Path, tmp_path: Path) -> None:
    old = {"_id": "e3", "name": "The ford", "content": "<p>Shallow.</p>"}
    lines = [{**old, "content": "<p>Deep.</p>"}, old, {**INN, "pages": [ROOMS]}, {**old, "_id": "e4"}]
    text = "\n".join([*map(json.dumps, lines), '{"_id": "e4", "$$deleted": true}', "{broken", ""])
    (world / "data/journal.db").write_text(text)
    (world / "packs/spells.db").write_text('{"_id": "s1", "name": "Light", "system": {}}\n')
    done = await fetch(world, tmp_path)

    assert read(done) == {"journal/The ford-e3.json": "Shallow.", "journal/The inn-e1.json": "Three rooms."}


async def test_a_damaged_pack_is_a_warning_and_keeps_what_was_read(world: Path, tmp_path: Path) -> None:
    store(world / "data/journal", STORED)
    store(world / "packs/lore", STORED)
    await fetch(world, tmp_path)
    for file in (world / "packs/lore").glob("MANIFEST*"):
        file.write_bytes(b"rubbish")
    done = await fetch(world, tmp_path)

    assert "can't be read" in done.warnings[0]
    assert "packs/lore/The inn-e1.json" in read(done)


async def test_packs_are_told_of_in_the_event_loop_where_jobs_are_written(world: Path, tmp_path: Path) -> None:
    """Its files are read in a thread; the job of a sync begins a task with what it is told."""
    (world / "data/journal.db").write_text(json.dumps({**INN, "pages": [ROOMS]}))
    for pack in ("lore", "spells"):
        (world / f"packs/{pack}.db").write_text(json.dumps({**INN, "pages": [CELLAR]}))
    heard: list[tuple[str, int, asyncio.AbstractEventLoop]] = []

    def hear(done: int, total: int | None, name: str) -> None:
        heard.append((name, done, asyncio.get_running_loop()))

    await FoundryWorldFetcher(FoundryWorldOrigin(path=world)).fetch(tmp_path / "mirror", hear)
    loop = asyncio.get_running_loop()
    assert heard == [("lore.db", 1, loop), ("spells.db", 2, loop)]


async def test_a_damaged_journal_or_another_folder_is_a_failure(world: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match="no journal"):
        await fetch(world, tmp_path)
    (world / "data/journal.db").write_text("{broken\n")
    with pytest.raises(SourceUnavailable, match="no line of JSON"):
        await fetch(world, tmp_path)
    with pytest.raises(SourceUnavailable, match="no Foundry world"):
        await fetch(tmp_path, tmp_path)


async def test_a_fetch_that_is_cancelled_writes_nothing_more_when_it_has_ended(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next sync may begin then: a mirror has one writer."""
    writing, go_on, events = threading.Event(), threading.Event(), list[str]()

    def slow(self: FoundryWorldFetcher, mirror: Mirror, progress: FetchProgress) -> Fetched:
        writing.set()
        assert go_on.wait(30)
        events.append("written")
        return Fetched(root=mirror.root)

    monkeypatch.setattr(FoundryWorldFetcher, "_fetch", slow)
    fetching = asyncio.create_task(fetch(world, tmp_path))
    await asyncio.to_thread(writing.wait, 30)
    fetching.cancel()
    await asyncio.wait({fetching}, timeout=0.05)
    go_on.set()
    await asyncio.wait({fetching})
    events.append("ended")

    assert fetching.cancelled()
    assert events == ["written", "ended"]
