"""Comparison of rows with a query, and the relations of a thing. Pure.

Words fit whole, in any case, in the singular or the plural; an alias of a thing fits as its name does.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from core.knowledge.facts.dates import Lean, Period, read_iso, read_period
from core.knowledge.facts.query import FIELD_ALIASES, Comparison, Condition, FactQuery, to_field_name
from core.knowledge.facts.rows import Fact, FactType, Value
from core.text.words import words

# A name, casefolded -> all names of the same thing, casefolded.
Aliases = Mapping[str, frozenset[str]]

_ON_REQUEST = frozenset({FactType.TABLE, FactType.ANCHOR, FactType.PAGE})  # given only to queries that name them
_DEADLINES = frozenset({"due", "due_date", "deadline"})
_YEAR = re.compile(r"[12]\d{3}\Z", re.ASCII)
_NUMBER = re.compile(r"[^\d.,+-]*([+-]?\d[\d,]*(?:\.\d+)?|[+-]?\.\d+)\D*\Z")
_ORDERS: Mapping[Comparison, Callable[[float, float], bool]] = {
    Comparison.LESS: operator.lt,
    Comparison.AT_MOST: operator.le,
    Comparison.MORE: operator.gt,
    Comparison.AT_LEAST: operator.ge,
}


class Match(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"  # a value can't be compared: no date, or no number


def match(fact: Fact, query: FactQuery, aliases: Aliases, about: str = "") -> Match:
    """Compare a row with a query. `about`: the title and path of its document, which may hold the words, too."""
    if fact.type not in query.types if query.types else fact.type in _ON_REQUEST:
        return Match.NO
    if len(held_words(fact, query.words, aliases, about)) < len(query.words):
        return Match.NO
    found = {_compare(fact, condition, aliases) for condition in query.conditions}
    return Match.NO if Match.NO in found else Match.UNKNOWN if Match.UNKNOWN in found else Match.YES


def held_words(fact: Fact, wanted: Sequence[str], aliases: Aliases, about: str = "") -> list[str]:
    """Return the words that a row or its document's title or path holds."""
    if not wanted:
        return []
    text = words(" ".join([*(_text(value) for value in fact.fields.values()), fact.about, about]))
    return [word for word in wanted if _has_name(word, text, aliases)]


def same_fact(fact: Fact, aliases: Aliases) -> tuple[str, ...]:
    """Return a key that equal facts share: type and fields; of things, their kind and one of their names."""
    if fact.type is FactType.ENTITY:
        return fact.type, min(names_of(_text(fact.fields["name"]), aliases)), _text(fact.fields.get("kind")).casefold()
    return fact.type, *(" ".join(words(f"{name} {_text(value)}")) for name, value in fact.fields.items())


