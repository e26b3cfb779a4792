"""From the data of a typed answer to its text: one layout for each response type, each string shown once. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.answering.citations import strip_markers
from core.domain.answer import CitedText, DataItem, DataPath
from core.domain.response_data import (
    ComparisonData,
    FinancialSummaryData,
    GeneralData,
    MeetingBriefData,
    ResponseData,
    StatBlockData,
    TimelineData,
)


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
