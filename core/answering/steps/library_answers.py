"""Answers about the library itself, without a model: its documents, the new ones, their numbers of pages."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from core.answering.answers.building import bounded
from core.answering.pipeline import Question
from core.domain.answer import Answer, AnswerStatus, Provenance, QueryType
from core.domain.channels import LIVE_KIND
from core.domain.corpus import Document, SearchScope
from core.domain.jobs import JobKind
from core.errors import BadInput, NotFound
from core.knowledge.catalogue import (
    DocumentFilter,
    changed_since,
    counts,
    describe_library,
    newest_first,
    pages,
    place,
    select_documents,
    written_day,
)
from core.knowledge.library import Library
from core.knowledge.library_questions import (
    LibraryQuestion,
    ListQuestion,
    NewQuestion,
    PageQuestion,
    read_library_question,
)
from core.knowledge.search.documents import qualified
from core.ports import ChatProvider, Clock, CorpusRepository
from core.text.words import collapse

LISTED = 20  # documents in one answer
NEWEST_SHOWN = 8
LATEST = 5  # documents to show without new ones
MODEL_NAME = "library"  # in the answer
_TOOL = "list_documents"  # that a model would have called


class LibraryAnswers:
    """Context -> the answer of a question about the library itself, if no model answers; it ends the request.

    For a model: `context` with the day and the library in numbers.
    """

    def __init__(
        self, corpus: CorpusRepository, library: Library, clock: Clock, provider: Callable[[str], ChatProvider]
    ) -> None:
        """`provider` returns the model of a workspace."""
        self._corpus = corpus
        self._library = library
        self._clock = clock
        self._provider = provider

    async def __call__(self, question: Question) -> Answer | None:
        context, asked = question.context, question.asked
        if not self._provider(context.scope.workspace).capabilities.quotes_only:
            summary = await self._corpus.summarise(context.scope, NEWEST_SHOWN)
            background = describe_library(summary, self._clock.now().astimezone())
            question.context = replace(context, background=background, newest=summary.newest)
            return None
        wanted = read_library_question(asked.text, self._today)
        is_plain = asked.query_type is QueryType.QUESTION and asked.about is None and not asked.attachments
        if wanted is None or not is_plain:
            return None
        given: dict[str, object] = {"question": collapse(asked.text)[:300]}
        async with question.observer.root.step(JobKind.TOOL, _TOOL, input=given) as job:
            answer = await self._answer(wanted, question)
            job.output = {"answered": answer is not None}
        if answer is None:
            return None
        scope = context.scope
        basis = Provenance(sources=tuple(sorted(scope.sources)), hidden=tuple(sorted(scope.hidden)))
        return bounded(replace(answer, rests_on=basis, model=MODEL_NAME), scope.positions)

    @property
    def _today(self) -> date:
        return self._clock.now().astimezone().date()

    async def _answer(self, wanted: LibraryQuestion, question: Question) -> Answer | None:
        scope = question.context.scope
        if isinstance(wanted, PageQuestion):
            return await self._pages(wanted, question)
        listed = [document for document in await self._corpus.list_readable(scope) if document.revision is not None]
        readable = [document for document in listed if document.kind != LIVE_KIND] or listed  # threads are too many
        if isinstance(wanted, NewQuestion):
            return _answer_of(self._new(wanted, readable))
        return await asyncio.to_thread(_list, wanted, readable)  # ten thousand names take a while

    def _new(self, wanted: NewQuestion, documents: Sequence[Document]) -> str:
        newest = newest_first(documents)[:LATEST]
        if wanted.since is None:
            return "\n".join(["The newest documents:", *map(_line, newest)])
        since = written_day(wanted.since)
        dated = newest_first(select_documents(documents, DocumentFilter(since=wanted.since)))
        known = {document.id for document in dated}
        changed = changed_since(documents, wanted.since, self._clock.now().astimezone())
        others = [document for document in changed if document.id not in known]
        parts = [_group(f"Dated since {since}", dated)] * bool(dated)
        which = f", all {len(others)} documents" if len(others) == len(documents) > 1 else ""
        parts += [_group(f"Added or changed here since {since}{which}", others)] * bool(others)
        if not parts:
            lines = [f"Nothing is new since {since}: no document is dated, added or changed since then. The newest:"]
            parts = ["\n".join([*lines, *map(_line, newest)])]
        return "\n\n".join(parts)

    async def _pages(self, wanted: PageQuestion, question: Question) -> Answer | None:
        scope = question.context.scope
        try:
            documents = await self._meant(wanted, question)
        except NotFound as error:
            return None if wanted.number is None else _answer_of(f"{error}.", AnswerStatus.NOT_FOUND)
        except BadInput:
            return None  # several documents: the usual search asks
        if len(documents) == 1:
            return _answer_of(await self._of_one(wanted.number, documents[0], scope))
        longest = sorted(documents, key=lambda document: (-document.pages, document.title))
        if wanted.number is None:
            return _answer_of(_group("Pages of each document, the longest first", longest))
        having = [document for document in longest if document.pages >= wanted.number]
        if having:
            return _answer_of(_group(f"Yes, these documents have a page {wanted.number}", having))
        first = longest[0]
        return _answer_of(
            f"No. None of the {len(documents)} documents that I can read here has a page {wanted.number}: the longest "
            f"is “{first.title}”, with {pages(first)}."
        )

    async def _meant(self, wanted: PageQuestion, question: Question) -> list[Document]:
        """Return the document that is meant, or all of them. Raises NotFound and BadInput as `find_document`."""
        context = question.context
        if wanted.document:
            return [await self._library.find_document(wanted.document, context.scope)]
        if context.document is not None:
            return [context.document]
        readable = [item for item in await self._corpus.list_readable(context.scope) if item.pages]
        about = context.focus.document_id if context.focus is not None else None
        return [document for document in readable if document.id == about] or readable

    async def _of_one(self, number: int | None, document: Document, scope: SearchScope) -> str:
        numbers = [page.number for page in await self._corpus.list_pages(document.id, scope)]
        readable = " that you can read here" if document.id in scope.positions else ""
        if not numbers:
            return f"“{document.title}” has no pages{readable}."
        there = f"only page {numbers[0]}" if len(numbers) == 1 else f"pages {numbers[0]} to {numbers[-1]}"
        if number is None:
            return f"“{document.title}” has {there}{readable}."
        if number in numbers:
            return f"Yes. “{document.title}” has a page {number}: it has {there}{readable}."
        if numbers[0] < number < numbers[-1]:
            return f"“{document.title}” has {there}{readable}, but page {number} has no text."
        return f"No. “{document.title}” has no page {number}{readable}: it has {there}."


def _list(wanted: ListQuestion, documents: Sequence[Document]) -> Answer | None:
    found = select_documents(documents, DocumentFilter(words=wanted.words, kind=wanted.kind))
    if not found:
        return None  # the question may be about the text of documents
    ordered = sorted(found, key=lambda document: (document.title.casefold(), qualified(document)))
    shown = ordered[wanted.first - 1 :][:LISTED]
    which = "1 document" if len(found) == 1 else f"{len(found)} documents"
    kinds = counts(Counter(document.kind for document in found))
    part = f" These are {wanted.first} to {wanted.first + len(shown) - 1}:" if 0 < len(shown) < len(found) else ""
    lines = [f"I can read {which} here ({kinds}).{part}", *map(_line, shown)]
    following = wanted.first + len(shown)
    more = (f"Which documents do you have, from {following} on?",) if shown and following <= len(found) else ()
    if more:
        lines.append(f"\nFor the next ones, ask: “{more[0]}”")
    answer = _answer_of("\n".join(lines))
    return replace(answer, suggestions=more if not wanted.words and wanted.kind is None else ())


def _group(title: str, documents: Sequence[Document]) -> str:
    more = [f"- and {len(documents) - LISTED} more"] * (len(documents) > LISTED)
    return "\n".join([f"{title}:", *map(_line, documents[:LISTED]), *more])


def _line(document: Document) -> str:
    dated = f"dated {document.dated}, " if document.dated else ""
    return f"- **{document.title}** ({dated}{pages(document)}, {place(document)}: {document.path})"


def _answer_of(text: str, status: AnswerStatus = AnswerStatus.ANSWERED) -> Answer:
    return Answer(status=status, text=text)
