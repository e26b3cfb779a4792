"""Login and connection of the bot: intents, permissions, refusals, and the check by doctor."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import aiohttp
import discord
from pydantic import SecretStr

from bot.config.sections import DiscordConfig
from bot.discordbot.actions.handler import LibraryRules
from bot.discordbot.delivery.platform import DiscordPlatform
from bot.discordbot.events.askers import discord_gates
from bot.discordbot.events.client import FootnoteClient, ShardedFootnoteClient
from bot.presentation.platform_parts import PlatformParts
from core.access.bindings import Bindings
from core.errors import ConfigError, FootnoteError, PlatformError
from core.ports.service import SettingsRepository
from core.service.inbox import Gate

# docs/discord.md explains each one.
PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    manage_threads=True,  # rename and reopen threads that others opened
    read_message_history=True,
    attach_files=True,  # exports, long tables and code
    add_reactions=True,  # a lock on a refused question
)
SCOPES = ("bot", "applications.commands")

NO_MESSAGE_CONTENT = (
    "Discord withholds message content. Turn on “Message Content Intent” at "
    "https://discord.com/developers/applications (your application, Bot, Privileged Gateway Intents)."
)
BAD_TOKEN = (
    "Discord refuses the bot's token. Create a new one at https://discord.com/developers/applications "  # noqa: S105
    "(your application, Bot, Reset Token) and put it into DISCORD_TOKEN, or the file of [discord] token_file."
)

MORE_SHARDS = "Discord requires a different number of connections. Set [discord] shards = 0."
GOODBYE_SECONDS = 1.0  # for the connection to close; the whole stop has less than five
_UNREACHABLE = (discord.HTTPException, discord.GatewayNotFound, aiohttp.ClientError, OSError, TimeoutError)
# Channels that people write in: text, announcements, forums.
_WRITTEN_IN = frozenset({0, 5, 15})
# Codes of closed connections (https://discord.com/developers/docs/topics/opcodes-and-status-codes).
_FATAL_CODES = {4004: ConfigError(BAD_TOKEN), 4010: ConfigError(MORE_SHARDS), 4011: ConfigError(MORE_SHARDS)}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordConnection:
    """A bot that can post once it has logged in; a worker doesn't need more. A closed one can't be opened again."""

    client: FootnoteClient | ShardedFootnoteClient
    token: SecretStr
    platform: DiscordPlatform
    settings: DiscordConfig
    bindings: Bindings

    async def log_in(self) -> None:
        """Raises as `log_in` below."""
        await log_in(self.client, self.token.get_secret_value())

    async def close(self) -> None:
        await self.platform.close()
        await close_client(self.client)

    def names(self) -> dict[str, str] | None:
        """Return the names of the bot's servers by id; None until it is connected."""
        return {str(guild.id): guild.name for guild in self.client.guilds} if self.client.is_ready() else None

    def gates(self, settings: SettingsRepository) -> tuple[Gate, ...]:
        """Return the gates of its messages, in order."""
        return discord_gates(settings, self.client, self.bindings, self.settings)

    async def listen(self, parts: PlatformParts) -> None:
        """Receive events until cancelled. Raises as `stay_connected` does."""
        settings = self.settings
        rules = LibraryRules(
            roles=frozenset(settings.library_roles),
            channels=frozenset(settings.library_channels),
            reviewers=frozenset(settings.review_roles),
        )
        self.client.attach(
            parts, self.bindings, platform=self.platform, catch_up_hours=settings.catch_up_hours, rules=rules
        )
        try:
            await self.client.offer_commands()
        except FootnoteError as error:  # the commands of the last start still work
            _log.warning("The commands were not updated: %s", error)
        try:
            await stay_connected(self.client)
        finally:
            await self.client.flow.close()


def build_client(settings: DiscordConfig) -> FootnoteClient | ShardedFootnoteClient:
    """Return a client for as many connections as configured; it doesn't connect yet."""
    _disable_voice_warnings()
    return FootnoteClient() if settings.shards == 1 else ShardedFootnoteClient(settings.shards or None)


