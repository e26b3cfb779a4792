"""The typed answer from results: the request, the check of its reply, and its layout as text. Pure."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from core.answering.agent.prompts import synthesiser
from core.answering.agent.turns import OUT_OF_TIME
from core.answering.citations import strip_markers
from core.answering.strategies.plans import Called, Plan
from core.answering.strategies.shown_passages import passage_text
from core.answering.tools.toolbox import FINAL
from core.domain.answer import DataItem, DataPath
from core.domain.chat import (
    Capabilities,
    ChatMessage,
    ChatRequest,
    ChatRole,
    NumberedPassage,
    Repeats,
    ToolChoice,
    ToolDefinition,
    ToolInvocation,
    ToolResult,
)
from core.domain.incoming import IncomingMessage
from core.domain.replies import ChatResponse, CitedText
from core.domain.response_data import (
    RESPONSE_TYPES,
    ComparisonData,
    FinancialSummaryData,
    GeneralData,
    MeetingBriefData,
    ResponseData,
    StatBlockData,
    TimelineData,
    response_schema,
)
from core.knowledge.facts.rows import FactType
from core.text.words import shorten

GIVE = "give_answer"
LONGEST_RESULT = 6_000  # characters of a tool's own text
_ENDING = 1_000  # characters kept at its end, where tools list omitted parts
_NAMED = 3  # problems of a form in the message


def build_request(
    question: IncomingMessage,
    plan: Plan,
    response_type: str,
    results: Sequence[tuple[Called, Sequence[NumberedPassage]]],
    capabilities: Capabilities,
) -> ChatRequest:
    """One user turn: the question, and each result with the passages of it that fit.

    The form is asked for in the way the model has: a schema that it is held to, else a forced call of a tool that has
    it as its arguments, else words.
    """
    asked = [f"Question: {question.text}"]
    asked += [f"Put completely: {plan.question}"] if plan.question else []
    shown = [_result_text(number, called, passages) for number, (called, passages) in enumerate(results, start=1)]
    messages = (ChatMessage(role=ChatRole.USER, text="\n\n".join([*shown, *asked])),)
    system, schema = synthesiser(response_type, question), response_schema(response_type)
    if capabilities.structured:
        return ChatRequest(system=system, messages=messages, output_schema=schema, repeats=Repeats.NOTHING)
    if capabilities.tools:
        give = ToolDefinition(name=GIVE, description="Takes the answer.", parameters=schema)
        return ChatRequest(
            system=system, messages=messages, tools=(give,), tool_choice=ToolChoice.ANY, repeats=Repeats.NOTHING
        )
    form = f"Reply with one JSON object of this JSON Schema, and nothing else:\n{json.dumps(schema)}"
    return ChatRequest(system=f"{system}\n\n{form}", messages=messages, repeats=Repeats.NOTHING)


def read_reply(response: ChatResponse, response_type: str) -> ResponseData | str:
    """Return the data of a reply, or a sentence for the model if the form is wrong."""
    given: Any = next((dict(call.arguments) for call in response.tool_invocations if call.name == GIVE), None)
    if given is None:
        try:
            given = json.loads(_object_in(response.text))
        except (ValueError, RecursionError):
            return "it is not JSON."
    try:
        return RESPONSE_TYPES[response_type].model.model_validate(given)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()[:_NAMED]]
        return f"{'; '.join(problems)}."


def is_prose(response: ChatResponse) -> bool:
    """Whether a reply that should have been an object is an answer in words."""
    text = response.text.strip()
    return bool(text) and "{" not in text[:20]


# The purpose of a failed call, in words.
_UNDONE = {
    "get_page": "I could not read {}",
    "query_journal": "I could not read {}",
    "search": "I could not search for {}",
    "find_extracts": "I could not look up {}",
    "query_table": "I could not read the table {}",
    "follow_relation": "I could not follow the links of {}",
    "get_ontology": "I could not look at how the documents are connected",
}
_FIGURES = (FactType.FINANCIAL, FactType.FIGURE)
_TICKER = re.compile(r"""\bticker\s*[:=]\s*["']?([A-Za-z][\w.]{0,9})""", re.IGNORECASE)


