"""The web application over stores in memory: a browser without a network."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace

import pytest
from aiohttp.test_utils import TestClient, TestServer

from bot.web.app import WebAddition, WebParts, build_web
from bot.web.links import Links
from core.access.bindings import Bindings
from core.access.scopes import Access
from core.domain.corpus import SearchScope
from core.domain.identity import Role
from core.domain.incoming import ThreadAddress
from core.features.additions import Additions
from core.features.uploads import Uploads
from core.features.workspaces import Workspaces
from core.knowledge.facts import Facts
from core.knowledge.library import Library
from core.ports.documents import FetchLink
from core.service.auto_answers import AutoAnswers
from core.service.commands.table import Commands
from core.service.jobs import Jobs
from core.work.conversations import Conversations
from storage.documents.page_images.pages import Pictures
from tests.entering import SAME_SITE, sign_in
from tests.fakes import ManualClock, WordIndex, never
from tests.stores import Stores

SECRET = "a secret for tests only, long enough"

Browser = TestClient
OpenBrowser = Callable[..., Awaitable[Browser]]


class NoWorker:
    cancel = staticmethod(never)


@dataclass
class Shelves:
    """The stores behind the pages, to be filled by a test."""

    clock: ManualClock = field(default_factory=ManualClock)
    stores: Stores = field(default_factory=Stores)
    index: WordIndex = field(default_factory=WordIndex)

    def __post_init__(self) -> None:
        self.corpus, self.conversations, self.jobs = self.stores.corpus, self.stores.conversations, self.stores.jobs
        self.settings, self.extracts = self.stores.settings, self.stores.extracts

    @property
    def facts(self) -> Facts:
        return Facts(extracts=self.extracts, corpus=self.corpus, clock=self.clock)

    @property
    def access(self) -> Access:
        return Access(self.corpus, self.settings)

    async def scope(self, thread: ThreadAddress | None, reader: str | None = None) -> SearchScope:
        return await self.access.scope("local", thread, reader=reader)

    def additions(self, uploads: Uploads, fetch: FetchLink = never) -> Additions:
        library = Library(
            corpus=self.corpus,
            index=self.index,
            conversations=self.conversations,
            delete_files=uploads.delete_files,
        )
        workspaces = Workspaces(self.corpus, Bindings(self.stores.teams, {}, {}, self.clock), "local", ())
        return Additions(self.stores.additions, uploads, library, self.access, workspaces, fetch)

    def parts(self) -> WebParts:
        library = Library(corpus=self.corpus, index=self.index, conversations=self.conversations)
        conversations = Conversations(self.conversations, self.clock)
        jobs = Jobs(self.jobs, self.conversations, self.clock)
        return WebParts(
            workspace="local",
            library=library,
            corpus=self.corpus,
            facts=self.facts,
            conversations=conversations,
            jobs=jobs,
            commands=Commands(
                library=library,
                corpus=self.corpus,
                conversations=conversations,
                jobs=jobs,
                access=self.access,
                settings=self.settings,
                auto_answers=AutoAnswers(self.stores.auto_answers, self.stores.settings, self.clock),
            ),
            clock=self.clock,
            page_images=Pictures(),
            scope=self.scope,
            worker=NoWorker(),
            ask_again=never,
            sessions=self.stores.sessions(self.clock),
            links=Links(secret_key=SECRET, clock=self.clock, days=180, public_url=None),
        )


async def read(browser: Browser, path: str, status: int = 200) -> str:
    response = await browser.get(path)
    text = await response.text()
    assert response.status == status, text
    assert "<script>alert" not in text
    return text


@pytest.fixture
def shelves() -> Shelves:
    return Shelves()


@pytest.fixture
async def browse(shelves: Shelves) -> AsyncIterator[OpenBrowser]:
    """Opens a browser of the owner on the application, or another's; keywords change the parts."""
    opened: list[Browser] = []

    async def open_browser(*additions: WebAddition, role: Role | None = Role.OWNER, **changes: object) -> Browser:
        server = TestServer(build_web(replace(shelves.parts(), **changes), additions))
        client = TestClient(server, headers=SAME_SITE)
        await client.start_server()
        opened.append(client)
        if role is not None:
            await sign_in(client, role)
        return client

    yield open_browser
    for client in opened:
        await client.close()
