"""A chat over stores in memory: a real inbox, a real worker, a model that says what a test tells it to."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from time import monotonic

from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient, TestServer

from bot.web.app import WebAddition, WebParts, build_web
from bot.web.chat import add_chat
from bot.web.client import WebPlatform
from bot.web.events import EventHub
from bot.web.links import Links
from bot.web.pages.library import add_connection_pages
from bot.web.threads import ChatParts
from bot.web.translate import thread_address
from core.access.availability import Availability
from core.answering.pipeline import QuestionContext
from core.answering.run import RunObserver
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import ChatRequest, ToolInvocation
from core.domain.corpus import SearchScope
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.jobs import Job
from core.domain.replies import ChatResponse
from core.domain.service import InboxEntry
from core.features.connections import Connections
from core.features.feedback import Feedbacks
from core.features.staleness.stale_answers import Staleness
from core.serializers.objects import Json
from core.service.auto_answers import AutoAnswers
from core.service.commands.table import Commands
from core.service.commands.threads import RunningQuestions
from core.service.inbox import Inbox, platform_gates
from core.service.jobs import Jobs
from core.service.turns import Turns
from core.service.worker import Worker
from core.work.conversations import Conversations
from storage.documents.page_images.pages import Pictures
from tests.entering import SAME_SITE, sign_in
from tests.fakes import never
from tests.pipeline import build_answers
from tests.scripted import ScriptedProvider, Turn, calls, says
from tests.turn_model import TURN_MODEL
from tests.unit.core.library_builder import Shelf, by_rule

WAIT_SECONDS = 60.0
KEY = "The key hangs under the stairs."
ANSWER = says("The key hangs under the stairs [1].")


def search(id: str = "t1") -> ChatResponse:
    return calls(ToolInvocation(id=id, name="search", arguments={"query": "where is the key"}))


class RealClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return monotonic()


class HeldProvider(ScriptedProvider):
    """Says a few words and waits in the turns `held` (counted from 0), each until it is let go."""

    def __init__(self, script: tuple[Turn, ...]) -> None:
        super().__init__(script)
        self.held: set[int] = set()
        self.go = asyncio.Event()
        self.said = "I have looked at the keys of the house. " * 5  # longer than what is held back

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        if len(self.requests) not in self.held:
            return await super().complete(request, on_text)
        if on_text is not None:
            on_text(self.said)
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.requests.append(request)
            raise
        self.go.clear()
        return await super().complete(request)


@dataclass
class ChatPlace:
    script: tuple[Turn, ...] = ()
    clock: RealClock = field(default_factory=RealClock)
    turns_clock: RealClock = field(default_factory=RealClock)
    shelf: Shelf = field(default_factory=Shelf)
    examples: tuple[str, ...] = ("Where is the key?",)

    def __post_init__(self) -> None:
        stores = self.shelf.stores
        self.conversation_store, self.job_store = stores.conversations, stores.jobs
        self.entries = stores.inbox(self.clock)
        self.conversations = Conversations(self.conversation_store, self.clock)
        self.provider = HeldProvider(self.script)
        self.staleness = Staleness(
            stores.stale,
            conversations=self.conversation_store,
            inbox=self.entries,
            settings=self.shelf.settings,
            clock=self.clock,
            noted={"web"},
        )
        self.availability = Availability(
            self.shelf.corpus, self.shelf.access, lambda: self.shelf.index, asked_later={"web"}
        )
        self.begin()

    def begin(self) -> None:
        """A new process over what is stored: another hub, platform and worker."""
        self.hub = EventHub()
        self.platform = WebPlatform(self.hub, self.conversations, self.clock)
        self.answers = build_answers(
            self.shelf,
            clock=self.clock,
            provider=self.provider,
            conversations=self.conversations,
            inbox_store=self.entries,
            staleness=self.staleness,
            availability=self.availability,
            pipeline={"toolbox": self._toolbox},
        )
        self.worker = Worker(self.entries, self.answers, {"web": self.platform}, self.clock, pause_scale=0.01)
        settings, wake = self.shelf.settings, self.worker.wake
        turns = Turns(settings, self.entries, self.turns_clock, TURN_MODEL, self.evidence)
        self.inbox = Inbox(self.entries, platform_gates(settings), self.clock, wake, self.worker.withdraw, turns=turns)

    async def evidence(self, incoming: IncomingMessage, text: str) -> float:
        """How well the library covers a question: by a word, as no model is loaded here."""
        return 0.9 if "key" in text.casefold() else 0.0

    def parts(self) -> WebParts:
        jobs = Jobs(self.job_store, self.conversation_store, self.clock)
        return WebParts(
            workspace="local",
            library=self.shelf.library,
            corpus=self.shelf.corpus,
            facts=self.shelf.facts,
            conversations=self.conversations,
            jobs=jobs,
            commands=Commands(
                library=self.shelf.library,
                corpus=self.shelf.corpus,
                conversations=self.conversations,
                jobs=jobs,
                access=self.shelf.access,
                settings=self.shelf.settings,
                auto_answers=AutoAnswers(self.shelf.stores.auto_answers, self.shelf.stores.settings, self.clock),
                facts=self.shelf.facts,
                staleness=self.staleness,
                recaps=by_rule(self.shelf),
                questions=RunningQuestions(self.entries, self.worker.cancel),
                people=self.shelf.stores.people,
            ),
            clock=self.clock,
            page_images=Pictures(),
            scope=self._scope,
            sessions=self.shelf.stores.sessions(self.clock),
            links=Links(secret_key="a secret for tests only, long enough", clock=self.clock, days=180, public_url=None),
            worker=self.worker,
            ask_again=never,
        )

    @asynccontextmanager
    async def open(self, *, works: bool = True, port: int | None = None, **changes: object) -> AsyncIterator["Visitor"]:
        """The chat, served, and its owner; with `works`, questions are answered; `changes` are of the parts."""
        chat = ChatParts(
            hub=self.hub,
            platform=self.platform,
            inbox=self.inbox,
            entries=self.entries,
            feedbacks=Feedbacks(self.shelf.stores.feedback, self.conversations, self.clock),
            examples=self.examples,
            suggestions=self.shelf.suggestions,
        )
        connections = Connections(
            extracts=self.shelf.extracts,
            corpus=self.shelf.corpus,
            names=self.shelf.library.names,
            cited=self.shelf.stores.cited,
            conversations=self.shelf.conversations,
        )
        own: tuple[WebAddition, ...] = (
            partial(add_chat, chat=chat),
            partial(add_connection_pages, connections=connections),
        )
        app = build_web(replace(self.parts(), **changes), own)
        working = asyncio.create_task(self.worker.run()) if works else None
        async with TestServer(app, port=port) as server, TestClient(server, headers=SAME_SITE) as client:
            visitor = Visitor(client)
            await sign_in(client)
            await visitor.name("Ada")
            yield visitor
        if working is not None:
            await self.worker.stop()
            await working

    def address_of(self, thread: str) -> ThreadAddress:
        return thread_address("local", "general", thread)

    async def jobs_of(self) -> list[list[Job]]:
        return await Jobs(self.job_store, self.conversation_store, self.clock).recent("local", 10)

    async def entries_of(self, thread: str) -> list[InboxEntry]:
        """The entries of a thread in #general, newest first."""
        return await self.entries.recent("local", address=self.address_of(thread))

    async def _scope(self, thread: ThreadAddress | None, reader: str | None = None) -> SearchScope:
        return await self.shelf.access.scope("local", thread, reader=reader)

    def _toolbox(self, reading: QuestionContext, observer: RunObserver) -> Toolbox:
        return self.shelf.toolbox(reading.offer, observer=observer, scope=reading.scope)


