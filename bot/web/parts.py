"""Parts of the web application, built by the composition root."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from aiohttp import web

from bot.web.links import Links
from bot.web.proxy import ProxySignIn
from core.access.identity import Sessions
from core.domain.corpus import SearchScope
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.knowledge.facts import Facts
from core.knowledge.library import Library
from core.ports import Clock, CorpusRepository
from core.ports.documents import PageImages
from core.service.commands.table import Commands
from core.service.jobs import Jobs
from core.work.conversations import Conversations

if TYPE_CHECKING:  # loads the libraries of a sign-in that few services have
    from bot.web.oidc import OidcSignIn


class ScopeOf(Protocol):
    """Computes the scope of a request."""

    async def __call__(self, thread: ThreadAddress | None, reader: str | None = None) -> SearchScope:
        """Return the scope of a thread's readers, or of this machine; `reader` adds their reading positions."""
        ...


# Submits the question of a failed or cancelled request (its job ID) again; returns the new request's job ID.
AskAgain = Callable[[str], Awaitable[str]]


class WorkerControls(Protocol):
    async def cancel(self, message_key: str, by: str) -> object:
        """Stop the answer to a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebParts:
    """Parts that pages, API and chat share."""

    workspace: str
    library: Library
    corpus: CorpusRepository
    facts: Facts
    conversations: Conversations
    jobs: Jobs
    commands: Commands
    clock: Clock
    page_images: PageImages
    scope: ScopeOf
    links: Links
    sessions: Sessions
    worker: WorkerControls
    ask_again: AskAgain
    check_options: Callable[[IncomingMessage], Awaitable[None]] | None = None  # refuses unknown strategies and models
    public_url: str | None = None  # address for other machines, without a trailing slash
    proxy: ProxySignIn | None = None  # people signed in by a proxy
    oidc: "OidcSignIn | None" = None  # people who sign in at a provider
    open_to_network: bool = False  # anybody may open chat and library


PARTS = web.AppKey("parts", WebParts)
