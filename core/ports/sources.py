"""What documents come in by: readers, fetchers, and the state of syncs. The other ports: core/ports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from core.domain.corpus import Document, Page, ParsedDocument, Source
from core.domain.syncs import SyncState


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
