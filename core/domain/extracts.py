"""Extracts: typed data found in pages when a document arrives, with its schemas and the readings of models."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from core.domain.corpus import Document, Page
from core.domain.passages import Span


class ExtractType(StrEnum):
    MEETING = "meeting"
    TABLE = "table"
    API = "api"
    FINANCIAL = "financial"
    ENTITY = "entity"
    RELATION = "relation"
    ANCHOR = "anchor"  # a target of references: a figure, a table, a block id, a definition
    PAGE = "page"  # its summary and topics


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractorInput:
    """A document for an extractor: pages of one revision, in order, never empty.

    `path` is the file, for details that its text doesn't show (a PDF's ruled lines), or None.
    """

    document: Document
    pages: tuple[Page, ...]
    path: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A finding of an extractor. `data` fits the model of the type's schema."""

    type: ExtractType
    page_number: int
    span: Span  # in that page's text; of a thing that goes over several pages, its part on this one
    data: Mapping[str, object]
    confidence: float  # 0..1: how sure that this is one, and read rightly


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A part that an extractor skipped because of a bound; yielded among its findings."""

    page_number: int
    reason: str  # the part and the bound: "notes of more than 2,000,000 characters are not read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unproved:
    """A model's statement that isn't on the page, or fits no schema; yielded among the proved ones."""

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
    """A filter of extracts; all parts have to fit. core/knowledge/facts compares fields of `data`."""

    type: ExtractType | None = None
    document_ids: frozenset[str] = frozenset()  # empty: all
    page_ids: frozenset[str] = frozenset()  # that it begins on; empty: all
    text: str = ""  # words that `data` has to hold, all of them; "": any
    with_aliases: bool = False  # only extracts with aliases
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The record of an extractor's run over a document, which decides whether it has to run again."""

    document_id: str
    extractor: str
    version: int
    revision: str
    extracts: int
    extracted_at: datetime
    error: str | None = None  # the reason of a failure or of refused findings
    warning: str | None = None  # one sentence about parts beyond a bound


Text = Annotated[str, Field(min_length=1, max_length=2_000)]
Number = Annotated[int, Field(ge=1)]
SpanPair: TypeAlias = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]  # start, end


class Data(BaseModel):
    """Base of all: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Place(Data):
    page_number: Number
    span: SpanPair


class Item(Place):
    """A decision or a topic, in the document's own words."""

    text: Text


class ActionItem(Place):
    description: Text
    owner: str | None = None
    due_date: str | None = None  # YYYY-MM-DD for a date, else as written ("Monday")
    done: bool | None = None  # None: not said


class Meeting(Data):
    title: str = ""
    date: str | None = None  # YYYY-MM-DD
    attendees: tuple[Text, ...] = ()
    topics: tuple[Item, ...] = ()
    decisions: tuple[Item, ...] = ()
    action_items: tuple[ActionItem, ...] = ()


class Table(Data):
    """Cells as written; every row has as many as there are columns."""

    title: str = ""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    row_spans: tuple[SpanPair, ...] = ()  # of each row in the page's text, if rows are contiguous
    continued: bool = False  # continues from the page before


class Endpoint(Place):
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"]
    path: Text
    summary: str = ""


class Api(Data):
    service_name: str = ""
    base_url: str | None = None
    auth_method: str | None = None
    endpoints: tuple[Endpoint, ...]


class Figure(Place):
    """One number of a table, with its metric, period and unit."""

    period: str | None = None
    metric: Text
    value: float
    unit: str | None = None
    text: str = ""  # the cell as written


class Financial(Data):
    """The named fields are set where the document gives them once for all."""

    rows: tuple[Figure, ...]
    ticker: str | None = None
    report_date: str | None = None
    report_type: str | None = None
    revenue: float | None = None
    net_income: float | None = None
    eps: float | None = None
    dividend_yield: float | None = None
    pe_ratio: float | None = None
    market_cap: float | None = None
    notes: str = ""


class Entity(Data):
    name: Text
    kind: Text  # "person", "place", "term", "document", ...
    aliases: tuple[Text, ...] = ()
    definition: str = ""


class Relation(Data):
    """A directed relation: `source` is in relation `kind` to `target`."""

    source: Text
    kind: Text  # "links to", "part of", "defines", ...
    target: Text
    target_document: str | None = None  # path, where the target is one


class Anchor(Data):
    name: Text  # "Figure 3", "^block-id"
    kind: Literal["figure", "table", "block", "definition", "heading"]
    caption: str = ""


class PageSummary(Data):
    summary: Annotated[str, Field(max_length=300)]
    topics: tuple[Text, ...] = ()


SCHEMAS: Mapping[ExtractType, tuple[int, type[Data]]] = {
    ExtractType.MEETING: (1, Meeting),
    ExtractType.TABLE: (1, Table),
    ExtractType.API: (1, Api),
    ExtractType.FINANCIAL: (1, Financial),
    ExtractType.ENTITY: (1, Entity),
    ExtractType.RELATION: (1, Relation),
    ExtractType.ANCHOR: (1, Anchor),
    ExtractType.PAGE: (1, PageSummary),
}


def schema_name(kind: ExtractType) -> str:
    """As extracts name it: `meeting/1`."""
    return f"{kind.value}/{SCHEMAS[kind][0]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """As much of a page as a model reads at once: `text` at `span`."""

    page_number: int
    span: Span
    text: str

    @property
    def key(self) -> str:
        """A hash of the text, the same at every place and in every revision."""
        return sha256(self.text.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReading:
    """A model's reply about one piece for one extractor: unproved items as it wrote them."""

    document_id: str
    piece: str  # Piece.key
    extractor: str
    version: int
    read_at: datetime
    said: tuple[Mapping[str, object], ...] = ()
    error: str | None = None  # one sentence about missing items


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOfPiece:
    """A piece with a model's reply for one extractor."""

    piece: Piece
    said: tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Cost of model requests: their number, and tokens in and out."""

    requests: int = 0
    tokens: int = 0

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(requests=self.requests + other.requests, tokens=self.tokens + other.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """Budgets of extractors' model requests. Days are in UTC."""

    tokens_per_run: int
    tokens_per_day: int
    max_output_tokens: int = field(default=4_096)  # of one answer; kept free in the budgets before it is asked for
