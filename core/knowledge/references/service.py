"""References around an answer, as steps of its question's tree: one that fails costs only itself.

Before: what the question names is looked up, its text offered, and what earlier questions named stays in mind. Behind:
the documents that are shown get their line.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from core.domain.answer import Answer, Reference
from core.domain.conversation import IncomingMessage, Message, Role
from core.domain.corpus import Document, SearchScope
from core.domain.jobs import JobKind
from core.errors import FootnoteError, StorageError
from core.knowledge.library import Library
from core.knowledge.references.direct import Named, find_named, make_offer
from core.knowledge.references.lines import DocumentLines
from core.knowledge.references.linked_context import Offer
from core.knowledge.references.links import find_links
from core.knowledge.references.listing import SHOWN, direct_of, looked_at
from core.ports import Clock, CorpusRepository
from core.work.conversations import FOCUS_IDLE
from core.work.steps import step

T = TypeVar("T")

# Tokens of the text that is offered; as much as a search gives.
DEFAULT_TOKENS = 3_000
# For each step: an answer without its references is better than none.
SECONDS = 10.0
# Documents of earlier questions that a follow-up still looks at first.
MOST_IN_FOCUS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """What a question refers to."""

    references: tuple[Reference, ...] = ()
    documents: tuple[Document, ...] = ()  # named by it, or by questions before it: looked at first
    offer: Offer | None = None
    notes: tuple[str, ...] = ()  # what did not work, for people


class References:
    def __init__(
        self,
        *,
        library: Library,
        corpus: CorpusRepository,
        lines: DocumentLines,
        clock: Clock,
        tokens: int = DEFAULT_TOKENS,
        seconds: float = SECONDS,
    ) -> None:
        self._library = library
        self._corpus = corpus
        self._lines = lines
        self._clock = clock
        self._tokens = tokens
        self._seconds = seconds

    async def of(
        self, message: IncomingMessage, history: Sequence[Message], scope: SearchScope, only: Document | None = None
    ) -> Links:
        """What a question names, and what is still in focus. A failure is a failed job and a note.

        With `only`, the document that the question is to be answered from alone, no text of others is offered.
        """
        before = _in_focus(history, self._clock.now())
        about = message.about.text if message.about is not None else ""
        if not before and not message.attachments and not find_links(message.text, about):
            return Links()
        try:
            async with step(JobKind.PLANNING, "look up references") as job:
                links = await self._in_time(lambda: self._look_up(message, before, scope, only))
                job.output = {
                    "documents": sorted({item.path for item in links.documents}),
                    "broken": [reference.label for reference in links.references if reference.broken],
                    "passages": len(links.offer.passages) if links.offer else 0,
                }
        except FootnoteError as error:
            return Links(notes=(f"I could not look up what the question refers to: {str(error).rstrip('.')}.",))
        return links

    async def described(self, answer: Answer, scope: SearchScope) -> Answer:
        """The answer with a line for each reference that is shown. A failure is a failed job, and no line."""
        listed = looked_at(answer.references, answer.citations)[:SHOWN]
        wanted = {reference.document_id for reference in listed if reference.document_id and not reference.summary}
        if not wanted:
            return answer
        try:
            async with step(JobKind.PLANNING, "sum up references") as job:
                about = await self._in_time(lambda: self._lines_of(sorted(wanted), scope))
                job.output = {"documents": len(about)}
        except FootnoteError:
            return answer  # the tree tells why
        return replace(
            answer,
            references=tuple(
                replace(reference, summary=about[reference.document_id])
                if reference.document_id in about and not reference.summary
                else reference
                for reference in answer.references
            ),
        )

    async def _look_up(
        self, message: IncomingMessage, before: Sequence[Reference], scope: SearchScope, only: Document | None
    ) -> Links:
        named: Sequence[Named] = await find_named(
            message, library=self._library, corpus=self._corpus, lines=self._lines, scope=scope
        )
        offered = [item for item in named if only is None or item.document is None or item.document.id == only.id]
        offer = await make_offer(offered, corpus=self._corpus, scope=scope, budget_tokens=self._tokens)
        own = {item.document.id: item.document for item in named if item.document is not None}
        earlier = await self._corpus.find_documents([item.document_id for item in before if item.document_id], scope)
        return Links(
            references=tuple(item.reference for item in named),
            documents=tuple({**{item.id: item for item in earlier}, **own}.values()),
            offer=offer,
        )

    async def _lines_of(self, document_ids: Sequence[str], scope: SearchScope) -> dict[str, str]:
        return await self._lines.of(await self._corpus.find_documents(document_ids, scope), scope)

    async def _in_time(self, work: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._seconds) as limit:
                return await work()
        except TimeoutError:
            if not limit.expired():
                raise
            raise StorageError(f"The library did not answer within {self._seconds:g} seconds; ask again") from None


def _in_focus(history: Sequence[Message], now: datetime) -> list[Reference]:
    """What questions of the last half hour named, the last first, at most MOST_IN_FOCUS documents."""
    found: dict[str, Reference] = {}
    for message in reversed(history):
        if message.role is Role.ASSISTANT and now - message.created_at <= FOCUS_IDLE:
            for reference in direct_of(message.references):
                if reference.document_id:
                    found.setdefault(reference.document_id, reference)
    return [*found.values()][:MOST_IN_FOCUS]
