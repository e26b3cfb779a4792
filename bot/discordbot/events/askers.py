"""The people and channels of Discord that may ask."""

import logging

import discord

from bot.config.sections import DiscordConfig
from bot.discordbot.delivery.errors import READ, translated_errors
from bot.discordbot.events.translate import PLATFORM
from core.access.bindings import Bindings
from core.domain.incoming import IncomingMessage
from core.errors import FootnoteError, NotFound
from core.ports.service import SettingsRepository
from core.service.inbox import Gate, askers_gate, platform_gates

_log = logging.getLogger(__name__)


def discord_gates(
    settings: SettingsRepository, client: discord.Client, bindings: Bindings, config: DiscordConfig
) -> tuple[Gate, ...]:
    """Return the gates of every platform, with [discord] ask_channels and ask_roles."""
    roles = frozenset(config.ask_roles)

    async def has_role(incoming: IncomingMessage) -> bool:
        """Look the author up in the channel's server, or for a direct message in each server of the workspace."""
        channel, of = client.get_channel(int(incoming.address.channel)), incoming.address.workspace
        there = getattr(channel, "guild", None)
        guilds = [there] if there else [g for g in client.guilds if bindings.workspace_of(PLATFORM, str(g.id)) == of]
        for guild in guilds:
            if roles & await _roles_of(guild, int(incoming.author)):
                return True
        return False

    return platform_gates(settings, askers=askers_gate(config.ask_channels, has_role if roles else None))


async def _roles_of(guild: discord.Guild, person: int) -> frozenset[str]:
    """Return the ids of a person's roles; none if the person isn't a member, or can't be looked up."""
    try:
        with translated_errors(READ):
            member = await guild.fetch_member(person)
    except NotFound:
        return frozenset()
    except FootnoteError as error:  # access fails closed
        _log.warning("The roles of %s in %s can't be looked up: %s", person, guild.name, error)
        return frozenset()
    return frozenset(str(role.id) for role in member.roles)