def gaps_of(plan: Plan, called: Sequence[Called]) -> list[str]:
    """Return a sentence for people about each planned call that was left out, failed, or found no figures."""
    left_out = len(plan.problems)
    gaps = [f"I left out {left_out} of the planned look-ups."] if left_out else []
    for invocation, result in called:
        ticker = _TICKER.search(str(invocation.arguments.get("query", "")))
        if result.is_error:
            gaps.append(_failure(invocation, result))
        elif ticker and not any(f": {kind.value}; " in result.text for kind in _FIGURES):
            gaps.append(f"No figures for {ticker[1].upper()} in the documents.")
    return list(dict.fromkeys(gaps))


def _failure(invocation: ToolInvocation, result: ToolResult) -> str:
    """Return the failure without the name of the tool; with its reason, if that is for readers."""
    undone = _UNDONE.get(invocation.name, "I could not look up {}").format(_asked(invocation.arguments))
    if result.text == OUT_OF_TIME:
        return f"{undone} in time."
    reason = result.text.removesuffix(FINAL).strip() if result.text.endswith(FINAL) else ""
    return f"{undone}: {reason}" if reason else f"{undone}."


def _result_text(number: int, called: Called, passages: Sequence[NumberedPassage]) -> str:
    invocation, result = called
    head = f"## Result {number}: {invocation.name} {json.dumps(dict(invocation.arguments), ensure_ascii=False)}"
    if result.is_error:
        return f"{head}\n\nThis failed: {result.text.removesuffix(FINAL).strip()}"
    return "\n\n".join([head, _within(result.text), *map(passage_text, passages)])


def _within(text: str) -> str:
    """A text that is too long without its middle, and that it is so."""
    if len(text) <= LONGEST_RESULT:
        return text
    return f"{text[: LONGEST_RESULT - _ENDING]}\n(Here is a part left out.)\n{text[-_ENDING:]}"


def _asked(arguments: object) -> str:
    """Return the query or the named thing: `“ferry prices”`."""
    given = arguments if isinstance(arguments, dict) else {}
    words = next((given[name] for name in ("query", "journal", "document", "page_id") if given.get(name)), None)
    return f"“{shorten(str(words), 80)}”" if words else "something"


