"""One line about each document that a message refers to: made when it is first shown, kept for its revision."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from core.domain.corpus import Document, Page, SearchScope
from core.domain.service import SummaryKey, SummaryKind
from core.knowledge.references.one_line import LENGTH, page_summary
from core.ports import CorpusRepository
from core.ports.service import SummaryRepository
from core.text.words import shorten


class LineWriter(Protocol):
    """Writes what a beginning of a text is about, where its first paragraph is too long to be shown."""

    async def line(self, title: str, text: str) -> str | None:
        """In one sentence; None where it can't: the text's own first sentence is taken then. Never raises."""


class DocumentLines:
    """`writer` gives whoever writes for a workspace."""

    def __init__(
        self,
        *,
        corpus: CorpusRepository,
        summaries: SummaryRepository,
        writer: Callable[[str], LineWriter] | None = None,
    ) -> None:
        self._corpus = corpus
        self._summaries = summaries
        self._writer = writer

    async def of(self, documents: Sequence[Document], scope: SearchScope) -> dict[str, str]:
        """A line of at most LENGTH characters for each document id; "" where there is no text to be read.

        Of a document that is read up to a position, only what lies before it counts, and nothing is kept.
        """
        wanted = {document.id: document for document in documents if document.revision is not None}
        open_ones = {_key(document): id for id, document in wanted.items() if id not in scope.positions}
        kept = await self._summaries.find(open_ones)
        lines = {open_ones[key]: text for key, text in kept.items()}
        missing = [document for id, document in wanted.items() if id not in lines]
        made = await asyncio.gather(*(self._make(document, scope) for document in missing))
        return lines | {document.id: line for document, line in zip(missing, made, strict=True)}

    async def _make(self, document: Document, scope: SearchScope) -> str:
        page = await self._first_page(document, scope)
        line = await self._line(document, page) if page is not None else ""
        if document.id not in scope.positions:
            await self._summaries.save(_key(document), line)
        return line

    async def _line(self, document: Document, page: Page) -> str:
        own = page_summary(page, document.path)
        if self._writer is None or (own and not own.endswith("…") and own in page.text[: 2 * LENGTH]):
            return own
        written = await self._writer(document.workspace).line(document.title, page.text)
        return shorten(written, LENGTH) if written else own

    async def _first_page(self, document: Document, scope: SearchScope) -> Page | None:
        """A page may be missing: those of a PDF that hold no text have none."""
        first = await self._corpus.find_page(document.id, 1, scope)
        if first is not None:
            return first
        return next(iter(await self._corpus.list_pages(document.id, scope)), None)


def _key(document: Document) -> SummaryKey:
    return SummaryKey(
        workspace=document.workspace,
        kind=SummaryKind.DOCUMENT_LINE,
        subject=document.id,
        revision=document.revision or "",
    )
