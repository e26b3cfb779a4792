"""What becomes of Discord's refusals at the login and on the line, and which workspace a server has."""

import aiohttp
import discord
import pytest

from bot.config import Config
from bot.config.sections import DiscordConfig
from bot.discordbot.client import FootnoteClient, ShardedFootnoteClient
from bot.wiring.discord import DiscordDoor, build_client, describe_discord, log_in, stay_connected, workspace_of
from core.errors import ConfigError, FootnoteError, PlatformError


class Refused:
    """As much of a client as logs in and connects, and is refused."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def login(self, token: str) -> None:
        raise self._error

    async def connect(self) -> None:
        raise self._error


class Socket:
    """A closed connection."""

    def __init__(self, code: int) -> None:
        self.close_code = code


def closed(code: int) -> discord.ConnectionClosed:
    return discord.ConnectionClosed(Socket(code), shard_id=None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (discord.LoginFailure("401"), ConfigError, "Reset Token"),
        (aiohttp.ClientConnectionError(), PlatformError, "can't be reached (ClientConnectionError)"),
        (OSError(), PlatformError, "can't be reached (OSError)"),
        (TimeoutError(), PlatformError, "check this machine's network"),
    ],
)
async def test_a_login_that_fails_says_what_to_do(error: Exception, kind: type[FootnoteError], words: str) -> None:
    with pytest.raises(kind) as caught:
        await log_in(Refused(error), "token")  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (discord.PrivilegedIntentsRequired(None), ConfigError, "“Message Content Intent”"),
        (closed(4004), ConfigError, "Reset Token"),
        (closed(4011), ConfigError, "shards = 0"),
        (closed(4012), PlatformError, "(code 4012)"),
        (discord.GatewayNotFound(), PlatformError, "can't be reached"),
    ],
)
async def test_a_connection_closed_for_good_says_what_to_do(
    error: Exception, kind: type[FootnoteError], words: str
) -> None:
    with pytest.raises(kind) as caught:
        await stay_connected(Refused(error))  # type: ignore[arg-type]
    assert words in str(caught.value)


def test_a_server_has_the_configured_workspace_else_its_own() -> None:
    config = Config(discord=DiscordConfig(workspaces={"123456789012345678": "team"}))
    assert workspace_of(config, 123456789012345678) == "team"
    assert workspace_of(config, 123456789012345679) == "discord-123456789012345679"


class Member:
    """As much of a client as knows the servers it is in."""

    def __init__(self, *guild_ids: int) -> None:
        self.guilds = [discord.Object(guild_id) for guild_id in guild_ids]


def test_the_door_knows_the_workspaces_of_the_servers_it_is_in() -> None:
    config = Config(discord=DiscordConfig(workspaces={"123456789012345678": "team", "123456789012345670": "club"}))
    client = Member(123456789012345678, 123456789012345679)
    door = DiscordDoor(client=client, platform=None)  # type: ignore[arg-type]
    assert door.workspaces(config) == {"team", "discord-123456789012345679"}


@pytest.mark.parametrize(
    ("shards", "kind", "count"),
    [(1, FootnoteClient, None), (0, ShardedFootnoteClient, None), (3, ShardedFootnoteClient, 3)],
)
async def test_there_are_as_many_connections_as_configured(shards: int, kind: type, count: int | None) -> None:
    client = build_client(Config(discord=DiscordConfig(shards=shards)))
    assert (type(client), client.shard_count) == (kind, count)


async def test_without_a_token_discord_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCORD_TOKEN", raising=False)
    assert await describe_discord(Config()) == "off: no token in DISCORD_TOKEN or the file of [discord] token_file"
