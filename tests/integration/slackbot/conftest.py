"""The places of the tests: a house with one document and a model that knows where the key is; the platform alone; the
door as the service opens it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.integration.slackbot.bench import Bench
from tests.integration.slackbot.door import VARIABLES, Secrets
from tests.integration.slackbot.place import KEY, SlackPlace, turns
from tests.slack_server import Channel, Person, SlackServer, Team


@pytest.fixture
async def place(tmp_path: Path) -> SlackPlace:
    place = SlackPlace(script=turns(4), folder=tmp_path / "kept")
    await place.shelf.add(
        "house.md", f"# Keys\n\n{KEY}", "# Are gardens locked?\n\nThe garden has a shed.", title="House"
    )
    return place


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with SlackServer() as server:
        bench = Bench(server)
        yield bench
        await bench.close()


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SlackServer]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    async with SlackServer(ack_seconds=20, trigger_seconds=20) as running:
        monkeypatch.setattr(AsyncWebClient, "BASE_URL", running.api)
        yield running


@pytest.fixture
def team(server: SlackServer) -> Team:
    return server.create_team("acme")


@pytest.fixture
def general(server: SlackServer, team: Team) -> Channel:
    return server.create_channel(team, "general")


@pytest.fixture
def ada(server: SlackServer, general: Channel) -> Person:
    return server.person("ada", general)


@pytest.fixture
def secrets(tmp_path: Path, server: SlackServer) -> Secrets:
    return Secrets(tmp_path, server)
