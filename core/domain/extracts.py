"""Extracts: typed data found in pages when a document arrives, each with the place it was found at."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from core.domain.corpus import Document, Page, Span


class ExtractType(StrEnum):
    MEETING = "meeting"
    TABLE = "table"
    API = "api"
    FINANCIAL = "financial"
    ENTITY = "entity"
    RELATION = "relation"
    ANCHOR = "anchor"  # a figure, a table, a block id, a definition: what others point at
    PAGE = "page"  # its summary and topics


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractorInput:
    """A document as an extractor sees it: pages of one revision, in order, and never empty.

    `path` is the file that was read, for what its text does not show (a PDF's ruled lines); None where there is none.
    """

    document: Document
    pages: tuple[Page, ...]
    path: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What an extractor found. `data` fits the model of the type's schema (core/domain/extract_data.py)."""

    type: ExtractType
    page_number: int
    span: Span  # in that page's text; of a thing that goes over several pages, its part on this one
    data: Mapping[str, object]
    confidence: float  # 0..1: how sure that this is one, and read rightly


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """What an extractor left out because of a bound of its own: yielded among what it found."""

    page_number: int
    reason: str  # what, and which bound: "notes of more than 2,000,000 characters are not read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unproved:
    """What a model said that is not on the page, or fits no schema: yielded among what was proved."""

    page_number: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """An extract as stored, of one revision of its document."""

    id: str
    document_id: str
    document: str  # path relative to its source
    document_title: str
    source_id: str
    page_id: str
    page_number: int
    revision: str
    extractor: str
    type: ExtractType
    schema: str  # "meeting/1"
    span: Span
    confidence: float
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractQuery:
    """Which extracts; all of it has to fit. What compares fields of `data` is core/facts."""

    type: ExtractType | None = None
    document_ids: frozenset[str] = frozenset()  # empty: all
    page_ids: frozenset[str] = frozenset()  # that it begins on; empty: all
    text: str = ""  # words that `data` has to hold, all of them; "": any
    with_aliases: bool = False  # only what has other names
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What one extractor has made of one document: what tells whether it has to be run again."""

    document_id: str
    extractor: str
    version: int
    revision: str
    extracts: int
    extracted_at: datetime
    error: str | None = None  # why it failed, or what was refused of it
    warning: str | None = None  # what a bound left out, in one sentence
