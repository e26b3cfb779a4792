"""The library in memory."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from core.domain.corpus import Document, FileStamp, Page, Passage, SearchScope, Source, SourcedPassage
from core.errors import InvalidState, NotFound
from storage.revisions import check_revision
from storage.storable import to_storable, to_storable_value


class MemoryCorpusRepository:
    """CorpusRepository that forgets everything with the process."""

    def __init__(self) -> None:
        self._sources: dict[str, Source] = {}
        self._documents: dict[str, Document] = {}
        self._pages: dict[str, list[Page]] = {}  # of a document id, in page order
        self._passages: dict[str, list[Passage]] = {}  # of a document id, in text order
        self._changes = 0

    async def save_source(self, source: Source) -> None:
        source = to_storable_value(source)
        namesake = await self.find_source(source.workspace, source.name)
        if namesake is not None and namesake.id != source.id:
            raise InvalidState(f"Another source is called {source.name!r} already; choose another name")
        self._sources[source.id] = source
        self._changes += 1

    async def find_source(self, workspace: str, name: str) -> Source | None:
        wanted = (to_storable(workspace), to_storable(name))
        return next((source for source in self._sources.values() if (source.workspace, source.name) == wanted), None)

    async def list_sources(self, workspace: str) -> list[Source]:
        found = (source for source in self._sources.values() if source.workspace == workspace)
        return sorted(found, key=lambda source: source.name)

    async def remove_source(self, source_id: str) -> None:
        for document in list(self._documents.values()):
            if document.source_id == source_id:
                await self.remove_document(document.id)
        self._sources.pop(source_id, None)
        self._changes += 1

    async def list_documents(self, workspace: str, source_ids: frozenset[str] | None = None) -> list[Document]:
        found = (
            document
            for document in map(self._with_source, self._documents.values())
            if document.workspace == workspace and (source_ids is None or document.source_id in source_ids)
        )
        return sorted(found, key=lambda document: (document.source, document.path))

    async def version(self, workspace: str) -> str:
        return str(self._changes)

    async def list_readable(self, scope: SearchScope) -> list[Document]:
        return [self._counted(item, scope) for item in await self.list_documents(scope.workspace, scope.sources)]

    async def get_document(self, document_id: str, scope: SearchScope) -> Document:
        document = self._readable(document_id, scope)
        if document is None:
            raise NotFound(
                f"There is no document {document_id!r} here that may be read; `footnote documents` lists them"
            )
        return self._counted(document, scope)

    async def find_documents(self, document_ids: Sequence[str], scope: SearchScope) -> list[Document]:
        found = (self._readable(document_id, scope) for document_id in document_ids)
        return [self._counted(document, scope) for document in found if document is not None]

    async def switch_revision(self, document: Document, pages: Sequence[Page], passages: Sequence[Passage]) -> None:
        check_revision(document, pages, passages)
        self._require_source(document)
        self._documents[document.id] = replace(to_storable_value(document), pages=len(pages), passages=len(passages))
        self._pages[document.id] = sorted(map(to_storable_value, pages), key=lambda page: page.number)
        self._passages[document.id] = sorted(map(to_storable_value, passages), key=lambda passage: passage.ordinal)
        self._changes += 1

    async def save_failure(self, document: Document) -> None:
        self._require_source(document)
        known = self._documents.get(document.id, replace(document, revision=None, pages=0, passages=0))
        failed = replace(known, failed_reason=document.failed_reason, stamp=document.stamp)
        self._documents[document.id] = to_storable_value(failed)
        self._changes += 1

    async def touch(self, document_id: str, stamp: FileStamp) -> None:
        if document_id in self._documents:
            self._documents[document_id] = replace(self._documents[document_id], stamp=stamp)

    def mark_extracted(self, document_id: str, extracted_at: datetime) -> None:
        """For the store of extracts, which shares its documents."""
        self._documents[document_id] = replace(self._documents[document_id], extracted_at=extracted_at)

    async def remove_document(self, document_id: str) -> None:
        for table in (self._documents, self._pages, self._passages):
            table.pop(document_id, None)
        self._changes += 1

    async def live_revisions(self) -> dict[tuple[str, str], int]:
        return {(item.id, item.revision): item.passages for item in self._documents.values() if item.revision}

    async def list_live_passages(self, document_id: str) -> list[SourcedPassage]:
        return self._sourced(document_id) if document_id in self._documents else []

    def has_document(self, document_id: str, workspace: str) -> bool:
        found = self._documents.get(document_id)
        return found is not None and found.workspace == workspace

    def has_page(self, page_id: str, workspace: str) -> bool:
        return any(
            page.id == page_id
            for document_id, pages in self._pages.items()
            for page in pages
            if self.has_document(document_id, workspace)
        )

    def live_texts(self, document_id: str) -> dict[int, str]:
        """Page number -> text, whoever may read it (for the twin that compares answers with it)."""
        return {page.number: page.text for page in self._pages.get(document_id, [])}

    async def get_page(self, page_id: str, scope: SearchScope) -> Page:
        for document_id in self._pages:
            for page in await self.list_pages(document_id, scope):
                if page.id == page_id:
                    return page
        raise NotFound(f"There is no page {page_id!r} here that may be read; search again for its present id")

    async def find_page(self, document_id: str, number: int, scope: SearchScope) -> Page | None:
        pages = await self.find_pages(document_id, [number], scope)
        return pages[0] if pages else None

    async def find_pages(self, document_id: str, numbers: Sequence[int], scope: SearchScope) -> list[Page]:
        pages = {page.number: page for page in await self.list_pages(document_id, scope)}
        return [pages[number] for number in numbers if number in pages]

    async def list_pages(self, document_id: str, scope: SearchScope) -> list[Page]:
        document = self._readable(document_id, scope)
        if document is None:
            return []
        return [page for page in self._pages.get(document_id, []) if scope.allows(document, page.number)]

    async def list_passages(self, passage_ids: Sequence[str], scope: SearchScope) -> list[SourcedPassage]:
        wanted = set(passage_ids)
        found = {
            item.passage.id: item
            for document_id in self._passages
            for item in self._readable_passages(document_id, scope)
            if item.passage.id in wanted
        }
        return [found[passage_id] for passage_id in passage_ids if passage_id in found]

    async def list_page_passages(self, page_id: str, scope: SearchScope) -> list[SourcedPassage]:
        return [
            item
            for document_id in self._passages
            for item in self._readable_passages(document_id, scope)
            if item.passage.page_id == page_id
        ]

    def _readable_passages(self, document_id: str, scope: SearchScope) -> list[SourcedPassage]:
        if self._readable(document_id, scope) is None:
            return []
        return [item for item in self._sourced(document_id) if scope.allows(item.document, item.passage.page_number)]

    def _sourced(self, document_id: str) -> list[SourcedPassage]:
        document = self._with_source(self._documents[document_id])
        pages = {page.id: page for page in self._pages.get(document_id, [])}
        return [
            SourcedPassage(
                passage=passage,
                document=document,
                page_title=pages[passage.page_id].title,
                deep_link=pages[passage.page_id].deep_link,
            )
            for passage in self._passages.get(document_id, [])
        ]

    def _counted(self, document: Document, scope: SearchScope) -> Document:
        """With the counts of what its reading position leaves to read."""
        last = scope.positions.get(document.id)
        if last is None:
            return document
        return replace(
            document,
            pages=sum(page.number <= last for page in self._pages.get(document.id, [])),
            passages=sum(passage.page_number <= last for passage in self._passages.get(document.id, [])),
        )

    def _readable(self, document_id: str, scope: SearchScope) -> Document | None:
        if document_id not in self._documents:
            return None
        document = self._with_source(self._documents[document_id])
        return document if scope.allows(document) else None

    def _with_source(self, document: Document) -> Document:
        """As the source is called now: it may have been renamed since."""
        source = self._sources[document.source_id]
        return replace(document, workspace=source.workspace, source=source.name, source_kind=source.kind)

    def _require_source(self, document: Document) -> None:
        source = self._sources.get(document.source_id)
        if source is None or source.workspace != document.workspace:
            raise NotFound(f"There is no source {document.source!r} for {document.path!r}; add the source first")
