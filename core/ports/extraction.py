"""What extraction needs: extractors, and where extracts are kept. The other ports: core/ports."""

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from typing import Protocol

from pydantic import BaseModel

from core.domain.corpus import Document, SearchScope
from core.domain.extract_readings import ModelReading, SaidOfPiece, Spending
from core.domain.extracts import (
    Extract,
    Extraction,
    ExtractorInput,
    ExtractQuery,
    ExtractType,
    Found,
    Unproved,
    Unread,
)


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

    def extract(self, given: ExtractorInput) -> Iterable[Found | Unread]:
        """In text order. Spans lie in the text of the pages named. `Unread` wherever a bound left something out."""


class ModelExtractor(Protocol):
    """Finds data in prose by what a model said of it: it says what to ask for, and proves what came of it.

    Pure and deterministic, as an Extractor is: who asks the model, how fast and for how much is
    core/extraction/model_extracting.py. It never raises for what a model can say.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int:
        """Counted up whenever a model should be asked again, about all documents."""

    @property
    def types(self) -> frozenset[ExtractType]: ...

    @property
    def asks(self) -> str:
        """What to look for, as the model is told it."""

    @property
    def item(self) -> type[BaseModel]:
        """The form of one thing that the model gives; it has a `quote`."""

    def reads(self, document: Document) -> bool: ...

    def wants(self, text: str) -> bool:
        """Whether a piece may hold anything at all: a model is not asked in vain."""

    def find(
        self, said: Sequence[SaidOfPiece], given: ExtractorInput, known: Sequence[Extract]
    ) -> Iterable[Found | Unproved]:
        """What of it is proved, in text order, and why the rest is not. `known` was found by rules: it comes once."""


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


class ReadingRepository(Protocol):
    """What models said of pieces of documents, and what that has cost. Readings go with their document."""

    async def readings(self, document_id: str) -> list[ModelReading]:
        """By piece and extractor."""

    async def save(self, readings: Sequence[ModelReading], day: date, spent: Spending) -> None:
        """Insert or replace readings, and add what they cost to the day's sum, in one commit.

        What was spent is counted whatever else: readings of a document that is gone are dropped without a word.
        """

    async def keep_only(self, document_id: str, pieces: Collection[str]) -> None:
        """Forget the readings of all other pieces of a document."""

    async def spent(self, day: date) -> Spending:
        """By all processes on the database."""
