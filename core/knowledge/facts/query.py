"""Queries for extracted rows, and how they are read: `owner:Ann due<2026-12-01 type:action_item open`. Pure.

Filters are `field:words`, `field="exactly"`, `field!=...`, `field<...` (also `<=`, `>`, `>=`; dates and numbers),
`type:`, `document:` and `limit:`; values and names of several words are in quotation marks. The rest is read word by
word in a few plain forms: the name of a type ("decisions"), the state of action items ("open"), dates ("due before
December"), people ("of Ann") and HTTP methods. Every other word has to be in a row, so a query is never widened.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from core.domain.extracts import ExtractType
from core.errors import BadInput
from core.knowledge.facts.dates import LONGEST_DATE, Lean, Period, read_period, to_iso
from core.knowledge.facts.rows import DONE, EXTRACT_TYPES, OPEN, FactType
from core.text.words import STOPWORDS, words

MOST_ROWS = 200  # of one answer; longer lists are read as extracts
DEFAULT_ROWS = 50
LONGEST_QUERY = 1_000  # characters that are read


class Comparison(StrEnum):
    """Dates compare as days, months or years, as precisely as they are given; numbers as numbers."""

    HOLDS = ":"  # all words of the value are in the field
    IS = "="
    IS_NOT = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="

    @property
    def is_order(self) -> bool:
        return self.value[0] in "<>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A field compared with a value; an empty value with IS means an empty field."""

    field: str  # in the form of `to_field_name`
    comparison: Comparison = Comparison.HOLDS
    value: str = ""

    def __str__(self) -> str:
        value = f'"{self.value}"' if " " in self.value or not self.value else self.value
        return f"{self.field}{self.comparison.value}{value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactQuery:
    """A row fits if it meets all parts. `str` returns the query in a form that can be asked again."""

    types: frozenset[FactType] = frozenset()  # empty: all but whole tables, anchors and pages
    conditions: tuple[Condition, ...] = ()
    words: tuple[str, ...] = ()  # each is in a field, or in the document's title or path
    document: str | None = None  # path, title or alias
    limit: int = DEFAULT_ROWS  # maximum rows

    def __str__(self) -> str:
        types = [f"type:{kind}" for kind in FactType if kind in self.types]
        document = [f'document:"{self.document}"'] if self.document else []
        return " ".join([*types, *map(str, self.conditions), *document, *self.words])


def of_extracts(query: FactQuery, kind: ExtractType | None) -> FactQuery:
    """Narrow a query to extracts of one type: to the rows it asks for, or to all rows if it asks for none of them."""
    rows = frozenset(row for row, extract in EXTRACT_TYPES.items() if kind is None or extract is kind)
    return query if kind is None else replace(query, types=query.types & rows or rows)


# Field as people call it -> fields of the schemas, in order of precedence. Columns of tables have any name.
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
    """Return `due_date` for `Due date` and `due-date`."""
    return "_".join(text.casefold().replace("-", " ").replace("_", " ").split())


# ------------------------------------------------------------------------------------------------------------- filters

_FILTER = re.compile(
    r"""(?:(?<=\s)|(?<=\A))(?P<name>"[^"\n]{1,80}"|[^\W\d][\w-]{0,60})(?P<comparison><=|>=|!=|[:=<>])(?!//)"""
    r"""(?P<value>"[^"\n]*"|[^\s"]\S*)"""
)
_QUOTES = str.maketrans("“”„", '"""')
# Values of `type:` next to the types' own names.
_TYPES: Mapping[str, frozenset[FactType]] = {
    **{kind.value: frozenset({kind}) for kind in FactType},
    "action": frozenset({FactType.ACTION_ITEM}),
    "api": frozenset({FactType.API, FactType.ENDPOINT}),
    "financial": frozenset({FactType.FINANCIAL, FactType.FIGURE}),
}


def read_query(text: str, today: date, *, limit: int = DEFAULT_ROWS) -> FactQuery:
    """Read a text as a query.

    Raises:
        BadInput: the text is empty, a type is unknown, or a limit isn't a number in range.
    """
    asked = text.translate(_QUOTES).strip()[:LONGEST_QUERY]
    if not asked:
        raise BadInput('Enter what to look for, such as owner:Ann due<2026-12-01 open, or "decisions about the ferry".')
    types: set[FactType] = set()
    conditions: list[Condition] = []
    document: str | None = None
    for match in _FILTER.finditer(asked):
        name, value = to_field_name(match["name"].strip('"')), match["value"].strip('"')
        if name == "type":
            types |= read_types(value)
        elif name == "document":
            document = value
        elif name == "limit":
            limit = _read_limit(value)
        else:
            comparison = Comparison(match["comparison"])
            if comparison.is_order and (period := read_period(value, today)) is not None:  # "tomorrow"
                value = to_iso(period) or period.start.isoformat()
            conditions.append(Condition(field=name, comparison=comparison, value=value))
    plain = _PlainWords(_FILTER.sub(" ", asked), types, today, has_conditions=bool(conditions))
    return FactQuery(
        types=frozenset(plain.types),
        conditions=(*conditions, *plain.conditions),
        words=tuple(plain.rest()),
        document=document or plain.document,
        limit=limit,
    )