def stem(word: str) -> str:
    """Return the singular of a plain plural, so that `booking` finds `bookings` and the other way round."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def names_of(phrase: str, aliases: Aliases) -> frozenset[str]:
    """Return the phrase and all other names of the same thing, casefolded."""
    said = phrase.casefold()
    return aliases.get(said, frozenset()) | {said}


def _compare(fact: Fact, condition: Condition, aliases: Aliases) -> Match:
    value, comparison, wanted = _field(fact, condition.field), condition.comparison, condition.value
    if not wanted:
        return _match_if((value is None) == (comparison is not Comparison.IS_NOT))
    if value is None:
        return _compare_missing(fact, condition)
    if comparison in _ORDERS:
        return _compare_order(fact, value, condition)
    fits = _holds if comparison is Comparison.HOLDS else _is
    is_same = fits(value, wanted, aliases) or _is_within(fact, value, wanted)
    return _match_if(is_same != (comparison is Comparison.IS_NOT))


def _match_if(fits: bool) -> Match:
    return Match.YES if fits else Match.NO


def _compare_missing(fact: Fact, condition: Condition) -> Match:
    """Without a value, a field differs from every value, and an action item may be due at any time."""
    if condition.comparison is Comparison.IS_NOT:
        return Match.YES
    may_be_due = fact.type is FactType.ACTION_ITEM and to_field_name(condition.field) in _DEADLINES
    return Match.UNKNOWN if condition.comparison in _ORDERS and may_be_due else Match.NO


def _field(fact: Fact, name: str) -> Value:
    fields = {to_field_name(key): value for key, value in fact.fields.items()}
    return next((fields[each] for each in (name, *FIELD_ALIASES.get(name, ())) if each in fields), None)


def _text(value: Value) -> str:
    return " ".join(value) if isinstance(value, tuple) else "" if value is None else str(value)


def _has_name(phrase: str, text: Sequence[str], aliases: Aliases) -> bool:
    known = {stem(word) for word in text} | set(text)
    return any(all(word in known or stem(word) in known for word in words(name)) for name in names_of(phrase, aliases))


def _holds(value: Value, wanted: str, aliases: Aliases) -> bool:
    parts: Iterable[str] = value if isinstance(value, tuple) else [_text(value)]
    if _YEAR.match(wanted):
        return any(re.search(rf"(?<!\d){wanted}(?!\d)", part) for part in parts)  # "FY2025"
    return bool(words(wanted)) and any(_has_name(wanted, words(part), aliases) for part in parts)


def _is(value: Value, wanted: str, aliases: Aliases) -> bool:
    names = names_of(wanted, aliases)
    if isinstance(value, tuple):
        return any(part.strip().casefold() in names for part in value)
    number = _number(value)
    return _text(value).strip().casefold() in names or (number is not None and number == _number(wanted))


def _is_within(fact: Fact, value: Value, wanted: str) -> bool:
    own, limit = _dates(fact, value, wanted)
    return own is not None and limit is not None and limit.start <= own.start < limit.end


def _compare_order(fact: Fact, value: Value, condition: Condition) -> Match:
    own, limit = _dates(fact, value, condition.value)
    if own is not None and limit is not None:
        is_before_start = condition.comparison in (Comparison.LESS, Comparison.AT_LEAST)
        edge = limit.start if is_before_start else limit.end
        is_before = own.start < edge
        return _match_if(is_before == (condition.comparison in (Comparison.LESS, Comparison.AT_MOST)))
    left, right = _number(value), _number(condition.value)
    if left is None or right is None:
        return Match.UNKNOWN
    return _match_if(_ORDERS[condition.comparison](left, right))


def _dates(fact: Fact, value: Value, wanted: str) -> tuple[Period | None, Period | None]:
    """Read both as dates; a meeting's "Monday" is the one after it. `wanted` is in ISO form."""
    if not isinstance(value, str):
        return None, None
    said = fact.fields.get("date")
    own, limit, meeting = read_iso(value), read_iso(wanted), read_iso(said) if isinstance(said, str) else None
    if own is None and meeting is not None:
        own = read_period(value, meeting.start, Lean.COMING)
    return own, limit


def _number(value: Value) -> float | None:
    """Read a number with at most a currency or a unit next to it."""
    if isinstance(value, int | float):
        return float(value)
    found = _NUMBER.match(value.strip()) if isinstance(value, str) else None
    return float(found[1].replace(",", "")) if found else None


# ----------------------------------------------------------------------------------------------------------- relations


class Direction(StrEnum):
    """The end of a relation at which the followed thing is."""

    SOURCE = "source"
    TARGET = "target"
    BOTH = "both"


def follow(
    relations: Sequence[Fact], name: str, aliases: Aliases, *, kind: str | None = None, direction: Direction
) -> list[Fact]:
    """Return the relations of a thing with any of its names; without any, those whose ends hold its words."""
    names = names_of(name, aliases)
    fitting = [fact for fact in relations if kind is None or _holds_words(str(fact.fields["kind"]), [kind])]
    exactly = [fact for fact in fitting if any(end.casefold() in names for end in _ends(fact, direction))]
    return exactly or [fact for fact in fitting if any(_holds_words(end, names) for end in _ends(fact, direction))]


def named_things(relations: Iterable[Fact]) -> list[str]:
    """Return all things that relations lead from and to, each once."""
    return list(dict.fromkeys(end for fact in relations for end in _ends(fact, Direction.BOTH)))


def _ends(fact: Fact, direction: Direction) -> list[str]:
    places = (Direction.SOURCE, Direction.TARGET) if direction is Direction.BOTH else (direction,)
    return [str(fact.fields[place.value]) for place in places]


def _holds_words(text: str, names: Iterable[str]) -> bool:
    known = {stem(word) for word in words(text)}
    return any(bool(words(name)) and all(stem(word) in known for word in words(name)) for name in names)
