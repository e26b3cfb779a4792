"""Ports of ingestion: readers, fetchers, extractors, and stores of extracts and of sync states."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel

from core.domain.audit import Audit
from core.domain.channels import ChannelMessage, StoredMessage
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
from core.domain.incoming import ChannelAddress
from core.domain.ingest_report import IngestProgress
from core.domain.kept_answers import KeptAnswer, KeptState
from core.domain.passages import PageBox, Span
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
        """The kind of file it accepts, for the sentence "not {expects}": "a PDF", "a Foundry journal"."""

    def accepts(self, path: Path, head: bytes) -> bool:
        """Return whether a file with one of the suffixes is of this kind; `head` is its first 4 KiB."""

    def read(self, path: Path, root: Path) -> ParsedDocument:
        """Raise ReadError with the reason for people; any other exception is a bug, and reported as one."""


class PageImages(Protocol):
    """Pages of PDFs as images, for people."""

    async def of_page(self, source: Source, document: Document, page: Page, width: int) -> bytes:
        """Return the page as WebP, at most `width` pixels wide.

        Raises NotFound if the file is missing, has changed since it was read, or can't be drawn.
        """

    async def boxes_of(self, source: Source, document: Document, page: Page, span: Span) -> tuple[PageBox, ...]:
        """Return the places of a part of the page's text on its image: one for each line, in text order.

        Empty if the places aren't known, e.g. on a scanned page. Raises NotFound as `of_page`.
        """

    @property
    def has_ocr(self) -> bool:
        """Whether the words of scanned pages can be found."""

    async def boxes_on_scan(self, source: Source, document: Document, page: Page, span: Span) -> tuple[PageBox, ...]:
        """Return the places as `boxes_of`, on a scanned page; the first time, this takes seconds.

        Empty if the page isn't scanned, or its words aren't found. Raises NotFound as `of_page`.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The changes of a fetch to a mirror."""

    root: Path  # the folder to read: the mirror's, or a part of it
    changed: int = 0  # files written
    removed: int = 0
    warnings: tuple[str, ...] = ()  # one sentence each about files that couldn't be fetched and stay unchanged
    links: Mapping[str, str] = field(default_factory=dict)  # path below root -> its web address
    # Path below root -> sets of names, as the source calls people and groups. A reader has one name of each set, and
    # an empty set is nobody. Other files are for everyone who may read the source.
    restricted: Mapping[str, tuple[frozenset[str], ...]] = field(default_factory=dict)


class FetchProgress(Protocol):
    def __call__(self, done: int, total: int | None, name: str) -> None:
        """Report that `done` things of `total` (None: unknown yet) have arrived, the last one called `name`.

        Called in the event loop, also by code that works in a thread.
        """


class SourceFetcher(Protocol):
    """Updates a local folder from a source elsewhere; bound to one source."""

    async def fetch(self, mirror: Path, progress: FetchProgress, *, force: bool = False) -> Fetched:
        """Make the files of the folder `mirror` (created if missing, used by this source only) equal to the source's.

        Unchanged files are neither fetched nor written again: a file keeps its time. `force` ignores the results of
        earlier fetches. Files removed at the source are removed; files that can't be fetched now stay, with a warning.
        Safe to repeat and to interrupt: the mirror stores its own progress (mirrors of several machines are
        independent).

        Raises SourceUnavailable if the source as a whole can't be read; existing files stay.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class WebFile:
    """The file behind a link."""

    name: str  # a readable path with the suffix of its kind
    content: bytes


class FetchLink(Protocol):
    async def __call__(self, url: str, most_bytes: int) -> WebFile:
        """Fetch a page or a file from a public address.

        Raises SourceUnavailable or BadInput, each with a sentence for the person who added the link.
        """


