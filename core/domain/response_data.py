"""Data of typed answers: a model for each response type, and the JSON Schema that constrains a model's reply.

Every string may carry `[n]` markers that name passages. Schemas are plain, because vendors take no more: objects whose
fields are all required, no references, no lengths; lengths are checked here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

MOST_ITEMS = 60  # of one list, as much as fits a chat


def _one_line(value: object) -> object:
    return " ".join(value.split()) if isinstance(value, str) else value


Word = Annotated[str, BeforeValidator(_one_line), Field(max_length=200)]
Statement = Annotated[str, BeforeValidator(_one_line), Field(max_length=1_200)]


class Part(BaseModel):
    """Fields that are not known are refused, as the schema says."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResponseData(Part):
    """The fields of all types."""

    summary: Statement = Field(description="The answer in one to three sentences.")
    data_sources: tuple[Word, ...] = Field(
        default=(), max_length=MOST_ITEMS, description="Paths of the documents used, as the results name them."
    )
    data_gaps: tuple[Statement, ...] = Field(
        default=(),
        max_length=MOST_ITEMS,
        description="What was asked for and not found; empty when nothing is missing.",
    )


class GeneralData(ResponseData):
    points: tuple[Statement, ...] = Field(
        default=(), max_length=MOST_ITEMS, description="Further statements, one each; empty where the summary says all."
    )


class AspectRow(Part):
    aspect: Word = Field(description="What is compared: price, range ...")
    values: tuple[Statement, ...] = Field(
        max_length=12, description="What holds for each subject, in their order; empty text where nothing was found."
    )


class ComparisonData(ResponseData):
    subjects: tuple[Word, ...] = Field(default=(), max_length=12, description="What is compared with each other.")
    aspects: tuple[AspectRow, ...] = Field(default=(), max_length=MOST_ITEMS)
    conclusion: Statement = Field(default="", description="What follows from it, if the passages say so; else empty.")


class EventRow(Part):
    date: Word = Field(description="As the passage writes it.")
    event: Statement


class TimelineData(ResponseData):
    events: tuple[EventRow, ...] = Field(default=(), max_length=MOST_ITEMS, description="Earliest first.")


class ActionRow(Part):
    description: Statement
    owner: Word = Field(default="", description="Empty where nobody is named.")
    due: Word = Field(default="", description="Empty where no date is named.")


class MeetingBriefData(ResponseData):
    meeting: Statement = Field(default="", description="Which meeting, and when.")
    attendees: tuple[Statement, ...] = Field(default=(), max_length=MOST_ITEMS)
    topics: tuple[Statement, ...] = Field(default=(), max_length=MOST_ITEMS)
    decisions: tuple[Statement, ...] = Field(default=(), max_length=MOST_ITEMS)
    action_items: tuple[ActionRow, ...] = Field(default=(), max_length=MOST_ITEMS)
    open_questions: tuple[Statement, ...] = Field(default=(), max_length=MOST_ITEMS)


class StatRow(Part):
    name: Word
    value: Statement


class AbilityRow(Part):
    name: Word
    text: Statement


class StatBlockData(ResponseData):
    name: Statement = Field(default="", description="Of the creature, item or character.")
    stats: tuple[StatRow, ...] = Field(default=(), max_length=MOST_ITEMS)
    abilities: tuple[AbilityRow, ...] = Field(default=(), max_length=MOST_ITEMS)


class FigureRow(Part):
    period: Word = Field(default="", description="As the passage writes it: FY 2024, Q3, 31 March.")
    metric: Word = Field(description="Revenue, net income ...")
    value: Statement = Field(description="With its unit, as the passage writes it.")


class FinancialSummaryData(ResponseData):
    subject: Word = Field(default="", description="The company or unit.")
    figures: tuple[FigureRow, ...] = Field(default=(), max_length=MOST_ITEMS)
    notes: tuple[Statement, ...] = Field(default=(), max_length=MOST_ITEMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseType:
    """A form of answer."""

    model: type[ResponseData]
    description: str  # for models


RESPONSE_TYPES: Mapping[str, ResponseType] = {
    "general": ResponseType(model=GeneralData, description="an answer in sentences, with further points."),
    "comparison": ResponseType(
        model=ComparisonData, description="a comparison of two or more subjects, aspect by aspect."
    ),
    "timeline": ResponseType(model=TimelineData, description="what happened when, earliest first."),
    "meeting_brief": ResponseType(
        model=MeetingBriefData,
        description="a brief on a meeting: who, what about, what was decided, who does what by when, what is open.",
    ),
    "stat_block": ResponseType(
        model=StatBlockData, description="the statistics and abilities of a creature, item or character."
    ),
    "financial_summary": ResponseType(
        model=FinancialSummaryData, description="financial figures by period and metric, with notes."
    ),
}
GENERAL = "general"


@cache
def response_schema(response_type: str) -> Mapping[str, object]:
    """The JSON Schema of a response type's data."""
    written = RESPONSE_TYPES[response_type].model.model_json_schema()
    return _plain(written, written.get("$defs", {}))


def _plain(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, object]:
    """Resolve references, require every field, and drop rules that only we check."""
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    plain = {key: schema[key] for key in ("type", "description") if key in schema and not _is_class_note(schema, key)}
    if "items" in schema:
        plain["items"] = _plain(schema["items"], definitions)
    if "properties" in schema:
        properties = {name: _plain(value, definitions) for name, value in schema["properties"].items()}
        plain |= {"properties": properties, "required": list(properties), "additionalProperties": False}
    return plain


def _is_class_note(schema: Mapping[str, Any], key: str) -> bool:
    """Class docstrings are for readers of this file."""
    return key == "description" and "properties" in schema
