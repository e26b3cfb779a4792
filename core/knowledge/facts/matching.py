"""Whether a row fits what is asked. Pure.

Words fit whole, whatever their case, and in the singular as in the plural; an alias of a thing fits as its name does.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from core.knowledge.facts.dates import Lean, Period, read_iso, read_period
from core.knowledge.facts.query import FIELD_ALIASES, Comparison, Condition, FactQuery, to_field_name
from core.knowledge.facts.rows import Fact, FactType, Value
from core.text.words import words

# A name, casefolded -> all names of the same thing, casefolded.
Aliases = Mapping[str, frozenset[str]]

_ASIDE = frozenset({FactType.TABLE, FactType.ANCHOR, FactType.PAGE})  # given only to those who ask for them
_YEAR = re.compile(r"[12]\d{3}\Z", re.ASCII)
_NUMBER = re.compile(r"[^\d.,+-]*([+-]?\d[\d,]*(?:\.\d+)?|[+-]?\.\d+)\D*\Z")


class Fit(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"  # but for a value that can't be compared: no date, or no number


def fit(fact: Fact, query: FactQuery, aliases: Aliases, about: str = "") -> Fit:
    """`about`: the title and path of its document, where words may stand as well."""
    if fact.type not in query.types if query.types else fact.type in _ASIDE:
        return Fit.NO
    text = words(" ".join([*(_text(value) for value in fact.fields.values()), fact.about, about]))
    if not all(_stands(word, text, aliases) for word in query.words):
        return Fit.NO
    fits = {_fits(fact, condition, aliases) for condition in query.conditions}
    return Fit.NO if Fit.NO in fits else Fit.UNKNOWN if Fit.UNKNOWN in fits else Fit.YES


def same_fact(fact: Fact, aliases: Aliases) -> tuple[str, ...]:
    """What facts have in common that say the same: their type and fields; things, one of their names and their kind."""
    if fact.type is FactType.ENTITY:
        return fact.type, min(names_of(_text(fact.fields["name"]), aliases)), _text(fact.fields.get("kind")).casefold()
    return fact.type, *(" ".join(words(f"{name} {_text(value)}")) for name, value in fact.fields.items())


def stem(word: str) -> str:
    """The singular of a plain plural: `bookings` is found by `booking`, and the other way round."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def names_of(phrase: str, aliases: Aliases) -> frozenset[str]:
    """The phrase and all other names of what it names, casefolded."""
    said = phrase.casefold()
    return aliases.get(said, frozenset()) | {said}


def _fits(fact: Fact, condition: Condition, aliases: Aliases) -> Fit:
    value = _field(fact, condition.field)
    if not condition.value:
        return _when((value is None) == (condition.comparison is not Comparison.IS_NOT))
    if value is None:
        return _without(fact, condition)
    match condition.comparison:
        case Comparison.HOLDS:
            return _when(_holds(value, condition.value, aliases) or _is_on(fact, value, condition.value))
        case Comparison.IS:
            return _when(_is(value, condition.value, aliases) or _is_on(fact, value, condition.value))
        case Comparison.IS_NOT:
            return _when(not (_is(value, condition.value, aliases) or _is_on(fact, value, condition.value)))
        case _:
            return _compared(fact, value, condition)


def _when(fits: bool) -> Fit:
    return Fit.YES if fits else Fit.NO


def _without(fact: Fact, condition: Condition) -> Fit:
    """Nothing is said: it is not that value; and whether it is before or behind it nobody knows."""
    if condition.comparison is Comparison.IS_NOT:
        return Fit.YES
    ordered = condition.comparison not in (Comparison.HOLDS, Comparison.IS)
    known = to_field_name(condition.field) in ("due", "due_date", "deadline") and fact.type is FactType.ACTION_ITEM
    return Fit.UNKNOWN if ordered and known else Fit.NO


def _field(fact: Fact, name: str) -> Value:
    fields = {to_field_name(key): value for key, value in fact.fields.items()}
    return next((fields[each] for each in (name, *FIELD_ALIASES.get(name, ())) if each in fields), None)


def _text(value: Value) -> str:
    return " ".join(value) if isinstance(value, tuple) else "" if value is None else str(value)


def _stands(phrase: str, text: Sequence[str], aliases: Aliases) -> bool:
    """Whether all words of one of its names stand in the text."""
    there = {stem(word) for word in text} | set(text)
    return any(all(word in there or stem(word) in there for word in words(name)) for name in names_of(phrase, aliases))


def _holds(value: Value, wanted: str, aliases: Aliases) -> bool:
    parts: Iterable[str] = value if isinstance(value, tuple) else [_text(value)]
    if _YEAR.match(wanted):
        return any(re.search(rf"(?<!\d){wanted}(?!\d)", part) for part in parts)  # "FY2025"
    return bool(words(wanted)) and any(_stands(wanted, words(part), aliases) for part in parts)


def _is(value: Value, wanted: str, aliases: Aliases) -> bool:
    names = names_of(wanted, aliases)
    if isinstance(value, tuple):
        return any(part.strip().casefold() in names for part in value)
    number = _number(value), _number(wanted)
    return _text(value).strip().casefold() in names or (number[0] is not None and number[0] == number[1])


def _is_on(fact: Fact, value: Value, wanted: str) -> bool:
    """Whether both are dates, and the one lies within the other."""
    own, limit = _dates(fact, value, wanted)
    return own is not None and limit is not None and limit.start <= own.start < limit.end


def _compared(fact: Fact, value: Value, condition: Condition) -> Fit:
    own, limit = _dates(fact, value, condition.value)
    if own is not None and limit is not None:
        match condition.comparison:
            case Comparison.LESS:
                return _when(own.start < limit.start)
            case Comparison.AT_MOST:
                return _when(own.start < limit.end)
            case Comparison.MORE:
                return _when(own.start >= limit.end)
            case _:
                return _when(own.start >= limit.start)
    left, right = _number(value), _number(condition.value)
    if left is None or right is None:
        return Fit.UNKNOWN
    match condition.comparison:
        case Comparison.LESS:
            return _when(left < right)
        case Comparison.AT_MOST:
            return _when(left <= right)
        case Comparison.MORE:
            return _when(left > right)
        case _:
            return _when(left >= right)


def _dates(fact: Fact, value: Value, wanted: str) -> tuple[Period | None, Period | None]:
    """Both as dates; what a meeting says of "Monday" is the one behind it. `wanted` has them as ISO writes them."""
    if not isinstance(value, str):
        return None, None
    said = fact.fields.get("date")
    own, limit, meeting = read_iso(value), read_iso(wanted), read_iso(said) if isinstance(said, str) else None
    if own is None and meeting is not None:
        own = read_period(value, meeting.start, Lean.COMING)
    return own, limit


def _number(value: Value) -> float | None:
    """A number with at most a currency or a unit around it."""
    if isinstance(value, int | float):
        return float(value)
    match = _NUMBER.match(value.strip()) if isinstance(value, str) else None
    return float(match[1].replace(",", "")) if match else None
