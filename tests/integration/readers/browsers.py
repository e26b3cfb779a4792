"""The pages of the web app and the API over a world, as people who signed in, visitors and programs open them."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

from aiohttp.test_utils import TestClient, TestServer

from bot.runtime.metrics import Metrics
from bot.web.api.auth import ApiContext
from bot.web.api.platform import ApiPlatform
from bot.web.api.routes import add_api
from bot.web.app import WebParts, build_web
from bot.web.links import Links
from bot.web.pages.library import add_connection_pages, add_statistics_page
from bot.web.security import session_cookie
from bot.wiring.parts import Parts
from core.access.identity import Tokens
from core.domain.conversation import Conversation, Message
from core.domain.corpus import SearchScope
from core.domain.identity import Role, TokenScope
from core.domain.incoming import ThreadAddress
from core.features.connections import Connections
from core.features.statistics import UsageStatistics
from core.service.commands.table import Commands
from core.work.rate_limit import Rate, RateLimiter
from storage.documents.page_images.pages import Pictures
from tests.entering import SAME_SITE
from tests.fakes import never
from tests.integration.readers.world import IN_API, SIGNED_IN, World

PAGES = ("/library", "/library?q=harbour", "/library/extracts", "/library/graph", "/library/statistics", "/jobs")
BASE = "/api/v1/workspaces/local"
LASTS = timedelta(days=1_000)


class Browsers:
    """Requests to one web app; `open` it before the first, and `close` it."""

    def __init__(self, world: World, parts: Parts, commands: Commands, statistics: UsageStatistics) -> None:
        self._world = world
        shelf = world.shelf
        connections = Connections(
            extracts=shelf.extracts,
            corpus=shelf.corpus,
            names=world.library.names,
            cited=shelf.stores.cited,
            conversations=shelf.conversations,
        )
        self._sessions = shelf.stores.sessions(world.clock)
        self._links = Links(
            secret_key="a secret for tests only, long enough", clock=world.clock, days=180, public_url=None
        )
        self._parts = WebParts(
            workspace="local",
            library=world.library,
            corpus=shelf.corpus,
            facts=shelf.facts,
            conversations=parts.conversations,
            jobs=parts.jobs,
            commands=commands,
            clock=world.clock,
            page_images=Pictures(),
            scope=self._scope,
            sessions=self._sessions,
            links=self._links,
            worker=cast(Any, SimpleNamespace()),
            ask_again=never,
            open_to_network=True,
        )
        pages = (
            partial(add_connection_pages, connections=connections),
            partial(add_statistics_page, statistics=statistics),
            partial(add_api, api=self._api(parts)),
        )
        self._client = TestClient(TestServer(build_web(self._parts, pages)), headers=SAME_SITE)
        self._secrets: dict[Role, str] = {}

    def _api(self, parts: Parts) -> ApiContext:
        stores, clock = self._world.shelf.stores, self._world.clock
        self.answers = ApiPlatform()
        self._tokens = Tokens(stores.identity, clock, "a key for tests only")
        return ApiContext(
            inbox=cast(Any, SimpleNamespace()),
            store=parts.inbox_store,
            spending=cast(Any, SimpleNamespace()),
            platform=self.answers,
            index=self._world.shelf.index,
            metrics=Metrics(),
            tokens=self._tokens,
            gate=RateLimiter(Rate(per_second=1000, burst=1000), clock),
        )

    async def open(self) -> None:
        await self._client.start_server()
        self._bearers = {
            person: (await self._tokens.add(person, TokenScope.ASK, readers))[1] for person, readers in IN_API.items()
        }
        for role in (Role.MEMBER, Role.ADMIN):
            self._secrets[role] = await self._sessions.begin(SIGNED_IN, "Wim", role, LASTS)

    async def close(self) -> None:
        await self._client.close()

    async def page(self, person: str, ids: Sequence[str]) -> tuple[str, str]:
        """Return the address and the text of any page; `ids` are of documents."""
        own = [f"/library/documents/{quote(id, safe='')}{part}" for id in ids for part in ("", "/connections")]
        path = self._world.random.choice((*PAGES, *self._world.random.sample(own, min(4, len(own)))))
        return path, await self._get(person, path)

    async def api(
        self, person: str, ids: Sequence[str], sessions: Sequence[str], pages: Sequence[str]
    ) -> tuple[str, str]:
        """Return the address and the text of any read of the API; ids are of documents, sessions and pages."""
        chosen = self._world.random.choice
        paths = ["documents", "search?query=harbour&limit=20", "extracts", "facts?query=type:entity", "ontology"]
        paths += ["graph", "chat/sessions"]
        paths += [f"documents/{quote(chosen(ids), safe='')}/connections"] if ids else []
        paths += [f"pages/{quote(chosen(pages), safe='')}"] if pages else []
        paths += [f"chat/sessions/{chosen(sessions)}{part}" for part in ("", "/export?format=json")] if sessions else []
        path = f"{BASE}/{chosen(paths)}"
        return path, await self._ask_api(person, path)

    async def message(self, person: str, id: str) -> str:
        """Return the answer to a message of the API, for a person."""
        return await self._ask_api(person, f"{BASE}/chat/messages/{id}")

    async def _ask_api(self, person: str, path: str) -> str:
        reply = await self._client.get(path, headers={"Authorization": f"Bearer {self._bearers[person]}"})
        assert reply.status in (200, 202, 400, 404), await reply.text()
        return await reply.text()

    async def linked(self, person: str, conversation: Conversation, answer: Message) -> str:
        """Return the page behind the link of any footnote of an answer."""
        citation = self._world.random.choice(answer.citations)
        token = self._links.token(citation, conversation.address, answer.id)
        part = self._world.random.choice(
            ("", "?part=pane", f"/{citation.page_number}", f"/{citation.page_number}/thumbnail")
        )
        return await self._get(person, f"/s/{token}{part}")

    async def _get(self, person: str, path: str) -> str:
        secret = self._secrets[self._world.random.choice((Role.MEMBER, Role.ADMIN))] if person == SIGNED_IN else ""
        cookies = {session_cookie(self._parts): secret} if secret else {}
        reply = await self._client.get(path, cookies=cookies)
        return (await reply.read()).decode(errors="replace")

    async def _scope(self, thread: ThreadAddress | None, reader: str | None = None) -> SearchScope:
        return await self._world.shelf.access.scope("local", thread, reader=reader)
