"""What becomes of Discord's refusals at the login and on the line, and which workspace a server has."""

from types import SimpleNamespace

import aiohttp
import discord
import pytest
from pydantic import SecretStr

from bot.config.sections import DiscordConfig
from bot.discordbot.connection import (
    PERMISSIONS,
    DiscordConnection,
    build_client,
    has_message_content,
    invite_link,
    log_in,
    stay_connected,
)
from bot.discordbot.events.client import FootnoteClient, ShardedFootnoteClient
from core.errors import ConfigError, FootnoteError, PlatformError


class RefusingClient:
    """As much of a client as logs in and connects, and is refused."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def login(self, token: str) -> None:
        raise self._error

    async def connect(self) -> None:
        raise self._error


class ClosedSocket:
    """A closed connection."""

    def __init__(self, code: int) -> None:
        self.close_code = code


def closed(code: int) -> discord.ConnectionClosed:
    return discord.ConnectionClosed(ClosedSocket(code), shard_id=None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (discord.LoginFailure("401"), ConfigError, "Reset Token"),
        (aiohttp.ClientConnectionError(), PlatformError, "can't be reached (ClientConnectionError)"),
        (OSError(), PlatformError, "can't be reached (OSError)"),
        (TimeoutError(), PlatformError, "Check this machine's network"),
    ],
)
async def test_a_login_that_fails_says_what_to_do(error: Exception, kind: type[FootnoteError], words: str) -> None:
    with pytest.raises(kind) as caught:
        await log_in(RefusingClient(error), "token")  # type: ignore[arg-type]
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
        await stay_connected(RefusingClient(error))  # type: ignore[arg-type]
    assert words in str(caught.value)


class ConnectedClient:
    """As much of a client as knows its servers."""

    def __init__(self, *, is_ready: bool) -> None:
        self.guilds = [SimpleNamespace(id=7, name="Harbour")] if is_ready else []
        self.is_ready = lambda: is_ready


@pytest.mark.parametrize(("is_ready", "names"), [(True, {"7": "Harbour"}), (False, None)])
def test_the_names_of_servers_are_known_once_it_is_connected(is_ready: bool, names: dict[str, str] | None) -> None:
    client = ConnectedClient(is_ready=is_ready)
    connection = DiscordConnection(
        client=client, token=SecretStr("t"), platform=None, settings=DiscordConfig(), bindings=None
    )  # type: ignore[arg-type]
    assert connection.names() == names


@pytest.mark.parametrize(
    ("shards", "kind", "count"),
    [(1, FootnoteClient, None), (0, ShardedFootnoteClient, None), (3, ShardedFootnoteClient, 3)],
)
async def test_there_are_as_many_connections_as_configured(shards: int, kind: type, count: int | None) -> None:
    client = build_client(DiscordConfig(shards=shards))
    assert (type(client), client.shard_count) == (kind, count)


def test_the_invitation_asks_for_just_the_permissions_and_scopes_in_use() -> None:
    link = invite_link(42)
    assert link.startswith("https://discord.com/oauth2/authorize?client_id=42&scope=bot+applications.commands")
    assert f"permissions={PERMISSIONS.value}" in link
    assert not PERMISSIONS.administrator


def test_the_switch_for_message_content_counts_for_small_and_for_approved_bots() -> None:
    flags = discord.ApplicationFlags()
    assert not has_message_content(flags)
    flags.gateway_message_content_limited = True
    assert has_message_content(flags)
