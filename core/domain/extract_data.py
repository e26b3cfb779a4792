"""The schemas of extracts. A change that readers of stored data would notice counts the schema's version up.

Every item that may be cited by itself says where it stands (`Place`): the page's number and the span in its text.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from core.domain.extracts import ExtractType

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
    due_date: str | None = None  # YYYY-MM-DD where it is one, else as written ("Monday")
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
    row_spans: tuple[SpanPair, ...] = ()  # of each row in the page's text, where it stands there as one
    continued: bool = False  # goes on from the page before


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
    """One number of a table: what it measures, when, in which unit."""

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
    """Directed: `source` stands in relation `kind` to `target`."""

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
