"""Ports of ingestion: readers, fetchers, extractors, and stores of extracts and of sync states."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel

from core.domain.corpus import Document, Page, ParsedDocument, SearchScope, Source
from core.domain.extracts import (
    Extract,
    Extraction,
    ExtractorInput,
    ExtractQuery,
    ExtractType,
    Found,
    ModelReading,
    SaidOfPiece,
    Spending,
    Unproved,
    Unread,
)
from core.domain.sources import SyncState


class Reader(Protocol):
    """Reads one kind of file. No network, nothing outside the file and its source folder; runs in a child process."""

    @property
    def kind(self) -> str: ...

    @property
    def suffixes(self) -> frozenset[str]:
        """Lower case, with the dot."""

    @property
    def expects(self) -> str:
        """What a file has to be to be accepted, for the sentence "not {expects}": "a PDF", "a Foundry journal"."""

    def accepts(self, path: Path, head: bytes) -> bool:
        """Whether a file with one of the suffixes is really of this kind; `head` is its first 4 KiB."""

    def read(self, path: Path, root: Path) -> ParsedDocument:
        """ReadError with the reason for people; any other exception is a bug, and reported as one."""


class PageImages(Protocol):
    """Pages of PDFs as images, for people."""

    async def of_page(self, source: Source, document: Document, page: Page, width: int) -> bytes:
        """Return the page as WebP, at most `width` pixels wide.

        Raises NotFound if the file is gone, has changed since it was read, or can't be drawn.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What a fetch did to a mirror."""

    root: Path  # the folder whose files are to be read: the mirror's, or a part of it
    changed: int = 0  # files written anew
    removed: int = 0
    warnings: tuple[str, ...] = ()  # one sentence each: what could not be fetched and stays as it was
    links: Mapping[str, str] = field(default_factory=dict)  # path below root -> the web address people know it by


class FetchProgress(Protocol):
    def __call__(self, done: int, total: int | None, name: str) -> None:
        """`done` things of `total` (None: not known yet) are here, the last one called `name`.

        For the event loop: who works in a thread has it called there.
        """


class SourceFetcher(Protocol):
    """Brings a local folder in step with something that is elsewhere; bound to one source."""

    async def fetch(self, mirror: Path, progress: FetchProgress, *, force: bool = False) -> Fetched:
        """Make the files of the folder `mirror` (made if need be, this source's alone) those of the source.

        What has not changed is neither fetched nor written again: a file keeps its time. `force` trusts nothing that
        earlier fetches left. What is gone at the source is removed; what can't be had for now stays as it was, with a
        warning. Safe to repeat and to interrupt: the mirror remembers by itself how far it is (mirrors of several
        machines know nothing of each other).

        Raises SourceUnavailable when nothing can be said of the source as a whole; files that are there stay.
        """


class SyncRepository(Protocol):
    """The state of each source's last sync, by workspace and name. Outlives the configuration of the source."""

    async def save(self, state: SyncState) -> None:
        """Insert or replace."""

    async def find(self, workspace: str, source: str) -> SyncState | None: ...

    async def list_states(self, workspace: str) -> list[SyncState]:
        """By name."""

    async def remove(self, workspace: str, source: str) -> None:
        """Unknown ones are ignored."""


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
    storage/documents/extraction/by_model.py. It never raises for what a model can say.
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
