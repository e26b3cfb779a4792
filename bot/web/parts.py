"""What the web is made of: the use cases it shows, handed in ready-made by the composition root."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from aiohttp import web

from core.domain.conversation import ThreadAddress
from core.domain.corpus import SearchScope
from core.knowledge.facts import Facts
from core.knowledge.library import Library
from core.ports import Clock, CorpusRepository
from core.ports.documents import PageImages
from core.service.commands import Commands
from core.service.jobs import Jobs
from core.work.conversations import Conversations


class ScopeOf(Protocol):
    """What may be read."""

    async def __call__(self, thread: ThreadAddress | None, reader: str | None = None) -> SearchScope:
        """By the readers of a thread, else by a person at this machine; by `reader`, up to where they have read."""
        ...


# Puts the question of a failed or cancelled request (its job id) into the inbox again; gives the new request's job id.
AskAgain = Callable[[str], Awaitable[str]]

LINK_DAYS = 180  # how long a signed link opens, unless the configuration says otherwise


class WorkerControls(Protocol):
    """What the web asks of a running worker."""

    def wake(self) -> None:
        """Look for new work now."""

    async def cancel(self, message_key: str, by: str) -> object:
        """Stop the answer to a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebParts:
    """All that the web's pages, its API and its chat use."""

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
    secret_key: str  # signs links; the same on every machine of a service
    public_url: str | None = None  # how people reach this service from elsewhere, without a slash at its end
    link_days: int = LINK_DAYS
    open_to_network: bool = False  # whoever reaches the port may use chat, library and jobs
    worker: WorkerControls | None = None
    ask_again: AskAgain | None = None


PARTS = web.AppKey("parts", WebParts)
