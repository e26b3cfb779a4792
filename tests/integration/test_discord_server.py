"""The Discord server, tried with a small plain bot in its own process."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from simcord.builders import ChannelHandle, GuildHandle

from tests.discord_server import TOKEN, BotProcess, DiscordServer, Person


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    async with DiscordServer() as running:
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
async def bot(server: DiscordServer, general: ChannelHandle, alice: Person, tmp_path: Path) -> BotProcess:
    process = server.bot(
        "tests.integration.discord_bot", log=tmp_path / "bot.log", environment={"PLAIN_BOT_TOKEN": TOKEN}
    )
    process.start()
    await server.wait_for_login()
    return process


async def test_a_mention_is_answered(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    await alice.mention(general, "hello")
    await server.wait_for(lambda: len(server.posts(general)) == 1)
    assert server.transcript(general).splitlines()[-1] == "TestBot: You said: hello"
