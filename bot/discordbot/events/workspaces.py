"""The workspace of a server or a message."""

from datetime import datetime

import discord

from bot.discordbot.delivery.errors import READ, translated_errors
from bot.discordbot.events.translate import PLATFORM
from core.access.bindings import Bindings
from core.errors import BadInput, FootnoteError, NotFound

MAX_GUILDS = 20  # servers that are asked for a person's membership; more would take too long


class Workspaces:
    """Finds exactly one workspace, and never guesses."""

    def __init__(self, client: discord.Client, bindings: Bindings) -> None:
        self._client = client
        self._bindings = bindings

    def of_guild(self, guild_id: int) -> str:
        return self._bindings.workspace_of(PLATFORM, str(guild_id))

    def changed_at(self, guild_id: int) -> datetime | None:
        """Return when the server got its workspace, which knows none of its earlier messages; None: always."""
        return self._bindings.changed_at(PLATFORM, str(guild_id))

    def names(self) -> list[str]:
        """Return the workspaces of all servers that the bot is in."""
        return [*dict.fromkeys(self.of_guild(guild.id) for guild in self._client.guilds)]

    async def of_message(self, message: discord.Message) -> str:
        """Return a message's workspace. Raises BadInput as `of_person` does for direct messages."""
        if message.guild is not None:
            return self.of_guild(message.guild.id)
        return await self.of_person(message.author.id)

    async def of_person(self, person: int) -> str:
        """Return the only workspace that a person shares with the bot. Raises BadInput if there isn't exactly one."""
        guilds = list(self._client.guilds)
        if len(guilds) > MAX_GUILDS:
            raise BadInput("I'm on too many servers to find yours. Ask there: use /ask with “private” turned on.")
        shared = [self.of_guild(guild.id) for guild in guilds if await _is_member(guild, person)]
        found = list(dict.fromkeys(shared))
        if len(found) == 1:
            return found[0]
        if not found:
            raise BadInput("We don't share a server, so I have no documents that I could read for you.")
        raise BadInput("We share more than one server. Ask in the one you mean: use /ask with “private” turned on.")


async def _is_member(guild: discord.Guild, person: int) -> bool:
    if guild.get_member(person) is not None:
        return True
    try:
        with translated_errors(READ):
            await guild.fetch_member(person)
    except NotFound:
        return False
    except FootnoteError as error:
        raise BadInput(f"I can't see whether you belong to “{guild.name}”. Try again in a moment.") from error
    return True