async def log_in(client: discord.Client, token: str) -> None:
    """Raises ConfigError for a token that Discord refuses, PlatformError if Discord can't be reached."""
    try:
        await client.login(token)
    except discord.LoginFailure as error:
        raise ConfigError(BAD_TOKEN) from error
    except _UNREACHABLE as error:
        raise _to_unreachable(error) from error


async def stay_connected(client: discord.Client) -> None:
    """Connect, and reconnect, until cancelled. Raises ConfigError or PlatformError if that can't succeed."""
    try:
        await client.connect()
    except discord.PrivilegedIntentsRequired as error:
        raise ConfigError(NO_MESSAGE_CONTENT) from error
    except discord.ConnectionClosed as error:
        raise _FATAL_CODES.get(error.code) or PlatformError(
            f"Discord closed the connection for good (code {error.code}). Update Footnote, and start it again."
        ) from error
    except _UNREACHABLE as error:
        raise _to_unreachable(error) from error


async def close_client(client: discord.Client) -> None:
    try:
        async with asyncio.timeout(GOODBYE_SECONDS):
            await client.close()
    except TimeoutError:
        _log.warning("Discord did not confirm the end of the connection within %g s", GOODBYE_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotAccount:
    """The bot as Discord knows it."""

    id: int  # of the application
    name: str
    has_message_content: bool
    servers: Mapping[str, str]  # id -> name, by name


async def look_up(token: str, *, with_servers: bool = True) -> BotAccount:
    """Return the bot of a token. Raises as `log_in` does."""
    _disable_voice_warnings()
    client = discord.Client(intents=discord.Intents(guilds=True))  # it warns without guilds
    try:
        await log_in(client, token)
        application = await client.application_info()
        servers = [(guild.name, str(guild.id)) async for guild in client.fetch_guilds()] if with_servers else []
    except discord.HTTPException as error:
        raise PlatformError(f"Discord didn't describe the bot ({error.status}). Try again.") from error
    except _UNREACHABLE as error:
        raise _to_unreachable(error) from error
    finally:
        await client.close()
    return BotAccount(
        id=application.id,
        name=application.name,
        has_message_content=has_message_content(application.flags),
        servers={id: name for name, id in sorted(servers)},
    )


async def list_places(token: str, servers: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the channels and the roles of servers, id -> name, as they are ordered there. Raises as `log_in` does."""
    client = discord.Client(intents=discord.Intents(guilds=True))
    channels: dict[str, str] = {}
    roles: dict[str, str] = {}
    try:
        await log_in(client, token)
        for server in servers:
            for channel in await client.http.get_all_guild_channels(server):
                if channel["type"] in _WRITTEN_IN:
                    channels[str(channel["id"])] = f"#{channel['name']}"
            for role in await client.http.get_roles(server):
                if str(role["id"]) != server and not role["managed"]:  # @everyone, and the roles of bots
                    roles[str(role["id"])] = f"@{role['name']}"
    except _UNREACHABLE as error:
        raise _to_unreachable(error) from error
    finally:
        await client.close()
    return channels, roles


async def describe(token: str) -> str:
    """Return the bot's name and the link that invites it, for `footnote doctor`. Raises as `log_in` does."""
    bot = await look_up(token, with_servers=False)
    if not bot.has_message_content:
        raise ConfigError(NO_MESSAGE_CONTENT)
    return f"{bot.name} is ready; invite it with {invite_link(bot.id)}"


def invite_link(application_id: int) -> str:
    """Return the address of Discord's page that adds the bot to a server, with the permissions it needs."""
    return discord.utils.oauth_url(application_id, permissions=PERMISSIONS, scopes=SCOPES)


def has_message_content(flags: discord.ApplicationFlags) -> bool:
    """Return whether message content is on in the portal, for a small bot or an approved large one."""
    return flags.gateway_message_content or flags.gateway_message_content_limited


def _disable_voice_warnings() -> None:
    """The bot never uses voice, so a missing voice library is no reason to warn."""
    discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False


def _to_unreachable(error: Exception) -> PlatformError:
    return PlatformError(
        f"Discord can't be reached ({type(error).__name__}). Check this machine's network, and start again."
    )
