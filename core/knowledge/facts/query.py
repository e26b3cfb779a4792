"""What is asked of extracts: types, conditions on fields, and words. reading.py makes it of a text."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from core.domain.extracts import ExtractType
from core.knowledge.facts.rows import EXTRACT_TYPES, FactType

MOST_ROWS = 200  # of one answer: more is read as a list of extracts
DEFAULT_ROWS = 50


class Comparison(StrEnum):
    """Dates are compared as days, months or years, as far as they are said; numbers as numbers."""

    HOLDS = ":"  # all words of the value stand in the field
    IS = "="
    IS_NOT = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A field compared with a value; an empty value with IS stands for "nothing is said"."""

    field: str  # as `to_field_name` makes it
    comparison: Comparison = Comparison.HOLDS
    value: str = ""

    def __str__(self) -> str:
        value = f'"{self.value}"' if " " in self.value or not self.value else self.value
        return f"{self.field}{self.comparison.value}{value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactQuery:
    """All of it has to fit. `str` gives it in the form that can be asked again."""

    types: frozenset[FactType] = frozenset()  # empty: all but tables as a whole, anchors and pages
    conditions: tuple[Condition, ...] = ()
    words: tuple[str, ...] = ()  # each stands in a field, or in the document's title or path
    document: str | None = None  # its path, title or alias
    limit: int = DEFAULT_ROWS  # rows at most

    def __str__(self) -> str:
        types = [f"type:{kind}" for kind in FactType if kind in self.types]
        document = [f'document:"{self.document}"'] if self.document else []
        return " ".join([*types, *map(str, self.conditions), *document, *self.words])


def of_extracts(query: FactQuery, kind: ExtractType | None) -> FactQuery:
    """The query of extracts of one type alone: where it asks for none of their rows, of all of them."""
    rows = frozenset(row for row, extract in EXTRACT_TYPES.items() if kind is None or extract is kind)
    return query if kind is None else replace(query, types=query.types & rows or rows)


# What people call a field -> what schemas call it; the first that a fact has counts. Columns have any name at all.
FIELD_ALIASES: Mapping[str, tuple[str, ...]] = {
    "owner": ("owner", "assignee", "assigned_to", "responsible", "who"),
    "assignee": ("assignee", "owner"),
    "due": ("due_date", "due", "deadline", "due_by"),
    "deadline": ("deadline", "due_date", "due"),
    "due_date": ("due_date", "due", "deadline"),
    "attendee": ("attendees", "attendee"),
    "decision": ("text",),
    "topic": ("text", "topics"),
    "service": ("service_name", "service"),
    "auth": ("auth_method", "auth"),
    "url": ("base_url", "url"),
    "column": ("columns",),
    "alias": ("aliases",),
    "from": ("source",),
    "to": ("target",),
}


def to_field_name(text: str) -> str:
    """`Due date` and `due-date` are `due_date`."""
    return "_".join(text.casefold().replace("-", " ").replace("_", " ").split())