class SyncRepository(Protocol):
    """The state of each source's last sync, by workspace and name. Kept after the source left the configuration."""

    async def save(self, state: SyncState) -> None:
        """Insert or replace."""

    async def find(self, workspace: str, source: str) -> SyncState | None: ...

    async def list_states(self, workspace: str) -> list[SyncState]:
        """Return states by name."""

    async def remove(self, workspace: str, source: str) -> None:
        """Ignore unknown ones."""


class Extractor(Protocol):
    """Finds one kind of data. Pure and deterministic: the same pages give the same findings, in text order.

    Never raises on junk: it ignores unreadable parts. Rule-based extractors run in a child process with limits.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int:
        """Incremented if the same pages would give another result: all documents are extracted again."""

    @property
    def types(self) -> frozenset[ExtractType]:
        """The types of its findings."""

    def reads(self, document: Document) -> bool:
        """Return whether it reads such documents at all (by kind, by path)."""

    def extract(self, given: ExtractorInput) -> Iterable[Found | Unread]:
        """Return findings in text order, with spans in their pages, and `Unread` for parts beyond a bound."""


class ModelExtractor(Protocol):
    """Finds data in prose with a model: gives the instruction, and proves the replies.

    Pure and deterministic like an Extractor; storage/documents/extraction/by_model.py asks the model, with its
    rates and limits. Never raises for a model's reply.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int:
        """Incremented if a model should be asked again about all documents."""

    @property
    def types(self) -> frozenset[ExtractType]: ...

    @property
    def asks(self) -> str:
        """The instruction to the model."""

    @property
    def item(self) -> type[BaseModel]:
        """The form of one item in the model's reply; it has a `quote`."""

    def reads(self, document: Document) -> bool: ...

    def wants(self, text: str) -> bool:
        """Return whether a piece may hold anything, so that a request is worth its cost."""

    def find(
        self, said: Sequence[SaidOfPiece], given: ExtractorInput, known: Sequence[Extract]
    ) -> Iterable[Found | Unproved]:
        """Return proved items in text order, and the reasons against the others.

        `known` was found by rules, and isn't repeated.
        """


class ExtractRepository(Protocol):
    """Extracts by document and extractor, deleted with their document or revision."""

    async def replace(self, extraction: Extraction, extracts: Sequence[Extract]) -> None:
        """Make `extracts` the only ones of this extractor and document, in one commit with the record of the run.

        The document's `extracted_at` becomes the run's. Raises NotFound, and changes nothing, if the document was
        removed or has another live revision.
        """

    async def extractions(self, workspace: str, document_id: str | None = None) -> list[Extraction]:
        """Return the record of each extractor's last run, by document and extractor."""

    async def list_extracts(self, query: ExtractQuery, scope: SearchScope) -> list[Extract]:
        """Return extracts of live revisions in the order of source, document, page and place.

        None outside the scope: of other sources, or beyond a reading position, whole or in part.
        """

    async def counts(self, scope: SearchScope) -> dict[ExtractType, int]:
        """Count the extracts of each type within the scope."""


class ReadingRepository(Protocol):
    """Replies of models about pieces of documents, and their cost. Readings are deleted with their document."""

    async def readings(self, document_id: str) -> list[ModelReading]:
        """Return readings by piece and extractor."""

    async def save(self, readings: Sequence[ModelReading], day: date, spent: Spending) -> None:
        """Insert or replace readings, and add their cost to the day's sum, in one commit.

        Readings of a deleted document are ignored, but their cost counts.
        """

    async def keep_only(self, document_id: str, pieces: Collection[str]) -> None:
        """Remove the readings of all other pieces of a document."""

    async def spent(self, day: date) -> Spending:
        """Return the cost of a day, over all processes on the database."""


class IngestProgressStore(Protocol):
    """The progress of the ingests of all processes on the database.

    A note that isn't renewed counts as that of a killed process, and for nothing.
    """

    async def note(self, source_id: str, progress: IngestProgress) -> None:
        """Store how far this process's ingest of a source has come."""

    async def end(self, source_id: str) -> None:
        """Remove this process's note; safe to repeat."""

    async def elsewhere(self) -> Mapping[str, IngestProgress]:
        """Return how far the ingests of other processes have come, by source; of several, the furthest."""


