"""Runs the real `footnote serve` against a Discord on loopback, and tells what people see there."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import discord
from simcord.backend.models import Message
from simcord.builders import ChannelHandle, GuildHandle

from tests.discord_server import TOKEN, DiscordServer, Person, text_of
from tests.discord_server.transcript import walk
from tests.e2e.platform_service import QUESTION, PlatformService

ACK_SECONDS = 30.0  # Discord's are 3: how fast the bot is, other tests measure
FINAL = "👍"  # a button that only whole answers have


class DiscordService(PlatformService):
    """`server` is its Discord."""

    def __init__(self, server: DiscordServer, data: Path, folder: Path) -> None:
        super().__init__(server, data, folder)
        self.server = server
        self._workspaces: dict[str, str] = {}

    def join(self, name: str, workspace: str, **options: Any) -> GuildHandle:
        """A new guild whose documents are those of a workspace; before the start."""
        guild = self.server.world.create_guild(name, **options)
        self._workspaces[str(guild.id)] = workspace
        return guild

    def _environment(self) -> Mapping[str, str]:
        return {"DISCORD_TOKEN": TOKEN}

    def _config_lines(self) -> Sequence[str]:
        return ["[discord.workspaces]", *(f'{guild} = "{workspace}"' for guild, workspace in self._workspaces.items())]

    async def start(self) -> None:
        """Until it hears what is said, and has begun to read what it missed."""
        connections = self.connections
        self.process.start()
        await self.until(lambda: self.connections > connections or not self.process.running, "a connection to Discord")
        assert self.process.running, self.process.printed

    @property
    def connections(self) -> int:
        """How often it got ready to hear."""
        return self.process.printed.count("Connected to Discord as")

    # ------------------------------------------------------------------ what people see

    def finals(self, place: ChannelHandle) -> list[Message]:
        """The whole answers in a place, oldest first."""
        return [message for message in self.server.answers(place) if FINAL in buttons(message)]

    async def answered(self, place: ChannelHandle, count: int = 1) -> list[str]:
        """What the bot's answers in a place say, when there are so many and all of its posts there are answers."""

        def is_done() -> bool:
            finals = self.finals(place)
            return len(finals) >= count and finals == self.server.answers(place)

        await self.until(is_done, f"{count} answers in {place.name}, and nothing else")
        return [text_of(message) for message in self.finals(place)]

    async def thread_on(self, channel: ChannelHandle, message_id: int) -> ChannelHandle:
        """The thread that a message got."""
        await self.until(lambda: self.find_thread(channel, message_id) is not None, "a thread on the message")
        found = self.find_thread(channel, message_id)
        assert found is not None
        return found

    async def ask(self, person: Person, channel: ChannelHandle, question: str = QUESTION) -> ChannelHandle:
        """Mentions the bot in a channel; gives the thread, when it is answered there."""
        asked = await person.mention(channel, question)
        thread = await self.thread_on(channel, asked.id)
        await self.answered(thread)
        return thread

    def find_thread(self, channel: ChannelHandle, message_id: int) -> ChannelHandle | None:
        return next((thread for thread in channel.threads if thread.id == message_id), None)

    async def told(self, place: ChannelHandle, words: str) -> str:
        """The first of the bot's posts in a place that has these words, when there is one."""

        def find() -> str | None:
            return next((said for said in map(text_of, self.server.answers(place)) if words in said), None)

        await self.until(find, f"a post with {words!r}")
        return find() or ""


def history(place: ChannelHandle) -> list[discord.Message]:
    """The messages of a place, as something that people can click on."""
    return place.history()


def buttons(message: Message) -> Mapping[str, str]:
    """Label -> custom id."""
    found = [one for one in walk(message.components) if one.get("custom_id")]
    return {str(one.get("label") or ""): str(one["custom_id"]) for one in found}
