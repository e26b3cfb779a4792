"""An ingest in another process on the same database: told while it runs, and not for ever when it is killed."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from bot.config import load_config
from bot.wiring.parts import Parts, open_parts
from storage.database.repositories import ingest_progress
from tests.forked import ROOT
from tests.postgres import postgres_schema

READING = "I'm still reading the documents here (1 of 3). Ask again when they're done."


@pytest.fixture(params=["sqlite", "postgres"], autouse=True)
def shared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The database that all processes use."""
    if request.param == "sqlite":
        yield
    else:
        with postgres_schema() as url:
            monkeypatch.setenv("FOOTNOTE_DATABASE_URL", url)
            yield


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(b"torn")  # is done at once
    for name in ("b.md", "c.md"):
        (folder / name).write_text("# Keys\n\nUnder the stairs.\n")
    return folder


@asynccontextmanager
async def reading(data: Path, documents: Path) -> AsyncIterator[Process]:
    """A process that is in the middle of an ingest; killed at the end."""
    command = (sys.executable, "-m", "tests.integration.ingest_process", str(data), str(documents), "b.md")
    started = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=PIPE)
    try:
        assert started.stdout is not None
        assert await started.stdout.readline() == b"held\n"
        yield started
    finally:
        if started.returncode is None:
            started.kill()
        await started.wait()


async def told(app: Parts, wanted: str) -> None:
    """Wait until the place is explained so."""
    async with asyncio.timeout(60):
        while True:
            if wanted in (await app.availability.explain(await app.access.scope("local")) or ""):
                return
            await asyncio.sleep(0.1)


async def asked(data: Path) -> str:
    """What `footnote ask` answers, in a process of its own."""
    command = (sys.executable, "-m", "bot", "--data-dir", str(data), "ask", "--json", "Where is the key?")
    running = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=PIPE, env={**os.environ})
    output, _ = await running.communicate()
    return str(json.loads(output)["answer"])


async def test_it_is_told_until_the_process_is_killed(
    tmp_path: Path, documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    async with open_parts(load_config(None, data_dir=data)) as app:
        async with reading(data, documents) as process:
            await told(app, READING)
            assert await asked(data) == READING
            scope = await app.access.scope("local")
            assert await app.availability.caveat(scope) == READING.replace("the documents", "documents")
            monkeypatch.setattr(ingest_progress, "DEAD_AFTER", timedelta(seconds=3))
            process.kill()
            await process.wait()
        await told(app, "could not be read")
        assert await app.availability.caveat(scope) is None

        async with reading(data, documents):
            await told(app, "(0 of 2)")  # another process reads on
