"""A modest reading of plain English: "open action items of Ann due before December". Pure.

What it does not know it takes as words that a row has to hold, so it never widens what was asked.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from core.knowledge.facts.dates import DATE, Lean, Period, read_period, to_iso
from core.knowledge.facts.query import Comparison, Condition
from core.knowledge.facts.rows import DONE, OPEN, FactType
from core.text.words import STOPWORDS

# Phrase -> types; the first that is there decides. Of the last column the words stay: rows are found by them, too.
_PHRASES: Sequence[tuple[str, frozenset[FactType], bool]] = tuple(
    (phrase, frozenset(types), stays)
    for phrase, types, stays in (
        (r"action[ -]?(?:items?|points?)|actions|to-?dos?|tasks?|assignments?", {FactType.ACTION_ITEM}, False),
        (r"(?:have|has|had|supposed|needs?) to do(?: next)?", {FactType.ACTION_ITEM}, False),
        (r"decisions?|decided|decide|agreed(?: on)?|resolutions?|resolved", {FactType.DECISION}, False),
        (r"topics?|agendas?(?: items?)?|discussed|discuss|talked? about", {FactType.TOPIC}, False),
        (r"attendees?|attended|attend|participants?|took part|present", {FactType.MEETING}, False),
        (r"endpoints?|routes?|api calls?|paths(?=.*\bapi\b)", {FactType.ENDPOINT}, False),
        (r"apis?", {FactType.API, FactType.ENDPOINT}, False),
        (r"(?:financial )?figures?|financials", {FactType.FINANCIAL, FactType.FIGURE}, False),
        (
            r"revenues?|net income|eps|dividend yield|market cap|p/?e ratio|earnings",
            {FactType.FINANCIAL, FactType.FIGURE},
            True,
        ),
        (r"definitions?|define[ds]?|glossary|entit(?:y|ies)", {FactType.ENTITY}, False),
        (r"relations?(?:hips?)?|links?", {FactType.RELATION}, False),
        (r"rows?", {FactType.ROW}, False),
        (r"tables?", {FactType.TABLE}, False),
        (r"anchors?", {FactType.ANCHOR}, False),
        (r"meetings?|minutes", {FactType.MEETING}, False),
    )
)
_MEETING_TYPES = frozenset({FactType.ACTION_ITEM, FactType.DECISION, FactType.TOPIC, FactType.MEETING})
_MEETING = re.compile(r"\b(?:meetings?|minutes)\b", re.IGNORECASE)
_OPEN = re.compile(
    r"\b(?:not (?:yet )?(?:done|finished|completed|closed)|still (?:open|to do)|"
    r"open|outstanding|pending|unfinished|undone|incomplete)\b",
    re.IGNORECASE,
)
_DONE = re.compile(r"\b(?:done|finished|completed|closed)\b", re.IGNORECASE)
_OVERDUE = re.compile(r"\b(?:overdue|past due|late)\b", re.IGNORECASE)
_NO_DATE = re.compile(r"\b(?:without|with no|no) (?:a )?(?:due )?(?:date|deadline)s?\b", re.IGNORECASE)
_NO_OWNER = re.compile(r"\b(?:unassigned|(?:without|with no|no) (?:an )?owners?)\b", re.IGNORECASE)
_WHEN = re.compile(
    rf"\b(?P<due>due\s+|dated\s+)?(?:(?P<how>before|by|until|till|through|after|since|from|in|on|during|within|for|of)\s+)?"
    rf"(?:the\s+)?(?P<date>{DATE})(?![\w-])",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(
    r'\b(?:in|from|of)\s+(?:the\s+)?(?:document|file)\s+(?:"(?P<quoted>[^"]+)"|(?P<plain>\S+))', re.I
)
_NAME = r"(?:\"[^\"]+\"|[^\W\d_a-z][\w'’.-]*(?:\s+[^\W\d_a-z][\w'’-]*){0,3})"  # capitalised words
_OWNED = (
    re.compile(rf"\b(?:[Aa]ssigned to|[Oo]wned by|[Oo]f|[Ff]or|[Bb]y)\s+(?P<name>{_NAME})"),
    re.compile(rf"(?P<name>{_NAME})['’]s?\b"),
    re.compile(rf"\b(?:[Dd]oes|[Mm]ust|[Ss]hould|[Dd]id|[Hh]as|[Ii]s)\s+(?P<name>{_NAME})"),
)
_ATTENDED = (
    re.compile(rf"\b(?:[Aa]ttended by|[Ww]ith|[Bb]y|[Oo]f)\s+(?P<name>{_NAME})"),
    re.compile(rf"\b(?:[Dd]id)\s+(?P<name>{_NAME})"),
    re.compile(rf"(?P<name>{_NAME})\s+(?:was|were|in\b|took|attend)"),
)
_GATHERING = re.compile(r"\b(?:meetings?|minutes|calls?)\b", re.IGNORECASE)  # nobody who owns anything
_METHOD = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE)\b")
_QUOTED = re.compile(r'"([^"]*)"')
_WORD = re.compile(r"[^\s\"“”]+")
_FILLER = frozenset(
    """all anything are be came come concerning did due each every everything find full get give had has have how item
    items list made make many me named need needs please regarding related resulted said say says see show taken tell
    thing things us want was were""".split()
)
_HOW: Mapping[str, Comparison] = {
    "before": Comparison.LESS,
    "by": Comparison.AT_MOST,
    "until": Comparison.AT_MOST,
    "till": Comparison.AT_MOST,
    "through": Comparison.AT_MOST,
    "after": Comparison.MORE,
    "since": Comparison.AT_LEAST,
    "from": Comparison.AT_LEAST,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EnglishReading:
    types: frozenset[FactType]
    conditions: tuple[Condition, ...]
    words: tuple[str, ...]
    document: str | None


@dataclass(slots=True)
class _Rest:
    """What is not read yet, and what was made of the rest."""

    text: str
    conditions: list[Condition] = field(default_factory=list)

    def take(self, pattern: re.Pattern[str], use: Callable[[re.Match[str]], bool] = lambda match: True) -> bool:
        """Take the first match out, if `use` can use it."""
        match = pattern.search(self.text)
        if match is None or not use(match):
            return False
        self.text = f"{self.text[: match.start()]} {self.text[match.end() :]}"
        return True

    def add(self, name: str, comparison: Comparison, value: str) -> bool:
        self.conditions.append(Condition(field=name, comparison=comparison, value=value))
        return True


def read_english(
    text: str, today: date, types: frozenset[FactType] = frozenset(), *, conditioned: bool = False
) -> EnglishReading:
    """What a text asks for. `types` are known already, or `conditioned` that conditions are: then "open" alone asks
    for action items that are.
    """
    rest, document = _Rest(text.strip().rstrip("?.! ")), None
    if match := _DOCUMENT.search(rest.text):
        document = match["quoted"] or match["plain"]
        rest.take(_DOCUMENT)
    types = types or _take_types(rest)
    if FactType.ACTION_ITEM in types or (not types and (conditioned or not _words_of(_OPEN.sub("", rest.text)))):
        _take_status(rest, today)
    _take_dates(rest, types, today)
    if types == {FactType.ACTION_ITEM}:
        _take_name(rest, "owner", _OWNED)
    elif types == {FactType.MEETING}:
        _take_name(rest, "attendees", _ATTENDED)
    if FactType.ENDPOINT in types:
        rest.take(_METHOD, lambda match: rest.add("method", Comparison.IS, match[1]))
    if types & _MEETING_TYPES:
        rest.take(_MEETING)
    return EnglishReading(
        types=types, conditions=tuple(rest.conditions), words=tuple(_words_of(rest.text)), document=document
    )


def _take_types(rest: _Rest) -> frozenset[FactType]:
    for phrase, types, stays in _PHRASES:
        pattern = re.compile(rf"(?<![\w-])(?:{phrase})(?![\w-])", re.IGNORECASE)
        if pattern.search(rest.text):
            if not stays:
                rest.take(pattern)
            return types
    return frozenset()


def _take_status(rest: _Rest, today: date) -> None:
    if rest.take(_NO_DATE):
        rest.add("due_date", Comparison.IS, "")
    if rest.take(_NO_OWNER):
        rest.add("owner", Comparison.IS, "")
    if rest.take(_OVERDUE):
        rest.add("due_date", Comparison.LESS, today.isoformat())
        rest.add("status", Comparison.IS, OPEN)
    elif rest.take(_OPEN):
        rest.add("status", Comparison.IS, OPEN)
    elif rest.take(_DONE):
        rest.add("status", Comparison.IS, DONE)


def _take_dates(rest: _Rest, types: frozenset[FactType], today: date) -> None:
    def use(match: re.Match[str]) -> bool:
        name = _date_field(types, match)
        how = (match["how"] or "").lower()
        if name is None or (not how and not match["due"] and match["date"].isalpha() and len(match["date"]) < 4):
            return False  # "may" alone is a verb more often than a month
        lean = Lean.COMING if name == "due_date" else Lean.PAST
        period = read_period(match["date"], today, lean)
        return period is not None and _add_dates(rest, name, how, period)

    for _ in range(2):  # "since May ... before July"
        if not rest.take(_WHEN, use):
            return


def _date_field(types: frozenset[FactType], match: re.Match[str]) -> str | None:
    """Of action items a date is when they are due, unless it is where they come from: "action items from May"."""
    if FactType.ACTION_ITEM in types:
        came = (match["how"] or "").lower() in ("from", "of", "in", "since", "during") and not match["due"]
        return "date" if came else "due_date"
    if types & _MEETING_TYPES:
        return "date"
    return "period" if FactType.FIGURE in types else None


def _add_dates(rest: _Rest, name: str, how: str, period: Period) -> bool:
    comparison = _HOW.get(how, Comparison.IS)
    if name == "date" and how == "from":
        comparison = Comparison.IS  # "decisions from May"
    if name == "period" and comparison is Comparison.IS:
        comparison = Comparison.HOLDS  # "Jan - Dec 2025" is said of 2025, too
    if (value := to_iso(period)) is not None:
        return rest.add(name, comparison, value)
    if comparison in (Comparison.IS, Comparison.HOLDS):
        rest.add(name, Comparison.AT_LEAST, period.start.isoformat())
        return rest.add(name, Comparison.LESS, period.end.isoformat())
    edges = {Comparison.LESS: period.start, Comparison.AT_LEAST: period.start}
    turned = {Comparison.AT_MOST: Comparison.LESS, Comparison.MORE: Comparison.AT_LEAST}
    return rest.add(name, turned.get(comparison, comparison), edges.get(comparison, period.end).isoformat())


def _take_name(rest: _Rest, name: str, patterns: Sequence[re.Pattern[str]]) -> None:
    for pattern in patterns:
        if rest.take(
            pattern,
            lambda match: (
                not _GATHERING.search(match["name"]) and rest.add(name, Comparison.HOLDS, match["name"].strip('"'))
            ),
        ):
            return


def _words_of(text: str) -> list[str]:
    """The words that say something; what stands in quotation marks stays together."""
    quoted = [" ".join(match[1].split()) for match in _QUOTED.finditer(text) if match[1].strip()]
    plain = (word.strip(".,;:!?()[]'’") for word in _WORD.findall(_QUOTED.sub(" ", text)))
    said = [word for word in plain if word and word.casefold() not in STOPWORDS and word.casefold() not in _FILLER]
    return [*quoted, *said]