def _object_in(text: str) -> str:
    """From the first brace to the last: small models put words or a fence around JSON."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """A typed answer as segments of text, and the parts of the data that they show."""

    segments: tuple[CitedText, ...]
    items: tuple[DataItem, ...]


def assemble(data: ResponseData) -> Assembled:
    """The summary first, then the lines of its type; empty strings are not shown."""
    lines = _Lines()
    lines.statement(data.summary, ("summary",), needs_footnote=False)
    match data:
        case GeneralData():
            _general(lines, data)
        case ComparisonData():
            _comparison(lines, data)
        case TimelineData():
            _timeline(lines, data)
        case MeetingBriefData():
            _meeting_brief(lines, data)
        case StatBlockData():
            _stat_block(lines, data)
        case FinancialSummaryData():
            _financial_summary(lines, data)
    return Assembled(segments=tuple(lines.segments), items=tuple(lines.items))


@dataclass(frozen=True, slots=True)
class _Shown:
    """A string of the data, and its place there."""

    text: str
    path: DataPath


class _Lines:
    def __init__(self) -> None:
        self.segments: list[CitedText] = []
        self.items: list[DataItem] = []

    def statement(self, text: str, path: DataPath, *, needs_footnote: bool = True) -> None:
        """A paragraph."""
        if text:
            self._add("\n\n", [_Shown(text, path)], path, needs_footnote=needs_footnote)

    def heading(self, path: DataPath, *parts: str | _Shown) -> None:
        """`**Title**:`, which stays as long as something below its path does."""
        self._add("\n\n", ["**", *parts, "**:"], path, is_heading=True)

    def bullet(self, path: DataPath, *parts: str | _Shown, is_cell: bool = False) -> None:
        self._add("\n", ["- ", *parts], path, is_cell=is_cell)

    def _add(self, between: str, parts: Sequence[str | _Shown], path: DataPath, **kind: bool) -> None:
        first, strings = len(self.segments), dict[int, DataPath]()
        for part in [between if self.segments else "", *parts]:
            if isinstance(part, _Shown):
                strings[len(self.segments)] = part.path
            self.segments.append(CitedText(text=part.text if isinstance(part, _Shown) else part))
        self.items.append(DataItem(first=first, last=len(self.segments) - 1, path=path, strings=strings, **kind))


def _statements(lines: _Lines, name: str, title: str, statements: Sequence[str]) -> None:
    """A heading and a bullet for each."""
    if any(statements):
        lines.heading((name,), title)
    for place, text in enumerate(statements):
        if text:
            lines.bullet((name, place), _Shown(text, (name, place)))


def _general(lines: _Lines, data: GeneralData) -> None:
    for place, text in enumerate(data.points):
        if text:
            lines.bullet(("points", place), _Shown(text, ("points", place)))


def _comparison(lines: _Lines, data: ComparisonData) -> None:
    for number, row in enumerate(data.aspects):
        if not any(row.values):
            continue
        lines.heading(("aspects", number), _Shown(row.aspect, ("aspects", number, "aspect")))
        for place, value in enumerate(row.values):
            subject = strip_markers(data.subjects[place]) if place < len(data.subjects) else ""
            path = ("aspects", number, "values", place)
            if value:
                lines.bullet(path, f"{subject}: " if subject else "", _Shown(value, path), is_cell=True)
    lines.statement(data.conclusion, ("conclusion",), needs_footnote=False)


def _timeline(lines: _Lines, data: TimelineData) -> None:
    for place, row in enumerate(data.events):
        path = ("events", place)
        lines.bullet(path, "**", _Shown(row.date, (*path, "date")), "**: ", _Shown(row.event, (*path, "event")))


def _meeting_brief(lines: _Lines, data: MeetingBriefData) -> None:
    lines.statement(data.meeting, ("meeting",))
    _statements(lines, "attendees", "Attendees", data.attendees)
    _statements(lines, "topics", "Topics", data.topics)
    _statements(lines, "decisions", "Decisions", data.decisions)
    if data.action_items:
        lines.heading(("action_items",), "Action items")
    for place, row in enumerate(data.action_items):
        path: DataPath = ("action_items", place)
        parts: list[str | _Shown] = [_Shown(row.description, (*path, "description"))]
        parts += [", owner: ", _Shown(row.owner, (*path, "owner"))] if row.owner else []
        parts += [", due: ", _Shown(row.due, (*path, "due"))] if row.due else []
        lines.bullet(path, *parts)
    _statements(lines, "open_questions", "Open questions", data.open_questions)


def _stat_block(lines: _Lines, data: StatBlockData) -> None:
    lines.statement(data.name, ("name",), needs_footnote=False)
    if data.stats:
        lines.heading(("stats",), "Stats")
    for place, row in enumerate(data.stats):
        path: DataPath = ("stats", place)
        lines.bullet(path, _Shown(row.name, (*path, "name")), ": ", _Shown(row.value, (*path, "value")))
    if data.abilities:
        lines.heading(("abilities",), "Abilities")
    for place, ability in enumerate(data.abilities):
        path = ("abilities", place)
        lines.bullet(path, "**", _Shown(ability.name, (*path, "name")), "**: ", _Shown(ability.text, (*path, "text")))


def _financial_summary(lines: _Lines, data: FinancialSummaryData) -> None:
    if data.figures:
        lines.heading(("figures",), _Shown(data.subject, ("subject",)) if data.subject else "Figures")
    for place, row in enumerate(data.figures):
        path: DataPath = ("figures", place)
        period: list[str | _Shown] = [_Shown(row.period, (*path, "period")), ", "] if row.period else []
        lines.bullet(path, *period, _Shown(row.metric, (*path, "metric")), ": ", _Shown(row.value, (*path, "value")))
    _statements(lines, "notes", "Notes", data.notes)
