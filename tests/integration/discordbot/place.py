"""Footnote on an in-process Discord: the real client, inbox, worker and answer service over the in-memory twins."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import discord
import simcord
from simcord.builders import ChannelHandle
from simcord.env import Env

from bot.discordbot.client import FootnoteClient
from bot.discordbot.parts import DiscordParts
from core.answering import AnswerService, Reading
from core.commands import Commands, ServiceQuestions
from core.context import FullHistoryCapped
from core.conversations import Conversations
from core.domain.answer import Citation
from core.domain.chat import ChatResponse, ToolInvocation
from core.domain.conversation import ThreadAddress
from core.feedback import Feedbacks
from core.forgetting import Forgetting
from core.inbox import Inbox, platform_gates
from core.jobs import Jobs
from core.limits import Budget
from core.preparing import PreparedAnswers
from core.providers.scripted import Turn, calls, says
from core.strategies.tool_use import ToolUseStrategy
from core.tools.base import Toolbox
from core.worker import Worker
from storage.memory.conversations import MemoryConversationRepository
from storage.memory.feedback import MemoryFeedbackRepository
from storage.memory.inbox import MemoryInboxStore
from storage.memory.jobs import MemoryJobRepository
from tests.fakes import RealClock
from tests.unit.bot.webchat.chat_place import HeldProvider
from tests.unit.core.shelf import Shelf

KEY = "The key hangs under the stairs."
ANSWER = says("The key hangs under the stairs [1].")
PATIENCE_SECONDS = 15.0
LOOK_SECONDS = 0.01


def search(id: str = "t1") -> ChatResponse:
    return calls(ToolInvocation(id=id, name="search", arguments={"query": "where is the key"}))


class House:
    """A server with a channel, and two people in it."""

    def __init__(self, env: Env) -> None:
        self.env = env
        self.guild = env.create_guild(name="House")
        self.channel = self.guild.create_text_channel("general")
        self.ada = self.guild.add_member(env.create_user("ada"))
        self.ben = self.guild.add_member(env.create_user("ben"))

    @property
    def bot(self) -> str:
        return f"<@{self.env.bot.user.id}>"

    @property
    def thread(self) -> ChannelHandle:
        """The newest thread of the channel."""
        return self.channel.threads[-1]

    async def answered(self, place: ChannelHandle | None = None, count: int = 1) -> list[discord.Message]:
        """The bot's messages in a place (the newest thread), when so many of them are final answers."""

        def ours() -> list[discord.Message]:
            there = place or (self.thread if self.channel.threads else None)
            if there is None:
                return []
            return [item for item in there.history() if item.author.id == self.env.bot.user.id and item.components]

        await until(lambda: sum("Helpful" in buttons(item) or "[1]" in texts(item) for item in ours()) >= count)
        return ours()


@dataclass
class DiscordPlace:
    """What is stored outlives `open`: opening again is another process on the same server."""

    script: tuple[Turn, ...] = ()
    clock: RealClock = field(default_factory=RealClock)
    shelf: Shelf = field(default_factory=Shelf)

    def __post_init__(self) -> None:
        self.conversation_store = MemoryConversationRepository()
        self.job_store = MemoryJobRepository()
        self.entries = MemoryInboxStore(self.clock)
        self.settings = self.shelf.settings
        self.conversations = Conversations(self.conversation_store, self.clock)
        self.feedback_store = MemoryFeedbackRepository(self.conversation_store)
        self.provider = HeldProvider(self.script)

    def build(self) -> FootnoteClient:
        """A new process: another client, platform and worker."""
        self.client = FootnoteClient()
        answers = AnswerService(
            corpus=self.shelf.corpus,
            library=self.shelf.library,
            conversations=self.conversations,
            jobs=self.job_store,
            context=FullHistoryCapped(self.shelf.corpus),
            strategy=lambda _: ToolUseStrategy(self.provider, Budget(steps=2), self.clock),
            toolbox=self._toolbox,
            clock=self.clock,
            access=self.shelf.access,
        )
        platforms: dict = {}
        readers: dict = {}
        prepared = PreparedAnswers(
            answers, readers, conversations=self.conversations, inbox=self.entries, settings=self.settings
        )
        self.worker = Worker(self.entries, prepared, platforms, self.clock, pause_scale=0.01)
        self.inbox = Inbox(self.entries, platform_gates(self.settings, self.clock), self.clock, self.worker.wake)
        jobs = Jobs(self.job_store, self.conversation_store, lambda: answers, self.clock)
        commands = Commands(
            library=self.shelf.library,
            corpus=self.shelf.corpus,
            conversations=self.conversations,
            jobs=jobs,
            access=self.shelf.access,
            settings=self.settings,
            questions=ServiceQuestions(self.entries, self.worker.cancel),
        )
        platform = self.client.attach(
            DiscordParts(
                inbox=self.inbox,
                entries=self.entries,
                worker=self.worker,
                conversations=self.conversations,
                commands=commands,
                feedbacks=Feedbacks(self.feedback_store, self.conversations, self.clock),
                jobs=jobs,
                access=self.shelf.access,
                corpus=self.shelf.corpus,
                keeping=None,
                forgetting=Forgetting(inbox=self.entries, conversations=self.conversations, stop=self.worker.withdraw),
                clock=self.clock,
                link=_link,
                workspace_of=lambda guild: "local",
            )
        )
        platforms["discord"] = readers["discord"] = platform
        return self.client

    @asynccontextmanager
    async def open(self) -> AsyncIterator["House"]:
        """A server with two people, and the bot at work in it."""
        async with simcord.run(self.build(), settle_timeout=20) as env:
            self.env = env
            working = asyncio.create_task(self.worker.run())
            yield House(env)
            await self.worker.stop()
            await working
            env.raise_errors()

    async def restart(self) -> None:
        """The process ends in the middle of all it does, and another one begins."""
        await self.worker.stop()
        await self.env.restart_bot(self.build())
        self._working = asyncio.create_task(self.worker.run())

    def _toolbox(self, reading: Reading) -> Toolbox:
        return self.shelf.toolbox(scope=reading.scope)


async def until(condition: Callable[[], object]) -> None:
    """Wait for something on Discord to become true; nobody tells when it does."""
    for _ in range(int(PATIENCE_SECONDS / LOOK_SECONDS)):
        if condition():
            return
        await asyncio.sleep(LOOK_SECONDS)
    raise AssertionError("it did not become true in time")


def texts(message: discord.Message) -> str:
    """All that a message of components shows, top to bottom."""
    return "\n".join(_texts(message.components))


def buttons(message: discord.Message) -> dict[str, str]:
    """Label -> custom id of a message's buttons."""
    rows = [item for item in message.components if isinstance(item, discord.ActionRow)]
    return {
        item.label or "": item.custom_id or ""
        for row in rows
        for item in row.children
        if isinstance(item, discord.Button)
    }


def _texts(components: Iterable[object]) -> Iterator[str]:
    for component in components:
        if isinstance(component, discord.TextDisplay):
            yield component.content
        yield from _texts(getattr(component, "children", ()))


def _link(citation: Citation, address: ThreadAddress) -> str | None:
    return f"https://footnote.example.org/s/{citation.number}"
