"""The places of the tests: a house with one document and a model that knows where the key is; the platform alone."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.slackbot.bench import Bench
from tests.integration.slackbot.place import KEY, SlackPlace, turns
from tests.slack_server import SlackServer


@pytest.fixture
async def place(tmp_path: Path) -> SlackPlace:
    place = SlackPlace(script=turns(4), folder=tmp_path / "kept")
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", "# Garden\n\nThe garden has a shed.", title="House")
    return place


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with SlackServer() as server:
        bench = Bench(server)
        yield bench
        await bench.close()
