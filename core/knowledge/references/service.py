"""References of an answer: documents that its question names, and that its tools showed. Failures cost only a job."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from core.domain.answer import Answer, Citation, Draft, Reference, ReferenceType
from core.domain.conversation import Message, Role
from core.domain.corpus import Document, SearchScope, SourcedPassage
from core.domain.incoming import IncomingMessage
from core.domain.jobs import JobKind
from core.errors import FootnoteError, StorageError
from core.knowledge.library import Library
from core.knowledge.questions import find_links
from core.knowledge.references.document_lines import DocumentLines
from core.knowledge.references.linked_context import OPENED, LinkedContext, Named, build_linked_context, find_named
from core.ports import Clock, CorpusRepository
from core.text.markup import preview
from core.work.conversations import FOCUS_IDLE
from core.work.steps import NO_STEPS, Step

SNIPPET_LENGTH = 160
SHOWN = 10  # without a click
MOST_KEPT = 100  # with a message


def all_references(direct: Sequence[Reference], draft: Draft, citations: Sequence[Citation]) -> tuple[Reference, ...]:
    """Return the documents that the question named, then cited ones, then the others that tools showed, each once.

    At most MOST_KEPT. Documents of earlier turns count if they are cited.
    """
    named = {reference.document_id for reference in direct if reference.document_id}
    found = [item for item in search_references(draft, citations) if item.document_id not in named]
    return (*direct, *found)[:MOST_KEPT]


def search_references(draft: Draft, citations: Sequence[Citation]) -> list[Reference]:
    """Return a reference for each document in the tools' passages, cited ones first, in their order."""
    cited = [citation.document_id for citation in citations]
    shown = {passage.passage.id: passage for passage in _returned(draft)}
    for item in draft.evidence.passages.values():
        if item.source.document.id in cited:
            shown.setdefault(item.source.passage.id, item.source)
    first: dict[str, Reference] = {}
    for passage in shown.values():
        first.setdefault(passage.document.id, _to_reference(passage))
    order = [*(key for key in dict.fromkeys(cited) if key in first), *(key for key in first if key not in cited)]
    return [first[key] for key in order]


def direct_of(references: Iterable[Reference]) -> list[Reference]:
    """Return the references that the question named."""
    return [reference for reference in references if reference.type is ReferenceType.DIRECT]


def looked_at(references: Sequence[Reference], citations: Sequence[Citation]) -> list[Reference]:
    """Return the references that tools found and the answer doesn't cite."""
    by_id = {citation.document_id for citation in citations}
    by_path = {citation.document for citation in citations}  # for references stored before they had ids
    return [
        reference
        for reference in references
        if reference.type is ReferenceType.SEARCH
        and reference.document_id not in by_id
        and (reference.document_id is not None or reference.document not in by_path)
    ]


def labels(references: Iterable[Reference]) -> str:
    """Return names for a sentence: “A”, “B” and “C”."""
    names = [f"“{reference.label}”" for reference in references]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _returned(draft: Draft) -> Iterator[SourcedPassage]:
    for turn in draft.new_messages:
        for result in turn.tool_results:
            if result.name != OPENED:
                yield from (item.source for item in result.passages)


def _to_reference(passage: SourcedPassage) -> Reference:
    document, text = passage.document, passage.passage.text
    return Reference(
        type=ReferenceType.SEARCH,
        label=document.title,
        document=document.path,
        document_id=document.id,
        heading=" > ".join(title for title in passage.passage.heading_path if title != document.title),
        snippet=preview(text, document.kind, SNIPPET_LENGTH),
    )


T = TypeVar("T")

DEFAULT_TOKENS = 3_000  # of the linked context: as much as a search gives
SECONDS = 10.0  # timeout of each step: an answer without references is better than none
MOST_IN_FOCUS = 10  # documents of earlier questions that a follow-up searches first


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
        before = _in_focus(history, self._clock.now())
        about = message.about.text if message.about is not None else ""
        if not before and not message.attachments and not find_links(message.text, about):
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

    async def described(self, answer: Answer, scope: SearchScope, parent: Step = NO_STEPS) -> Answer:
        """Add a line about the document to each reference that is shown. After a failure, the job says why."""
        listed = looked_at(answer.references, answer.citations)[:SHOWN]
        wanted = {reference.document_id for reference in listed if reference.document_id and not reference.summary}
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
        return Links(
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


def _in_focus(history: Sequence[Message], now: datetime) -> list[Reference]:
    found: dict[str, Reference] = {}
    for message in reversed(history):
        if message.role is Role.ASSISTANT and now - message.created_at <= FOCUS_IDLE:
            for reference in direct_of(message.references):
                if reference.document_id:
                    found.setdefault(reference.document_id, reference)
    return [*found.values()][:MOST_IN_FOCUS]