@dataclass
class Visitor:
    """Somebody at the chat page."""

    client: TestClient
    sent: int = 0

    async def name(self, name: str) -> None:
        assert (await self.client.post("/chat/person", json={"name": name})).status == 200

    async def post(self, text: str, thread: str = "", *, channel: str = "general", key: str = "") -> ClientResponse:
        self.sent += 1
        body = {"channel": channel, "thread": thread, "text": text, "key": key or f"k{self.sent}"}
        response = await self.client.post("/chat/messages", json=body)
        await response.read()
        return response

    async def send(self, text: str, thread: str = "", **fields: str) -> Json:
        response = await self.post(text, thread, **fields)
        assert response.status == 200, await response.text()
        return await response.json()

    async def show(self, thread: str = "-", channel: str = "general") -> Json:
        response = await self.client.get(f"/chat/threads/{channel}/{thread}")
        assert response.status == 200, await response.text()
        return await response.json()

    async def answered(self, thread: str, count: int = 1, channel: str = "general") -> list[Json]:
        """The thread's messages, when it has so many answers and nothing waits."""
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                state = await self.show(thread, channel)
                answers = [item for item in state["messages"] if item["role"] == "assistant"]
                if len(answers) >= count and not state["waiting"]:
                    return state["messages"]
                await asyncio.sleep(0.01)

    async def writing(self, thread: str) -> Json:
        """The thread's question that waits, when its answer has begun to show."""
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                for item in (await self.show(thread))["waiting"]:
                    if item["live"] and item["live"]["text"]:
                        return item
                await asyncio.sleep(0.01)

    async def events(self, thread: str, until: str, after: str = "") -> list[tuple[str, str, Json]]:
        """(id, kind, data) of a thread's events up to the first of one kind."""
        found: list[tuple[str, str, Json]] = []
        path = f"/chat/threads/general/{thread}/events"
        async with (
            asyncio.timeout(WAIT_SECONDS),
            self.client.get(path, params={"after": after} if after else {}) as response,
        ):
            assert response.content_type == "text/event-stream"
            fields: dict[str, str] = {}
            async for line in response.content:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    fields[name] = value
                elif "event" in fields:
                    found.append((fields["id"], fields["event"], json.loads(fields["data"])))
                    if fields["event"] == until:
                        break
                    fields = {}
        return found
