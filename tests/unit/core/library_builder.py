"""A small library in memory for the agent's tests: add documents and extracts, get a toolbox over them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.access.scopes import Access
from core.answering.answers.suggestions import SuggestedQuestions
from core.answering.run import NO_OBSERVER, RunObserver
from core.answering.support.check import SupportCheck
from core.answering.tools.base import ToolContext
from core.answering.tools.get_page import GetPageTool
from core.answering.tools.query_journal import QueryJournalTool
from core.answering.tools.search import SearchTool
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import Capabilities
from core.domain.conversation import Focus
from core.domain.corpus import Document, Heading, Page, SearchScope
from core.domain.extracts import SCHEMAS, Extract, Extraction, ExtractType, schema_name
from core.domain.passages import IndexEntry, Passage, Span
from core.features.recap import Recaps
from core.knowledge.facts import Facts
from core.knowledge.library import Library
from core.knowledge.references.document_lines import DocumentLines
from core.knowledge.references.linked_context import LinkedContext
from core.knowledge.references.service import References
from tests.builders import NOON, build_document, build_scope, build_source
from tests.fakes import ManualClock, WordIndex
from tests.scripted import ScriptedProvider
from tests.stores import Stores
from tests.unit.core.answering.providers.extractive.small_library import NearModel


class Shelf:
    """One source of documents. Each page's text is split into passages at blank lines; "# Title" lines are headings."""

    def __init__(self) -> None:
        self.stores = stores = Stores()
        self.corpus = stores.corpus
        self.index = WordIndex()
        self.conversations = stores.conversations
        self.library = Library(corpus=self.corpus, index=self.index, conversations=self.conversations)
        self.settings = stores.settings
        self.access = Access(self.corpus, self.settings)
        self.extracts = stores.extracts
        self.suggestions = SuggestedQuestions(self.corpus, self.library, self.extracts)
        self.clock = ManualClock()
        self.facts = Facts(extracts=self.extracts, corpus=self.corpus, clock=self.clock)
        self.source = build_source()
        self._saved: set[str] = set()

    async def add(
        self,
        path: str,
        *pages: str,
        title: str | None = None,
        kind: str = "markdown",
        revision: str = "r1",
        crawled_at: datetime | None = None,
        id: str | None = None,
    ) -> Document:
        if self.source.id not in self._saved:
            await self.corpus.save_source(self.source)
            self._saved.add(self.source.id)
        document = build_document(
            path, self.source, title=title or path, kind=kind, pages=len(pages), revision=revision
        )
        document = replace(document, crawled_at=crawled_at or document.crawled_at, id=id or document.id)
        built = [_page(document, number, text) for number, text in enumerate(pages, start=1)]
        passages = _passages(built)
        await self.corpus.switch_revision(document, built, passages)
        await self.index.add(
            [
                IndexEntry(
                    passage=passage, workspace="local", source_id=self.source.id, kind=kind, title=document.title
                )
                for passage in passages
            ]
        )
        return document

    async def extract(
        self, document: Document, kind: ExtractType, *data: Mapping[str, object], page: int = 1, quote: str = ""
    ) -> list[Extract]:
        """Store what an extractor of its own found on a page; it stands where `quote` does, else at the beginning."""
        found = await self.corpus.find_page(document.id, page, self.scope())
        assert found is not None and document.revision is not None
        start = found.text.index(quote)
        name = f"{kind.value} {page} {quote}"
        extracts = [
            Extract(
                id=f"{document.id}:{name}:{place}",
                document_id=document.id,
                document=document.path,
                document_title=document.title,
                source_id=document.source_id,
                page_id=found.id,
                page_number=page,
                revision=document.revision,
                extractor=name,
                type=kind,
                schema=schema_name(kind),
                span=Span(start, start + (len(quote) or len(found.text))),
                confidence=0.9,
                data=SCHEMAS[kind][1].model_validate(item).model_dump(mode="json"),
            )
            for place, item in enumerate(data)
        ]
        run = Extraction(
            document_id=document.id,
            extractor=name,
            version=1,
            revision=document.revision,
            extracts=len(extracts),
            extracted_at=NOON,
        )
        await self.extracts.replace(run, extracts)
        return extracts

    def scope(self, **positions: int) -> SearchScope:
        return build_scope(self.source, **positions)

    def context(self, *, scope: SearchScope | None = None, **fields: object) -> ToolContext:
        return ToolContext(
            scope=scope or self.scope(), library=self.library, corpus=self.corpus, facts=self.facts, **fields
        )

    def toolbox(
        self, offer: LinkedContext | None = None, *, observer: RunObserver = NO_OBSERVER, **fields: object
    ) -> Toolbox:
        return Toolbox([SearchTool(), GetPageTool(), QueryJournalTool()], self.context(**fields), offer, observer)

    def lines(self) -> DocumentLines:
        return DocumentLines(corpus=self.corpus, summaries=self.stores.summaries)

    def references(self, **fields: Any) -> References:
        return References(
            **{
                "library": self.library,
                "corpus": self.corpus,
                "lines": self.lines(),
                "clock": ManualClock(),
                **fields,
            }
        )


QUOTING = ScriptedProvider([], capabilities=Capabilities(quotes_only=True))


def by_rule(shelf: Shelf) -> Recaps:
    """Recaps that no model writes."""
    return Recaps(shelf.corpus, shelf.stores.summaries, lambda _: QUOTING, SupportCheck(NearModel()))


def focus_on(document: Document, *sections: str) -> Focus:
    return Focus(
        document_id=document.id, document=document.path, title=document.title, sections=sections, touched_at=NOON
    )


def _page(document: Document, number: int, text: str) -> Page:
    headings, start = [], 0
    for line in text.split("\n"):
        if line.startswith("#"):
            marks = line.split(" ")[0]
            headings.append(Heading(level=len(marks), title=line[len(marks) + 1 :], start=start))
        start += len(line) + 1
    return Page(
        id=f"{document.id}@{document.revision}#{number}",
        document_id=document.id,
        revision=document.revision or "",
        number=number,
        title=headings[0].title if headings else f"Page {number}",
        text=text,
        headings=tuple(headings),
    )


def _passages(pages: Sequence[Page]) -> list[Passage]:
    passages: list[Passage] = []
    for page in pages:
        start = 0
        for text in page.text.split("\n\n"):
            span = Span(start, start + len(text))
            passages.append(
                Passage(
                    id=f"{page.id}:{start}",
                    document_id=page.document_id,
                    page_id=page.id,
                    page_number=page.number,
                    revision=page.revision,
                    ordinal=len(passages),
                    span=span,
                    text=text,
                    heading_path=(page.title,),
                    sentences=(span,),
                )
            )
            start = span.end + 2
    return passages
