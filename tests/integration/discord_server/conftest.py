"""A server with one guild and one person, and a plain bot that is logged in."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from simcord.builders import ChannelHandle, GuildHandle

from tests.discord_server import TOKEN, BotProcess, DiscordServer, Person

ACK_SECONDS = 20.0  # the bot is quick, but machines that test are busy
PLAIN_BOT = "tests.integration.discord_server.plain_bot"


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    async with DiscordServer(ack_seconds=ACK_SECONDS) as running:
        yield running


@pytest.fixture
def guild(server: DiscordServer) -> GuildHandle:
    return server.world.create_guild("team")


@pytest.fixture
def general(guild: GuildHandle) -> ChannelHandle:
    return guild.create_text_channel("general")


@pytest.fixture
def alice(server: DiscordServer, guild: GuildHandle) -> Person:
    return server.person("alice", guild)


@pytest.fixture
def stopped_bot(server: DiscordServer, tmp_path: Path) -> BotProcess:
    return server.bot(PLAIN_BOT, log=tmp_path / "bot.log", environment={"PLAIN_BOT_TOKEN": TOKEN})


@pytest.fixture
async def bot(server: DiscordServer, general: ChannelHandle, alice: Person, stopped_bot: BotProcess) -> BotProcess:
    stopped_bot.start()
    await server.wait_for_login()
    return stopped_bot
