"""Extracts in memory."""

from collections import Counter
from collections.abc import Sequence

from core.domain.corpus import Document, SearchScope
from core.domain.extracts import Extract, Extraction, ExtractQuery, ExtractType
from core.errors import NotFound
from storage.database.extract_words import last_page_of, words_of
from storage.memory.corpus import MemoryCorpusRepository
from storage.storable import to_storable_value


class MemoryExtractRepository:
    """ExtractRepository that forgets everything with the process; its documents are those of `corpus`."""

    def __init__(self, corpus: MemoryCorpusRepository) -> None:
        self._corpus = corpus
        self._runs: dict[tuple[str, str], tuple[Extraction, list[Extract]]] = {}

    async def replace(self, extraction: Extraction, extracts: Sequence[Extract]) -> None:
        extraction = to_storable_value(extraction)
        if (extraction.document_id, extraction.revision) not in await self._corpus.live_revisions():
            raise NotFound(f"The document {extraction.document_id!r} has changed meanwhile: it is extracted anew")
        key = extraction.document_id, extraction.extractor
        self._runs[key] = extraction, [to_storable_value(extract) for extract in extracts]
        self._corpus.mark_extracted(extraction.document_id, extraction.extracted_at)

    async def extractions(self, workspace: str, document_id: str | None = None) -> list[Extraction]:
        known = {document.id for document in await self._corpus.list_documents(workspace)}
        return [
            run
            for _, (run, _) in sorted(self._runs.items())
            if run.document_id in known and document_id in (None, run.document_id)
        ]

    async def list_extracts(self, query: ExtractQuery, scope: SearchScope) -> list[Extract]:
        words = query.text.casefold().split()
        found = [
            (document.source, document.path, extract.page_number, extract.span.start, extract.id, extract)
            for document, extract in await self._live(scope)
            if query.type in (None, extract.type)
            and (not query.document_ids or document.id in query.document_ids)
            and (not query.page_ids or extract.page_id in query.page_ids)
            and (not query.with_aliases or extract.data.get("aliases"))
            and all(word in words_of(extract.data) for word in words)
        ]
        return [item[-1] for item in sorted(found, key=lambda item: item[:-1])[: query.limit]]

    async def counts(self, scope: SearchScope) -> dict[ExtractType, int]:
        return dict(Counter(extract.type for _, extract in await self._live(scope)))

    async def _live(self, scope: SearchScope) -> list[tuple[Document, Extract]]:
        documents = {document.id: document for document in await self._corpus.list_documents(scope.workspace)}
        return [
            (documents[run.document_id], extract)
            for run, extracts in self._runs.values()
            for extract in extracts
            if run.document_id in documents
            and documents[run.document_id].revision == extract.revision
            and scope.allows(documents[run.document_id], last_page_of(extract))
        ]
