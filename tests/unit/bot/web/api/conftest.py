"""The API over stores in memory and a model that searches, then answers with a footnote."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from bot.runtime.metrics import MeteredRun, Metrics
from bot.web.api.auth import ApiContext
from bot.web.api.platform import ApiPlatform
from bot.web.api.routes import add_api
from bot.web.app import build_web
from bot.web.links import Links
from bot.web.pages.library import add_connection_pages
from bot.web.parts import WebParts
from core.access.identity import Tokens
from core.answering.pipeline import Pipeline, QuestionContext
from core.answering.run import Budget, RunObserver
from core.answering.strategies.choosing import Strategies
from core.answering.strategies.tool_use import ToolUseStrategy
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import Capabilities, ChatRequest, ToolInvocation
from core.domain.identity import Role
from core.domain.replies import ChatResponse
from core.domain.service import InboxEntry
from core.errors import BadInput
from core.features.connections import Connections
from core.ports import ChatProvider
from core.service.auto_answers import AutoAnswers
from core.service.commands.table import Commands
from core.service.inbox import STANDARD_GATES, Inbox
from core.service.jobs import Jobs
from core.service.worker import Worker
from core.work.conversations import Conversations
from core.work.rate_limit import Rate, RateLimiter
from storage.database.repositories.spending import SqlSpendingStore
from storage.documents.page_images.pages import Pictures
from tests.entering import SAME_SITE, sign_in
from tests.fakes import ManualClock, never
from tests.pipeline import always, build_answers
from tests.scripted import calls, says
from tests.unit.core.library_builder import Shelf

WORKSPACE = "/api/v1/workspaces/local"
QUESTION = "Where is the key?"
MODEL = "house-1"
QUOTE = "The key hangs under the stairs."
TOKEN = "a token for tests only"


class SearchingProvider:
    """Searches once for each question, then quotes; while `hold` is clear it waits before it says anything."""

    name = "searching"
    capabilities = Capabilities()

    def __init__(self) -> None:
        self.asked = 0
        self.hold = asyncio.Event()
        self.hold.set()

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        await self.hold.wait()
        if request.messages[-1].tool_results:
            return says("The key hangs under the stairs [1].")
        self.asked += 1
        return calls(ToolInvocation(id=f"t{self.asked}", name="search", arguments={"query": "where is the key"}))

    async def close(self) -> None: ...


@dataclass
class Office:
    """A service in memory: library, inbox, worker and the API in front of them."""

    clock: ManualClock = field(default_factory=ManualClock)
    shelf: Shelf = field(default_factory=Shelf)
    provider: SearchingProvider = field(default_factory=SearchingProvider)
    platform: ApiPlatform = field(default_factory=ApiPlatform)
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        stores = self.shelf.stores
        self.conversation_store, self.job_store = stores.conversations, stores.jobs
        self.connections = Connections(
            extracts=self.shelf.extracts,
            corpus=self.shelf.corpus,
            names=self.shelf.library.names,
            cited=stores.cited,
            conversations=self.conversation_store,
        )
        self.tokens = Tokens(stores.identity, self.clock, "a key for tests only")
        self.store = stores.inbox(self.clock)
        self.conversations = Conversations(self.conversation_store, self.clock)
        answers = self.build_answers()
        self.worker = Worker(self.store, answers, {self.platform.name: self.platform}, self.clock)
        self.inbox = Inbox(self.store, STANDARD_GATES, self.clock, self.worker.wake)

    def build_answers(self) -> Pipeline:
        return build_answers(
            self.shelf,
            clock=self.clock,
            provider=self.provider,
            conversations=self.conversations,
            inbox_store=self.store,
            has_references=False,
            pipeline={
                "strategy": always(
                    lambda observer: ToolUseStrategy(self.provider, Budget(steps=2), self.clock, observer)
                ),
                "toolbox": self._toolbox,
                "observe": lambda: MeteredRun(self.metrics, None),
            },
        )

    def _toolbox(self, reading: QuestionContext, observer: RunObserver) -> Toolbox:
        limit = frozenset({reading.document.id}) if reading.document else frozenset()
        return self.shelf.toolbox(observer=observer, scope=reading.scope, focus=reading.focus, document_ids=limit)

    def parts(self) -> WebParts:
        library, corpus = self.shelf.library, self.shelf.corpus
        jobs = Jobs(self.job_store, self.conversation_store, self.clock)
        return WebParts(
            workspace="local",
            library=library,
            corpus=corpus,
            facts=self.shelf.facts,
            conversations=self.conversations,
            jobs=jobs,
            commands=Commands(
                library=library,
                corpus=corpus,
                conversations=self.conversations,
                jobs=jobs,
                access=self.shelf.access,
                settings=self.shelf.settings,
                auto_answers=AutoAnswers(self.shelf.stores.auto_answers, self.shelf.stores.settings, self.clock),
                facts=self.shelf.facts,
            ),
            clock=self.clock,
            page_images=Pictures(),
            scope=lambda thread, reader=None: self.shelf.access.scope("local", thread, reader=reader),
            sessions=self.shelf.stores.sessions(self.clock),
            links=Links(secret_key="a secret for tests only, long enough", clock=self.clock, days=180, public_url=None),
            worker=self.worker,
            ask_again=never,
            check_options=self._strategies().check,
        )

    def _strategies(self) -> Strategies:
        async def provider(workspace: str, model: str | None) -> ChatProvider:
            return self.provider

        async def check_model(workspace: str, model: str) -> None:
            if model != MODEL:
                raise BadInput(f"The house did not find the requested model: {model}.")

        budget = Budget(steps=2)
        return Strategies(
            provider=provider,
            configured="tool_use",
            facts=False,
            budget=budget,
            clock=self.clock,
            check_model=check_model,
        )

    def api(self, **changes: Any) -> ApiContext:
        rate = Rate(per_second=5, burst=20)
        api = ApiContext(
            inbox=self.inbox,
            store=self.store,
            spending=SqlSpendingStore(self.shelf.stores.database, self.clock),
            platform=self.platform,
            index=self.shelf.index,
            metrics=self.metrics,
            tokens=self.tokens,
            gate=RateLimiter(rate, self.clock),
            wait_seconds=10,
        )
        return replace(api, **changes)

    async def open_entries(self) -> list[InboxEntry]:
        return [entry for entry in await self.store.recent("local") if not entry.status.is_final]


OpenClient = Callable[..., Awaitable[TestClient]]


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    """Running, with one document of two pages."""
    office = Office()
    await office.shelf.add("house.md", f"# Keys\n\n{QUOTE}", "# Garden\n\nThe garden has a shed.", title="House")
    running = asyncio.create_task(office.worker.run())
    yield office
    await office.worker.stop()
    await running


@pytest.fixture
async def connect(office: Office) -> AsyncIterator[OpenClient]:
    """Opens a client of the API, signed in as the owner or another; keywords change its context."""
    async with AsyncExitStack() as stack:

        async def open_client(*, role: Role | None = Role.OWNER, **changes: Any) -> TestClient:
            api = office.api(**changes)
            additions = [partial(add_connection_pages, connections=office.connections), partial(add_api, api=api)]
            app = build_web(office.parts(), additions)
            client = await stack.enter_async_context(TestClient(TestServer(app), headers=SAME_SITE))
            if role is not None:
                await sign_in(client, role)
            return client

        yield open_client


@pytest.fixture
async def client(connect: OpenClient) -> TestClient:
    return await connect()


async def error_of(response: Any, status: int) -> tuple[str, str]:
    """(code, message) of an error answer, whose form is checked."""
    body = await response.json()
    assert response.status == status, body
    assert set(body) == {"error"} and set(body["error"]) == {"code", "message"}
    assert body["error"]["message"].endswith(".") and "\n" not in body["error"]["message"]
    return body["error"]["code"], body["error"]["message"]
