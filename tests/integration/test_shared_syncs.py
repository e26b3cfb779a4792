"""Replicas on one PostgreSQL database: what falls due in all of them at once is synced by one."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text

from storage.database import Database
from storage.database.process_lock import process_lock, try_process_lock
from tests.postgres import postgres_schema
from tests.qdrant_server import qdrant_server

pytestmark = pytest.mark.slow
REPLICAS = 2


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a database, which the environment names together with an index; and a source of the configuration."""
    (tmp_path / "notes").mkdir()
    for name in ("kites", "boats"):
        (tmp_path / "notes" / f"{name}.md").write_text(f"# {name}\n\nThe {name} of Ondar leave at noon.\n")
    for number in range(REPLICAS):
        (tmp_path / f"config{number}.toml").write_text(
            f'data_dir = "{tmp_path / f"data{number}"}"\n[[sources]]\nname = "notes"\nkind = "folder"\n'
            f'path = "{tmp_path / "notes"}"\nschedule = "every 1h"\n'
        )
    with postgres_schema() as url, qdrant_server() as index:
        monkeypatch.setenv("FOOTNOTE_DATABASE_URL", url)
        monkeypatch.setenv("FOOTNOTE_INDEX__URL", index)
        yield url


def replica(folder: Path, number: int, how: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.integration.sync_process", str(folder / f"config{number}.toml")]
    return subprocess.Popen(
        [*command, "notes", how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )


def said(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def rows(url: str, query: str) -> list[Any]:
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        with engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(query))]
    finally:
        engine.dispose()


async def sync_in_all(url: str, folder: Path, hows: Sequence[str]) -> list[Any]:
    """What each process says, all of them having asked before the first may begin."""
    await (await Database.open(url)).close()
    started = [replica(folder, number, how) for number, how in enumerate(hows)]
    try:
        assert [said(process) for process in started] == ["ready"] * len(hows)
        async with process_lock(url, "sync"):
            for process in started:
                assert process.stdin is not None
                process.stdin.write("go\n")
                process.stdin.flush()
            while rows(url, _WAITING)[0][0] < len(hows):  # noqa: ASYNC110 - other processes begin to wait
                await asyncio.sleep(0.05)
        return [json.loads(said(process)) for process in started]
    finally:
        for process in started:
            process.communicate()


# Connections of replicas that look whether the place is free: each keeps its own while it waits.
_WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_try_advisory_lock%' AND state = 'idle' "
    "AND pid NOT IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')"
)


@pytest.mark.parametrize("how", ["tick", "command"])
async def test_of_replicas_that_sync_at_once_one_does_and_the_others_hear_of_it(
    shared: str, tmp_path: Path, how: str
) -> None:
    told = await sync_in_all(shared, tmp_path, [how] * REPLICAS)

    assert rows(shared, "SELECT count(*) FROM job WHERE kind = 'sync' AND parent_id IS NULL") == [(1,)]
    assert rows(shared, "SELECT source, result, counts::json->>'added' FROM source_sync") == [("notes", "done", "2")]
    assert [each["documents"] for each in told] == [["boats.md", "kites.md"]] * REPLICAS
    if how == "command":
        assert sorted(each["told"][0]["by_another"] for each in told) == [False, True]
        assert {each["told"][0]["result"] for each in told} == {"done"}


async def test_who_does_not_wait_is_told_whether_a_replica_is_in_the_place(shared: str) -> None:
    async def is_free() -> bool:
        async with try_process_lock(shared, "sync") as entered:
            return entered

    async with process_lock(shared, "sync"):
        assert not await is_free()
    assert [await is_free(), await is_free()] == [True, True]
