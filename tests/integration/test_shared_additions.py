"""Processes on one PostgreSQL database that continue the same unfinished addition: one of them does it."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.domain.additions import AdditionKind, AdditionState
from storage.database import Database
from storage.database.repositories.additions import LEASE_SECONDS, SqlAdditionRepository
from tests.contract.test_addition_repository import ADDITION
from tests.postgres import postgres_schema
from tests.qdrant_server import qdrant_server

pytestmark = pytest.mark.slow
READ = '["read"]'
SHORT_LEASE_SECONDS = 2.0


class Site:
    """A page that is served once `opened` is set."""

    def __init__(self) -> None:
        self.fetches = 0
        self.fetched = asyncio.Event()
        self.opened = asyncio.Event()

    async def page(self, request: web.Request) -> web.Response:
        self.fetches += 1
        self.fetched.set()
        await self.opened.wait()
        return web.Response(text="<title>Ferries</title><h1>Ferries</h1><p>At noon.</p>", content_type="text/html")


class Replica:
    """A process, and the lines that it prints."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.lines: list[str] = []

    async def say(self, wanted: str) -> None:
        """Read lines up to this one."""
        assert self.process.stdout is not None
        while line := (await self.process.stdout.readline()).decode().strip():
            self.lines.append(line)
            if line == wanted:
                return
        raise AssertionError(f"{wanted!r} is not among {self.lines}")

    def begin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"go\n")


@pytest.fixture
async def site() -> AsyncIterator[tuple[Site, str]]:
    site, app = Site(), web.Application()
    app.router.add_get("/ferries", site.page)
    async with TestServer(app) as server:
        yield site, str(server.make_url("/ferries"))


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a database, which the environment names together with an index."""
    with postgres_schema() as url, qdrant_server() as index:
        monkeypatch.setenv("FOOTNOTE_DATABASE_URL", url)
        monkeypatch.setenv("FOOTNOTE_INDEX__URL", index)
        yield url


@asynccontextmanager
async def replicas(folder: Path, url: str, link: str, lease_seconds: float) -> AsyncIterator[list[Replica]]:
    """Two processes on a database with an accepted link, when both are ready."""
    database = await Database.open(url)
    accepted = replace(ADDITION, kind=AdditionKind.LINK, name=link, state=AdditionState.ACCEPTED)
    await SqlAdditionRepository(database).add(accepted)
    await database.close()
    started = []
    for number in range(2):
        config = folder / f"config{number}.toml"
        config.write_text(f'data_dir = "{folder / f"data{number}"}"\n')
        module = ["-m", "tests.integration.addition_process", str(config), str(lease_seconds)]
        process = await asyncio.create_subprocess_exec(sys.executable, *module, stdin=PIPE, stdout=PIPE)
        started.append(Replica(process))
    try:
        for one in started:
            await one.say("ready")
        yield started
    finally:
        for one in started:
            if one.process.returncode is None:
                one.process.kill()
            await one.process.communicate()


async def test_one_of_two_processes_continues_and_the_other_waits(
    shared: str, site: tuple[Site, str], tmp_path: Path
) -> None:
    async with replicas(tmp_path, shared, site[1], LEASE_SECONDS) as (first, second):
        first.begin()
        await site[0].fetched.wait()
        second.begin()
        await second.say("waits")
        site[0].opened.set()
        await first.say(READ)
        await second.say(READ)
        assert site[0].fetches == 1
        assert (first.lines.count("posted"), second.lines.count("posted")) == (1, 0)


async def test_another_process_continues_after_the_one_that_was_killed(
    shared: str, site: tuple[Site, str], tmp_path: Path
) -> None:
    async with replicas(tmp_path, shared, site[1], SHORT_LEASE_SECONDS) as (first, second):
        first.begin()
        await site[0].fetched.wait()
        second.begin()
        await second.say("waits")
        first.process.kill()
        site[0].opened.set()
        await second.say(READ)
        assert (site[0].fetches, second.lines.count("posted")) == (2, 0)
