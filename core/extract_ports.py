"""What extraction needs: extractors, and where extracts are kept. The other ports: core/ports.py."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from core.domain.corpus import Document, SearchScope
from core.domain.extracts import Extract, Extraction, ExtractorInput, ExtractQuery, ExtractType, Found


class Extractor(Protocol):
    """Finds one kind of data. Pure and deterministic: the same pages give the same findings, in text order.

    It never raises on junk: what it can't read, it does not find. Rule-based ones run in a child process with limits.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int:
        """Counted up whenever the same pages would give something else: all documents are extracted anew then."""

    @property
    def types(self) -> frozenset[ExtractType]:
        """What it finds."""

    def reads(self, document: Document) -> bool:
        """Whether it looks at such documents at all (by kind, by path)."""

    def extract(self, given: ExtractorInput) -> Iterable[Found]:
        """In text order. Spans lie in the text of the pages named."""


class ExtractRepository(Protocol):
    """Extracts by document and extractor. They go with their document, and with their revision."""

    async def replace(self, extraction: Extraction, extracts: Sequence[Extract]) -> None:
        """Make `extracts` the only ones of this extractor and document, in one commit with the record of the run.

        The document's `extracted_at` is then the run's. NotFound where the document is gone or its live revision is
        another one: nothing is changed then.
        """

    async def extractions(self, workspace: str, document_id: str | None = None) -> list[Extraction]:
        """The record of each extractor's last run, by document and extractor."""

    async def list_extracts(self, query: ExtractQuery, scope: SearchScope) -> list[Extract]:
        """In the order of source, document, page and place; none of another revision than the live one.

        None outside of the scope: of other sources, or beyond a reading position, whole or in part.
        """

    async def counts(self, scope: SearchScope) -> dict[ExtractType, int]:
        """How many there are of each type within the scope."""
