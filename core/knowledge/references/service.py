"""Look-ups of the documents that a question names, and of lines about the documents that its answer shows.

Failures cost only a job.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TypeVar

from core.domain.answer import Answer, Reference
from core.domain.conversation import Message
from core.domain.corpus import Document, SearchScope
from core.domain.incoming import IncomingMessage
from core.domain.jobs import JobKind
from core.errors import FootnoteError, StorageError
from core.knowledge.library import Library
from core.knowledge.references.document_lines import DocumentLines
from core.knowledge.references.linked_context import LinkedContext, Named, build_linked_context, find_named
from core.knowledge.references.lists import in_focus, names_documents, undescribed
from core.ports import Clock, CorpusRepository
from core.work.steps import NO_STEPS, Step

T = TypeVar("T")

DEFAULT_TOKENS = 3_000  # of the linked context: as much as a search gives
MOST_UNREAD = 3  # files named in one answer
_FILE_NAME = re.compile(r"\w\.[A-Za-z]\w{1,9}\b")
SECONDS = 10.0  # timeout of each step: an answer without references is better than none


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The documents that a question refers to."""

    references: tuple[Reference, ...] = ()
    documents: tuple[Document, ...] = ()  # named by this question or earlier ones: searched first
    offer: LinkedContext | None = None
    notes: tuple[str, ...] = ()  # failures, for people


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
        self,
        message: IncomingMessage,
        history: Sequence[Message],
        scope: SearchScope,
        only: Document | None = None,
        parent: Step = NO_STEPS,
    ) -> Links:
        """Look up the documents that a question names, and those in focus. A failure becomes a failed job and a note.

        Jobs go below `parent`. With `only`, the one document to answer from, other documents' texts aren't included.
        """
        before = in_focus(history, self._clock.now())
        if not before and not names_documents(message):
            return Links()
        try:
            async with parent.step(JobKind.PLANNING, "look up references") as job:
                links = await self._in_time(lambda: self._look_up(message, before, scope, only, job))
                job.output = {
                    "documents": sorted({item.path for item in links.documents}),
                    "broken": [reference.label for reference in links.references if reference.broken],
                    "passages": len(links.offer.passages) if links.offer else 0,
                }
        except FootnoteError as error:
            return Links(
                notes=(f"I couldn't look up the documents that the question refers to: {str(error).rstrip('.')}.",)
            )
        return links

    async def unread(self, text: str, scope: SearchScope) -> tuple[str, ...]:
        """Return a sentence for each file that a text names and that could not be read."""
        if not _FILE_NAME.search(text):
            return ()
        failed = [item for item in await self._corpus.list_readable(scope) if item.failed_reason and not item.revision]
        named = [item for item in failed if PurePosixPath(item.path).name.casefold() in text.casefold()]
        return tuple(
            f"{item.path} is here, but it could not be read: {(item.failed_reason or '').rstrip('.')}."
            for item in named[:MOST_UNREAD]
        )

    async def described(self, answer: Answer, scope: SearchScope, parent: Step = NO_STEPS) -> Answer:
        """Add a line about the document to each reference that is shown. After a failure, the job says why."""
        wanted = undescribed(answer)
        if not wanted:
            return answer
        try:
            async with parent.step(JobKind.PLANNING, "sum up references") as job:
                about = await self._in_time(lambda: self._lines_of(sorted(wanted), scope, job))
                job.output = {"documents": len(about)}
        except FootnoteError:
            return answer
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
        self,
        message: IncomingMessage,
        before: Sequence[Reference],
        scope: SearchScope,
        only: Document | None,
        job: Step,
    ) -> Links:
        named: Sequence[Named] = await find_named(
            message, library=self._library, corpus=self._corpus, lines=self._lines, scope=scope, parent=job
        )
        offered = [item for item in named if only is None or item.document is None or item.document.id == only.id]
        offer = await build_linked_context(offered, corpus=self._corpus, scope=scope, budget_tokens=self._tokens)
        own = {item.document.id: item.document for item in named if item.document is not None}
        earlier = await self._corpus.find_documents([item.document_id for item in before if item.document_id], scope)
        dead = [item.reference.label for item in named if item.reference.broken and "[[" in item.reference.label]
        return Links(
            notes=tuple(f"{label} leads to no document that I can read here." for label in dead),
            references=tuple(item.reference for item in named),
            documents=tuple({**{item.id: item for item in earlier}, **own}.values()),
            offer=offer,
        )

    async def _lines_of(self, document_ids: Sequence[str], scope: SearchScope, job: Step) -> dict[str, str]:
        return await self._lines.of(await self._corpus.find_documents(document_ids, scope), scope, job)

    async def _in_time(self, work: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._seconds) as limit:
                return await work()
        except TimeoutError:
            if not limit.expired():
                raise
            raise StorageError(f"The library did not answer within {self._seconds:g} seconds; ask again") from None
