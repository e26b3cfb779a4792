"""Contents of the library: sources, documents and pages; scopes of searches."""

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from core.domain.passages import Passage, Span
from core.domain.readers import MEMBERS_ONLY

# Fixed for ever: ids of pages and passages are UUIDv5 under it, so that reading a document again gives the same ids.
NAMESPACE = uuid.UUID("6f2b7a52-6c53-5c0e-9a53-0d4b2f6f7a11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A configured place documents come from."""

    id: str
    workspace: str
    name: str
    kind: str  # folder | file
    location: str  # absolute path of the root
    link_template: str | None = None  # {path}, {page}, {anchor}, {uuid} are filled in, URL-quoted
    readers: frozenset[str] = MEMBERS_ONLY  # as core/domain/readers.py writes them


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading inside a page; equal titles stay apart because each has its own place."""

    level: int  # 1..6
    title: str
    start: int  # where the heading's line begins in the page's text


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedPage:
    """A page as a reader gives it."""

    title: str  # the journal page's name, the section's heading, or "" for a PDF page
    text: str  # the text all spans point into; quotes are cut from it
    headings: tuple[Heading, ...] = ()  # in text order; with the page's own heading, if the text has it
    heading_path: tuple[
        str, ...
    ] = ()  # headings above this page (e.g. the h1 over an h2 page, or a folder of a journal)
    anchors: tuple[tuple[str, int], ...] = ()  # block ids and the like: (name, place in text)
    deep_link: str | None = None  # e.g. @UUID[JournalEntry.<id>.JournalEntryPage.<id>]
    number: int | None = None  # None: its place in the list, from 1; a PDF's own number, where empty pages are left out
    label: str = ""  # printed page number, if it is another one: "xii"
    running: tuple[Span, ...] = ()  # lines that are in no passage: running titles and page numbers, in text order


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """A document as a reader gives it. No page may be empty; no pages at all is a ReadError."""

    title: str
    kind: str  # the reader's name: markdown | text | html | pdf | foundry | ...
    pages: tuple[ParsedPage, ...]
    aliases: tuple[str, ...] = ()
    url: str | None = None  # the document's own address, where the file states one
    links: tuple[str, ...] = ()  # targets of wikilinks and @UUID links, as written
    depends_on: tuple[str, ...] = ()  # paths, relative to the source root, of other files whose text is embedded
    warnings: tuple[str, ...] = ()  # one sentence each about unreadable parts
    hidden: tuple[str, ...] = ()  # the warnings about text that a reader of the file can't see
    dated: str | None = None  # YYYY-MM-DD, as its author states it: in front matter, or in a mail's header
    readers: frozenset[str] | None = None  # that the file itself states; None: all of its source's
    named_readers: tuple[frozenset[str], ...] = ()  # as the program that wrote it calls them: one name of each set
    created: str | None = None  # YYYY-MM-DD, as the program that wrote the file says


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStamp:
    """Size and time of a file, by which an unchanged file is recognised without reading it."""

    size: int  # bytes
    modified_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document as stored. `revision` is the content hash of the live pages, None while it never was read."""

    id: str
    workspace: str
    source_id: str
    source: str  # the source's name
    path: str  # relative to its source, '/' between parts
    title: str
    kind: str
    revision: str | None
    aliases: tuple[str, ...] = ()
    url: str | None = None
    source_kind: str = "folder"
    pages: int = 0
    passages: int = 0
    stamp: FileStamp | None = None
    depends_on: tuple[str, ...] = ()
    crawled_at: datetime | None = None
    extracted_at: datetime | None = None
    failed_reason: str | None = None
    hidden: tuple[str, ...] = ()  # sentences about omitted text that a reader of the file can't see
    dated: str | None = None  # YYYY-MM-DD, by its author, its name or its file; None: it says no date


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlace:
    """The place of a page in its book; empty if the book doesn't say."""

    label: str = ""  # printed page number, if it is another one
    part: int | None = None  # of the part, book, volume or act
    chapter: int | None = None  # of the chapter, scene, letter or session
    chapter_title: str = ""  # as printed: "Chapter 5: The Bridge"
    session_date: str | None = None  # YYYY-MM-DD, where a title names a day


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page as stored, of one revision of its document."""

    id: str
    document_id: str
    revision: str
    number: int  # from 1
    title: str
    text: str
    heading_path: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    anchors: tuple[tuple[str, int], ...] = ()
    deep_link: str | None = None
    place: PagePlace | None = None  # None: read by a version that kept none


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedPassage:
    """A passage with its document and place: evidence, and the result of tools."""

    passage: Passage
    document: Document
    page_title: str
    deep_link: str | None = None
    score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchScope:
    """All that a question may read. Required by every index and page read; made by core/access/scopes.py only.

    `sources` are source ids; an empty set reads nothing. `hidden` are ids of their documents that may not be read.
    `positions` maps a document id to the last page number that may be read of it; documents not named are open to
    their end.
    """

    workspace: str
    sources: frozenset[str]
    positions: Mapping[str, int] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()

    @property
    def digest(self) -> str:
        """A hash of the scope, for keys of kept results that depend on it."""
        readable = repr((sorted(self.sources), sorted(self.positions.items()), sorted(self.hidden)))
        return hashlib.sha256(readable.encode()).hexdigest()[:16]

    def allows(self, document: Document, page_number: int | None = None) -> bool:
        if document.workspace != self.workspace or document.source_id not in self.sources:
            return False
        if document.id in self.hidden:
            return False
        last = self.positions.get(document.id)
        return last is None or page_number is None or page_number <= last


@dataclass(frozen=True, slots=True, kw_only=True)
class LibrarySummary:
    """The documents that a scope may read, in numbers, and the newest of them by their own day, then by reading."""

    kinds: Mapping[str, int]
    sources: Mapping[str, int]  # by name
    newest: tuple[Document, ...]

    @property
    def total(self) -> int:
        return sum(self.kinds.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A search. Filters narrow the scope, and never widen it."""

    text: str
    limit: int = 10  # hits at most
    kind: str | None = None
    document_ids: frozenset[str] = frozenset()  # empty: all
    rerank: bool = False  # blend in the cross-encoder, where one is configured


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHit:
    """A page that a search found, with its passages that matched, best first."""

    document: Document
    page_id: str
    page_number: int
    heading_path: tuple[str, ...]  # of the best passage
    passages: tuple[SourcedPassage, ...]
    score: float


def document_id(workspace: str, source_id: str, path: str) -> str:
    return str(uuid.uuid5(NAMESPACE, f"document\x1f{workspace}\x1f{source_id}\x1f{path}"))


def page_id(document: str, revision: str, number: int) -> str:
    return str(uuid.uuid5(NAMESPACE, f"page\x1f{document}\x1f{revision}\x1f{number}"))


def passage_id(workspace: str, document: str, revision: str, ordinal: int) -> str:
    return str(uuid.uuid5(NAMESPACE, f"passage\x1f{workspace}\x1f{document}\x1f{revision}\x1f{ordinal}"))