class KeptAnswerRepository(Protocol):
    """Answers that people proposed to keep. Every change is durable when it returns."""

    async def add(self, kept: KeptAnswer) -> tuple[KeptAnswer, bool]:
        """Store it, and return it with True; for a known id, return the stored one with False."""

    async def get(self, id: str, workspace: str) -> KeptAnswer:
        """Raise NotFound for an unknown id, and for another workspace's."""

    async def change(self, kept: KeptAnswer, *, was: KeptState, audit: Audit = None) -> bool:
        """Store a changed one, if the stored one is still in the state `was`; False if it isn't, or was deleted."""

    async def remove(self, ids: Collection[str], *, audit: Audit = None) -> None:
        """Delete some; unknown ids are ignored. Their documents stay, without readers."""

    async def list_kept(self, workspace: str | None = None) -> list[KeptAnswer]:
        """Return the ones of a workspace, or of all, oldest first."""

    async def list_lost(self, now: datetime) -> list[KeptAnswer]:
        """Return the ones that have to go, oldest first.

        They have expired, or lost the stored answer, a document that they rest on, or their own document.
        """


class ChannelMessageRepository(Protocol):
    """Messages of live channels, by the source of each. They go with it. Changes of messages are durable at return."""

    async def list_sources(self, *, lately: bool = False) -> list[Source]:
        """Return the sources of live channels of all workspaces, by workspace and name.

        `lately`: up to a second before changes of other processes.
        """

    async def save(
        self, source_id: str, messages: Sequence[ChannelMessage], seen: Mapping[str, int] | None = None
    ) -> frozenset[str]:
        """Store new messages and texts that changed; return the roots of threads with changed ones.

        Deleted messages stay deleted. With `seen` (versions by id), only messages that still have them are changed. A
        reply to a reply joins its thread.
        """

    async def bury(self, source_id: str, which: Collection[str]) -> frozenset[str]:
        """Delete all but the ids of messages; return the roots of their threads. Unknown ids are ignored."""

    async def list_messages(
        self, source_id: str, *, roots: Collection[str] | None = None, since: datetime | None = None
    ) -> list[StoredMessage]:
        """Return messages, deleted ones too, by time; of these threads, and said after `since`."""

    async def list_open(self, source_id: str) -> frozenset[str]:
        """Return the roots of threads that the library doesn't have as they are now."""

    async def list_by(self, source_id: str, author: str) -> frozenset[str]:
        """Return the ids of a person's messages."""

    async def list_older(self, source_id: str, begun_before: datetime) -> frozenset[str]:
        """Return the ids of messages in threads that began before then."""

    async def settle(self, source_id: str, read: Sequence[StoredMessage]) -> None:
        """Note that the library has messages as they are given here; later changes are left out."""

    async def purge(self, source_id: str, begun_before: datetime) -> None:
        """Delete the remains of deleted messages of older threads."""

    async def note_visit(self, source_id: str, person: str, at: datetime) -> None:
        """Store that a person was there."""

    async def last_visit(self, source_id: str, person: str) -> datetime | None:
        """Return when a person was there last; None if that isn't known."""

    async def forget_visits(self, source_id: str, person: str) -> None:
        """Delete when a person was there."""


class ChannelHistory(Protocol):
    """A platform's own history of a channel."""

    async def name(self, channel: ChannelAddress) -> str:
        """Return the name of a channel, as people write it. BadInput for a place that can't be a source."""

    async def read(self, channel: ChannelAddress, since: datetime) -> Sequence[ChannelMessage]:
        """Return all messages of people in threads that began since then, without questions to the bot.

        Raises FootnoteError if any of them can't be read.
        """
