"""Extracts as rows: a meeting's decisions and action items, a table's rows, each with its own place. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from typing import TypeAlias

from core.domain.extracts import SCHEMAS, Api, Extract, ExtractType, Financial, Meeting, Place, Table
from core.domain.passages import Span

OPEN, DONE = "open", "done"  # status of an action item, which is open by default

Value: TypeAlias = str | float | int | tuple[str, ...] | None


class FactType(StrEnum):
    ACTION_ITEM = "action_item"
    DECISION = "decision"
    TOPIC = "topic"
    MEETING = "meeting"
    TABLE = "table"
    ROW = "row"  # of a table; its fields are the columns
    API = "api"
    ENDPOINT = "endpoint"
    FINANCIAL = "financial"  # values that a report gives once for all
    FIGURE = "figure"
    ENTITY = "entity"
    RELATION = "relation"
    ANCHOR = "anchor"
    PAGE = "page"


# Which extracts hold facts of a type.
EXTRACT_TYPES: Mapping[FactType, ExtractType] = {
    **dict.fromkeys((FactType.ACTION_ITEM, FactType.DECISION, FactType.TOPIC, FactType.MEETING), ExtractType.MEETING),
    **dict.fromkeys((FactType.TABLE, FactType.ROW), ExtractType.TABLE),
    **dict.fromkeys((FactType.API, FactType.ENDPOINT), ExtractType.API),
    **dict.fromkeys((FactType.FINANCIAL, FactType.FIGURE), ExtractType.FINANCIAL),
    FactType.ENTITY: ExtractType.ENTITY,
    FactType.RELATION: ExtractType.RELATION,
    FactType.ANCHOR: ExtractType.ANCHOR,
    FactType.PAGE: ExtractType.PAGE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One row. `fields` are in reading order, without empty ones."""

    type: FactType
    fields: Mapping[str, Value]
    page_number: int
    span: Span  # in that page's text
    extract: Extract  # that it is a part of
    about: str = ""  # more words to find it by: its table's title and columns


def to_facts(extract: Extract) -> list[Fact]:
    """Return all rows of an extract: first the one for the whole, then its parts in order."""
    match extract.type:
        case ExtractType.MEETING:
            return list(_of_meeting(extract, Meeting.model_validate(extract.data)))
        case ExtractType.TABLE:
            return list(_of_table(extract, Table.model_validate(extract.data)))
        case ExtractType.API:
            return list(_of_api(extract, Api.model_validate(extract.data)))
        case ExtractType.FINANCIAL:
            return list(_of_financial(extract, Financial.model_validate(extract.data)))
        case _:
            data = SCHEMAS[extract.type][1].model_validate(extract.data)
            return [_fact(extract, FactType(extract.type.value), data.model_dump())]


def _of_meeting(extract: Extract, meeting: Meeting) -> Iterator[Fact]:
    about: dict[str, Value] = {"meeting": meeting.title, "date": meeting.date}
    yield _fact(
        extract, FactType.MEETING, {"title": meeting.title, "date": meeting.date, "attendees": meeting.attendees}
    )
    for topic in meeting.topics:
        yield _fact(extract, FactType.TOPIC, {"text": topic.text, **about}, topic)
    for decision in meeting.decisions:
        yield _fact(extract, FactType.DECISION, {"text": decision.text, **about}, decision)
    for item in meeting.action_items:
        fields: dict[str, Value] = {
            "description": item.description,
            "owner": item.owner,
            "due_date": item.due_date,
            "status": DONE if item.done else OPEN,
            **about,
        }
        yield _fact(extract, FactType.ACTION_ITEM, fields, item)


def _of_table(extract: Extract, table: Table) -> Iterator[Fact]:
    columns = _unique(table.columns)
    about: dict[str, Value] = {"title": table.title, "columns": tuple(columns), "rows": len(table.rows)}
    yield _fact(extract, FactType.TABLE, about)
    spans = [Span(*span) for span in table.row_spans] if len(table.row_spans) == len(table.rows) else []
    words = " ".join([table.title, *table.columns])
    for number, row in enumerate(table.rows):
        fact = _fact(extract, FactType.ROW, dict(zip(columns, row, strict=False)))
        yield replace(fact, span=spans[number] if spans else fact.span, about=words)


def _unique(columns: tuple[str, ...]) -> list[str]:
    """Return names for all columns: empty ones are named by their place, repeated ones are numbered."""
    names: list[str] = []
    for place, column in enumerate(columns, start=1):
        name = column.strip() or f"column {place}"
        numbered = (f"{name} {number}" for number in count(2))
        names.append(name if name not in names else next(each for each in numbered if each not in names))
    return names


def _of_api(extract: Extract, api: Api) -> Iterator[Fact]:
    about: dict[str, Value] = api.model_dump(include={"service_name", "base_url", "auth_method"})
    yield _fact(extract, FactType.API, {**about, "endpoints": len(api.endpoints)})
    for item in api.endpoints:
        fields: dict[str, Value] = {"method": item.method, "path": item.path, "summary": item.summary}
        yield _fact(extract, FactType.ENDPOINT, {**fields, **about}, item)


def _of_financial(extract: Extract, report: Financial) -> Iterator[Fact]:
    said = report.model_dump(exclude={"rows"}, exclude_none=True)
    if any(value != "" for value in said.values()):
        yield _fact(extract, FactType.FINANCIAL, said)
    about: dict[str, Value] = {"ticker": report.ticker, "report_date": report.report_date}
    for row in report.rows:
        fields = {name: getattr(row, name) for name in ("metric", "period", "value", "unit", "text")}
        yield _fact(extract, FactType.FIGURE, {**fields, **about}, row)


def _fact(extract: Extract, kind: FactType, fields: Mapping[str, Value], place: Place | None = None) -> Fact:
    return Fact(
        type=kind,
        fields={name: value for name, value in fields.items() if value not in (None, "", ())},
        page_number=place.page_number if place is not None else extract.page_number,
        span=Span(*place.span) if place is not None else extract.span,
        extract=extract,
    )
