"""Footnote on an in-process Discord: the real client, inbox, worker and answer service over the in-memory twins."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import simcord
from simcord.env import Env

from bot.discordbot.client import Events, FootnoteClient
from bot.discordbot.parts import DiscordParts
from bot.discordbot.translate import to_private
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
from core.keeping import KeptAnswers
from core.limits import Budget
from core.noting import NotedAnswers
from core.preparing import PreparedAnswers
from core.private_answers import PrivateAnswers
from core.providers.scripted import Turn, calls, says
from core.staleness import Staleness
from core.strategies.tool_use import ToolUseStrategy
from core.tools.base import Toolbox
from core.worker import Worker
from storage.memory.conversations import MemoryConversationRepository
from storage.memory.feedback import MemoryFeedbackRepository
from storage.memory.inbox import MemoryInboxStore
from storage.memory.jobs import MemoryJobRepository
from storage.memory.stale import MemoryStaleRepository
from tests.integration.discordbot.house import House
from tests.integration.platform_files import Files
from tests.unit.bot.webchat.chat_place import HeldProvider
from tests.unit.core.shelf import Shelf

KEY = "The key hangs under the stairs."
ANSWER = says("The key hangs under the stairs [1].")
EDIT_SECONDS = 0.02  # between the edits of a draft, here


def search(id: str = "t1", query: str = "where is the key") -> ChatResponse:
    return calls(ToolInvocation(id=id, name="search", arguments={"query": query}))


def turns(count: int) -> tuple[Turn, ...]:
    """The same question, looked up and answered so many times."""
    return tuple(turn for number in range(count) for turn in (search(f"t{number}"), ANSWER))


class PlaceClock:
    """Discord's time: it passes as real time does, and where tests move it on."""

    def __init__(self) -> None:
        self.env: Env | None = None
        self._began = time.perf_counter()

    def now(self) -> datetime:
        discords = self.env.now() if self.env is not None else datetime(2026, 1, 1, tzinfo=UTC)
        return discords + timedelta(seconds=time.perf_counter() - self._began)

    def monotonic(self) -> float:
        return time.perf_counter()


