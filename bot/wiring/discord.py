"""The composition root's part for Discord: one client, that posts once it has logged in and hears once it is connected.

A worker alone only logs in: it posts what it answers, and leaves hearing to the process that serves.
"""

import asyncio
import logging
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

import aiohttp
import discord

from bot.config import Config
from bot.discordbot.client import FootnoteClient, ShardedFootnoteClient
from bot.discordbot.parts import DiscordParts
from bot.discordbot.platform import DiscordPlatform
from bot.discordbot.setup import BAD_TOKEN, NO_MESSAGE_CONTENT, has_message_content, invite_link
from bot.wiring.parts import Parts
from bot.wiring.platforms import link_maker, shared_parts
from core.errors import ConfigError, FootnoteError, PlatformError
from core.service.commands import Commands
from core.service.inbox import platform_gates
from core.service.worker import Worker

GOODBYE_SECONDS = 1.0  # for the connection to close; the whole stop has less than five
UNREACHABLE = (discord.HTTPException, discord.GatewayNotFound, aiohttp.ClientError, OSError, TimeoutError)
MORE_SHARDS = "Discord wants the bot on another number of connections: set [discord] shards = 0."
# Codes of closed connections (https://discord.com/developers/docs/topics/opcodes-and-status-codes).
FOR_GOOD = {4004: ConfigError(BAD_TOKEN), 4010: ConfigError(MORE_SHARDS), 4011: ConfigError(MORE_SHARDS)}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordDoor:
    """The bot, logged in."""

    client: FootnoteClient | ShardedFootnoteClient
    platform: DiscordPlatform

    def workspaces(self, config: Config) -> set[str]:
        """Of the servers that the bot is in, which it knows once it is connected."""
        return {workspace_of(config, guild.id) for guild in self.client.guilds}


async def open_discord(stack: AsyncExitStack, app: Parts) -> DiscordDoor | None:
    """Log in, until the end of `stack`; None where no token is configured.

    Raises ConfigError for a token that Discord refuses, and PlatformError when Discord can't be reached.
    """
    token = app.config.discord_token()
    if token is None:
        return None
    client = build_client(app.config)
    stack.push_async_callback(_close, client)
    await log_in(client, token.get_secret_value())
    platform = DiscordPlatform(client, app.inbox_store, link_maker(app.config, app.clock), app.clock, asyncio.sleep)
    stack.push_async_callback(platform.close)
    return DiscordDoor(client=client, platform=platform)


def build_client(config: Config) -> FootnoteClient | ShardedFootnoteClient:
    """As many connections as configured; none is made yet."""
    be_silent()
    shards = config.discord.shards
    return FootnoteClient() if shards == 1 else ShardedFootnoteClient(shards or None)


def be_silent() -> None:
    """The bot never speaks: nobody needs to hear at each start that what speaking takes is not installed."""
    discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False


async def log_in(client: discord.Client, token: str) -> None:
    """Raises ConfigError and PlatformError, one sentence each."""
    try:
        await client.login(token)
    except discord.LoginFailure as error:
        raise ConfigError(BAD_TOKEN) from error
    except UNREACHABLE as error:
        raise to_unreachable(error) from error


def to_unreachable(error: Exception) -> PlatformError:
    return PlatformError(
        f"Discord can't be reached ({type(error).__name__}): check this machine's network and start again."
    )


async def hear_discord(door: DiscordDoor, app: Parts, commands: Commands, worker: Worker) -> None:
    """Listen to Discord until cancelled. Raises ConfigError where the portal withholds what people write."""
    settings = app.config.discord
    door.client.attach(
        DiscordParts(
            **shared_parts(app, commands, worker, platform_gates(app.settings, app.clock)),
            workspace_of=partial(workspace_of, app.config),
            catch_up_hours=settings.catch_up_hours,
        ),
        door.platform,
    )
    try:
        await door.client.offer_commands()
    except FootnoteError as error:  # those of the last start are still there
        _log.warning("The commands are not renewed: %s", error)
    await stay_connected(door.client)


async def stay_connected(client: discord.Client) -> None:
    """Connected until cancelled, again and again. Raises ConfigError and PlatformError for what that does not mend."""
    try:
        await client.connect()
    except discord.PrivilegedIntentsRequired as error:
        raise ConfigError(NO_MESSAGE_CONTENT) from error
    except discord.ConnectionClosed as error:
        raise FOR_GOOD.get(error.code) or PlatformError(
            f"Discord closed the connection for good (code {error.code}): update Footnote, and start again."
        ) from error
    except UNREACHABLE as error:
        raise to_unreachable(error) from error


def workspace_of(config: Config, guild: int) -> str:
    """The workspace of a server: the configured one, else its own."""
    return config.discord.workspaces.get(str(guild), f"discord-{guild}")


async def describe_discord(config: Config) -> str:
    """For `footnote doctor`: who the bot is, and the link that invites it. Raises as `open_discord` does."""
    token = config.discord_token()
    if token is None:
        return "off: no token in DISCORD_TOKEN or the file of [discord] token_file"
    be_silent()
    client = discord.Client(intents=discord.Intents.none())
    try:
        await log_in(client, token.get_secret_value())
        application = await client.application_info()
    except discord.HTTPException as error:
        raise PlatformError(f"Discord does not tell about the bot ({error.status}): try again.") from error
    finally:
        await client.close()
    if not has_message_content(application.flags):
        raise ConfigError(NO_MESSAGE_CONTENT)
    return f"{application.name} is ready; invite it with {invite_link(application.id)}"


async def _close(client: discord.Client) -> None:
    try:
        async with asyncio.timeout(GOODBYE_SECONDS):
            await client.close()
    except TimeoutError:
        _log.warning("Discord took no goodbye within %g s: the connection is cut", GOODBYE_SECONDS)