def read_types(value: str) -> frozenset[FactType]:
    """Return the types behind names with commas between them. Raises BadInput for an unknown name."""
    found: set[FactType] = set()
    for part in value.split(","):
        name = to_field_name(part)
        known = _TYPES.get(name) or _TYPES.get(name.removesuffix("s")) or _TYPES.get(f"{name.removesuffix('ies')}y")
        if known is None:
            raise BadInput(f"Unknown type {part!r}. Use one of {', '.join(kind.value for kind in FactType)}.")
        found |= known
    return frozenset(found)


def _read_limit(value: str) -> int:
    if not (value.isascii() and value.isdigit() and 1 <= int(value[:6]) <= MOST_ROWS):
        raise BadInput(f"limit:{value} is out of range. Use a number from 1 to {MOST_ROWS}.")
    return int(value)


# --------------------------------------------------------------------------------------------------------- plain words

# Words of a question -> types of the rows; the first entry that is found decides. `True`: the words stay in the query.
_NAMED_TYPES: Sequence[tuple[str, frozenset[FactType], bool]] = tuple(
    (phrase, frozenset(types), stays)
    for phrases, types, stays in (
        ("action item|action point|action|to-do|todo|task", {FactType.ACTION_ITEM}, False),
        ("decision|decided|decide|agreed|resolution", {FactType.DECISION}, False),
        ("topic|agenda|discussed", {FactType.TOPIC}, False),
        ("attendee|attended|attend|participant", {FactType.MEETING}, False),
        ("endpoint|route", {FactType.ENDPOINT}, False),
        ("api", {FactType.API, FactType.ENDPOINT}, False),
        ("figure|financial", {FactType.FINANCIAL, FactType.FIGURE}, False),
        ("revenue|net income|eps|market cap|earning", {FactType.FINANCIAL, FactType.FIGURE}, True),
        ("definition|defined|glossary|entity", {FactType.ENTITY}, False),
        ("relation|link", {FactType.RELATION}, False),
        ("row", {FactType.ROW}, False),
        ("table", {FactType.TABLE}, False),
        ("anchor", {FactType.ANCHOR}, False),
        ("meeting|minute", {FactType.MEETING}, False),
    )
    for phrase in phrases.split("|")
)
_MEETING_TYPES = frozenset({FactType.ACTION_ITEM, FactType.DECISION, FactType.TOPIC, FactType.MEETING})
_GATHERINGS = frozenset({"meeting", "meetings", "minutes"})  # of decisions and tasks, never an owner
_OPEN_WORDS = frozenset({"open", "outstanding", "pending", "unfinished", "incomplete", "undone"})
_DONE_WORDS = frozenset({"done", "finished", "completed", "closed"})
_DATE_WORDS: Mapping[str, Comparison] = {
    "before": Comparison.LESS,
    "by": Comparison.AT_MOST,
    "until": Comparison.AT_MOST,
    "after": Comparison.MORE,
    "since": Comparison.AT_LEAST,
    "from": Comparison.AT_LEAST,
    **dict.fromkeys(("in", "on", "during", "within", "for", "of"), Comparison.IS),
}
_OWNER_WORDS = frozenset({"of", "for", "by", "to", "does", "did", "must", "should", "has"})
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"})
_FILLERS = frozenset(
    """all anything came come concerning document due each every everything file find full get give given item items
    list made make many me name named need needs please regarding related resulted said say says see show still
    taken tell thing things us want yet""".split()
)
_TOKEN = re.compile(r'"[^"]*"|,(?=\s|$)|(?:(?!,(?:\s|$))[^\s"])+')
_MOST_NAMES = 4  # words of a person's name
_MOST_DATES = 2  # "since May, before July"