@dataclass
class DiscordPlace:
    """What is stored outlives `open`: restarting is another process on the same server."""

    script: tuple[Turn, ...] = ()
    folder: Path | None = None  # where answers are kept; None: nowhere
    shelf: Shelf = field(default_factory=Shelf)
    workspaces: dict[int, str] = field(default_factory=dict)  # of guilds that are not the first one
    may_fail: bool = False  # errors inside the bot are what the test is about
    before_ready: Callable[[Events], Awaitable[None]] | None = None  # what comes before the session is ready
    client_of: Callable[[], Events] = FootnoteClient
    pause: Callable[[float], Awaitable[None]] = lambda seconds: asyncio.sleep(EDIT_SECONDS)

    def __post_init__(self) -> None:
        self.clock = PlaceClock()
        self.files = Files(self.shelf.corpus, self.shelf.index)
        self.conversation_store = MemoryConversationRepository()
        self.attachments = self.files.attachments(self.conversation_store)
        self.job_store = MemoryJobRepository()
        self.entries = MemoryInboxStore(self.clock)
        self.settings = self.shelf.settings
        self.conversations = Conversations(self.conversation_store, self.clock, self.attachments.forget)
        self.staleness = Staleness(
            MemoryStaleRepository(self.conversation_store, self.shelf.corpus),
            conversations=self.conversation_store,
            inbox=self.entries,
            settings=self.settings,
            clock=self.clock,
            noted={"discord"},
        )
        self.feedback_store = MemoryFeedbackRepository(self.conversation_store)
        self.says(*self.script)

    def says(self, *script: Turn) -> None:
        """What the model says from now on, a turn for each of its requests."""
        self.provider = HeldProvider(script)

    def build(self) -> Events:
        """A new process: another client, platform and worker."""
        self.client = self.client_of()
        if self.before_ready is not None:
            self._let_in_first(self.before_ready)
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
            answers,
            readers,
            conversations=self.conversations,
            inbox=self.entries,
            settings=self.settings,
            clock=self.clock,
            attachments=self.attachments,
        )
        private = PrivateAnswers(
            prepared,
            {"discord": to_private},
            access=self.shelf.access,
            library=self.shelf.library,
            inbox=self.entries,
        )
        self.worker = Worker(
            self.entries, NotedAnswers(private, self.staleness), platforms, self.clock, pause_scale=0.01
        )
        parts = self._parts(Jobs(self.job_store, self.conversation_store, lambda: answers, self.clock))
        platforms["discord"] = readers["discord"] = self.client.attach(parts)
        return self.client

    @asynccontextmanager
    async def open(self) -> AsyncIterator[House]:
        """A server with two people, and the bot at work in it."""
        async with simcord.run(self.build(), settle_timeout=20, check_errors=not self.may_fail) as env:
            self.env = self.clock.env = env
            await self._work()
            try:
                yield House(env)
            finally:
                await self.worker.stop()
                await self._working
            if not self.may_fail:
                env.raise_errors()

    async def restart(self) -> None:
        """The process ends in the middle of all it does, and another one begins."""
        await self.worker.stop()
        await self._working
        await self.env.restart_bot(self.build())
        await self._work()

    async def _work(self) -> None:
        self._working = asyncio.create_task(self.worker.run())
        await asyncio.sleep(0)  # it has begun: only then can it be stopped

    @asynccontextmanager
    async def asleep(self) -> AsyncIterator[None]:
        """Nothing that happens meanwhile reaches the bot; then it starts anew."""
        await self.env.settle()
        listening = self.env.backend.subscribers[:]
        self.env.backend.subscribers.clear()
        yield
        self.env.backend.subscribers.extend(listening)
        await self.restart()

    async def codes(self, workspace: str = "local") -> list[str]:
        """What was decided about each message, newest first."""
        return [entry.decision.code for entry in await self.entries.recent(workspace)]

    def _parts(self, jobs: Jobs) -> DiscordParts:
        inbox = Inbox(
            self.entries,
            platform_gates(self.settings, self.clock),
            self.clock,
            self.worker.wake,
            self.worker.withdraw,
        )
        kept = (
            KeptAnswers(corpus=self.shelf.corpus, ingest=self.files.ingest, folder=self.folder, clock=self.clock)
            if self.folder is not None
            else None
        )
        commands = Commands(
            library=self.shelf.library,
            corpus=self.shelf.corpus,
            conversations=self.conversations,
            jobs=jobs,
            access=self.shelf.access,
            settings=self.settings,
            questions=ServiceQuestions(self.entries, self.worker.cancel),
            kept=kept,
            facts=self.shelf.facts,
            staleness=self.staleness,
        )
        return DiscordParts(
            inbox=inbox,
            entries=self.entries,
            worker=self.worker,
            conversations=self.conversations,
            commands=commands,
            feedbacks=Feedbacks(self.feedback_store, self.conversations, self.clock),
            jobs=jobs,
            access=self.shelf.access,
            corpus=self.shelf.corpus,
            keeping=kept,
            forgetting=Forgetting(
                inbox=self.entries,
                conversations=self.conversations,
                stop=self.worker.withdraw,
                attachments=self.attachments,
            ),
            clock=self.clock,
            link=_link,
            workspace_of=lambda guild: self.workspaces.get(guild, "local"),
            pause=self.pause,
        )

    def _let_in_first(self, event: Callable[[Events], Awaitable[None]]) -> None:
        client, ready = self.client, self.client.on_ready

        async def on_ready() -> None:
            await event(client)
            await ready()

        client.on_ready = on_ready

    def _toolbox(self, reading: Reading) -> Toolbox:
        return self.shelf.toolbox(scope=reading.scope)


def _link(citation: Citation, address: ThreadAddress) -> str | None:
    return f"https://footnote.example.org/s/{citation.number}"
