"""A wizard over an empty data directory, beside the test servers of both platforms."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import discord.http
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.setup import checks
from bot.setup.wizard import Wizard, open_wizard
from tests.discord_server import DiscordServer
from tests.slack_server import SlackServer

VARIABLES = (
    "DISCORD_TOKEN",
    "SLACK_BOT_TOKEN",
    "SLACK_APP_TOKEN",
    "SLACK_SIGNING_SECRET",
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
)


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


@pytest.fixture
def wizard(tmp_path: Path, config_file: Path) -> Wizard:
    return open_wizard(config_file, tmp_path / "data")


@pytest.fixture
async def silent(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """The address of a server that takes requests and never answers; the wizard soon gives up."""
    monkeypatch.setattr(checks, "ANSWER_SECONDS", 0.3)
    ended = asyncio.Event()

    async def wait(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await ended.wait()
        writer.close()

    server = await asyncio.start_server(wait, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    ended.set()
    server.close()


@pytest.fixture
async def on_discord(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DiscordServer]:
    async with DiscordServer() as running:
        monkeypatch.setattr(discord.http.Route, "BASE", f"{running.address}/api/v10")
        yield running


@pytest.fixture
async def on_slack(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SlackServer]:
    async with SlackServer() as running:
        monkeypatch.setattr(AsyncWebClient, "BASE_URL", running.api)
        yield running