class _PlainWords:
    """The words of a question; reading takes those away that say more than themselves."""

    def __init__(self, text: str, types: set[FactType], today: date, *, has_conditions: bool) -> None:
        self.words: list[str] = [word for token in _TOKEN.findall(text) if (word := token.strip(".;:!?()[]"))]
        self.conditions: list[Condition] = []
        self.document = self._read_document()
        self.types = types or self._read_types()
        says_only_open = all(word.casefold() in _OPEN_WORDS for word in self.rest())
        if FactType.ACTION_ITEM in self.types or (not self.types and (has_conditions or says_only_open)):
            self._read_status(today)
        for _ in range(_MOST_DATES):
            self._read_date(today)
        if self.types == {FactType.ACTION_ITEM}:
            self._read_owner()
        if FactType.ENDPOINT in self.types and (methods := [word for word in self.words if word in _METHODS]):
            self._add("method", Comparison.IS, methods[0])
            self._drop({methods[0].casefold()})
        if self.types & _MEETING_TYPES:
            self._drop(_GATHERINGS)

    def rest(self) -> list[str]:
        """Return the words that a row has to hold, quoted ones first and kept together."""
        quoted = [" ".join(word.strip('"').split()) for word in self.words if word.startswith('"')]
        plain = [word.strip(",'’") for word in self.words if not word.startswith('"')]
        return [
            *filter(None, quoted),
            *(word for word in plain if word and word.casefold() not in STOPWORDS | _FILLERS),
        ]

    def _read_document(self) -> str | None:
        """Take "in the document council.md"."""
        said = [word.casefold() for word in self.words]
        for place in range(len(said) - 1):
            first = place - 1 - (said[place - 1 : place] == ["the"])
            if said[place] in ("document", "file") and first >= 0 and said[first] in ("in", "from", "of"):
                name = self.words[place + 1].strip('"')
                del self.words[first : place + 2]
                return name
        return None

    def _read_types(self) -> set[FactType]:
        singular = [_singular(word) for word in self.words]
        for phrase, types, stays in _NAMED_TYPES:
            parts = phrase.split()
            for place in range(len(singular) - len(parts) + 1):
                if singular[place : place + len(parts)] == parts:
                    if not stays:
                        del self.words[place : place + len(parts)]
                    return {*types}
        return set()

    def _read_status(self, today: date) -> None:
        said = {word.casefold() for word in self.words}
        if "overdue" in said:
            self._add("due_date", Comparison.LESS, today.isoformat())
            self._add("status", Comparison.IS, OPEN)
        elif _OPEN_WORDS & said or ("not" in said and _DONE_WORDS & said):
            self._add("status", Comparison.IS, OPEN)
        elif _DONE_WORDS & said:
            self._add("status", Comparison.IS, DONE)
        self._drop(_OPEN_WORDS | _DONE_WORDS | {"overdue"})

    def _read_date(self, today: date) -> None:
        """Take the first date, with the words before it that say how it is meant."""
        for start in range(len(self.words)):
            said = [word.casefold() for word in self.words[:start]]
            if said[-1:] == ["the"]:
                said.pop()
            how = said.pop() if said and said[-1] in _DATE_WORDS else ""
            is_due = said[-1:] == ["due"]
            name = self._date_field(how, is_due=is_due)
            for end in range(min(start + LONGEST_DATE, len(self.words)), start, -1):
                written = " ".join(self.words[start:end])
                is_verb = not how and not is_due and written.isalpha() and len(written) < 4  # "may", "mar"
                period = read_period(written, today, Lean.COMING if name == "due_date" else Lean.PAST)
                if name is not None and period is not None and not is_verb:
                    del self.words[len(said) - is_due : end]
                    self._add_period(name, how, period)
                    return

    def _date_field(self, how: str, *, is_due: bool) -> str | None:
        """A date of action items is their due date, except in "action items from May"."""
        if FactType.ACTION_ITEM in self.types:
            return "date" if how in ("from", "of", "in", "since", "during") and not is_due else "due_date"
        if self.types & _MEETING_TYPES:
            return "date"
        return "period" if FactType.FIGURE in self.types else None

    def _add_period(self, name: str, how: str, period: Period) -> None:
        comparison = _DATE_WORDS.get(how, Comparison.IS)
        if name == "date" and how == "from":
            comparison = Comparison.IS  # "decisions from May"
        if name == "period" and comparison is Comparison.IS:
            comparison = Comparison.HOLDS  # "Jan - Dec 2025" belongs to 2025, too
        if (value := to_iso(period)) is not None:
            self._add(name, comparison, value)
            return
        if comparison not in (Comparison.LESS, Comparison.AT_MOST):
            start = period.end if comparison is Comparison.MORE else period.start
            self._add(name, Comparison.AT_LEAST, start.isoformat())
        if comparison not in (Comparison.MORE, Comparison.AT_LEAST):
            end = period.start if comparison is Comparison.LESS else period.end
            self._add(name, Comparison.LESS, end.isoformat())

    def _read_owner(self) -> None:
        """Take the first name behind "of", "for" and the like, or with an 's behind it ("Ann's")."""
        for start in range(len(self.words)):
            end = start
            while end < min(start + _MOST_NAMES, len(self.words)) and _is_name(self.words[end]):
                end += 1
            name = re.split("['’]s?(?: |$)", " ".join(word.strip('"') for word in self.words[start:end]))
            is_behind = start > 0 and self.words[start - 1].casefold() in _OWNER_WORDS
            if start < end and not _GATHERINGS & {*words(name[0])} and (is_behind or len(name) > 1):
                del self.words[start - is_behind : start + len(name[0].split())]
                self._add("owner", Comparison.HOLDS, name[0])
                return

    def _drop(self, unwanted: Collection[str]) -> None:
        self.words = [word for word in self.words if word.casefold() not in unwanted]

    def _add(self, field: str, comparison: Comparison, value: str) -> None:
        self.conditions.append(Condition(field=field, comparison=comparison, value=value))


def _singular(word: str) -> str:
    lower = word.casefold()
    return f"{lower[:-3]}y" if lower.endswith("ies") else lower.removesuffix("s")


def _is_name(word: str) -> bool:
    return word.startswith('"') or word[0].isupper()
