"""Which workspace a message belongs to: its server's; of a direct message, that of the server both are in."""

from collections.abc import Callable

import discord

from bot.discordbot.errors import READ, understood
from core.errors import BadInput, FootnoteError, NotFound

# Servers that are asked whether somebody is a member; with more, nobody could wait for it.
MOST_ASKED = 20


class Workspaces:
    """Strictly one workspace for a message; none is guessed."""

    def __init__(self, client: discord.Client, workspace_of: Callable[[int], str]) -> None:
        self._client = client
        self._workspace_of = workspace_of

    def names(self) -> list[str]:
        """Of all servers the bot is in, each once."""
        return [*dict.fromkeys(self._workspace_of(guild.id) for guild in self._client.guilds)]

    async def of_message(self, message: discord.Message) -> str:
        """BadInput for a direct message that could be about several servers, or about none."""
        if message.guild is not None:
            return self._workspace_of(message.guild.id)
        return await self.of_person(message.author.id)

    async def of_person(self, person: int) -> str:
        """The only workspace whose servers a person and the bot are both in; asked anew each time."""
        guilds = list(self._client.guilds)
        if len(guilds) > MOST_ASKED:
            raise BadInput("I am on too many servers to find yours: ask me there, with /ask and “private” switched on.")
        shared = [self._workspace_of(guild.id) for guild in guilds if await _is_member(guild, person)]
        found = list(dict.fromkeys(shared))
        if len(found) == 1:
            return found[0]
        if not found:
            raise BadInput("We share no server, so there are no documents that I could read for you.")
        raise BadInput("We share several servers: ask me there, with /ask and “private” switched on.")


async def _is_member(guild: discord.Guild, person: int) -> bool:
    if guild.get_member(person) is not None:
        return True
    try:
        with understood(READ):
            await guild.fetch_member(person)
    except NotFound:
        return False
    except FootnoteError as error:
        raise BadInput(f"I can't see whether you belong to “{guild.name}”: try again in a moment.") from error
    return True
