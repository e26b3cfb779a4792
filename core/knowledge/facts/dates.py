"""Dates as people write them, as the days they stand for. Pure: what counts as today is given."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

MONTHS = "january february march april may june july august september october november december".split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = rf"(?:{'|'.join(f'{name[:3]}(?:{name[3:]})?' if len(name) > 3 else name for name in MONTHS)}|sept)\.?"
_WEEKDAY = rf"(?:{'|'.join(WEEKDAYS)})"
_YEAR = r"(?:19|20)\d\d"
_UNIT = r"(?:day|week|month|year)"
# What `read_period` reads, to find it in a sentence.
DATE = (
    rf"(?:{_YEAR}-\d\d?-\d\d?|{_YEAR}-\d\d?|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?|"
    rf"{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,?\s+{_YEAR})?|{_MONTH}(?:\s+{_YEAR})?|{_YEAR}|"
    rf"today|tomorrow|yesterday|(?:this|next|last)\s+(?:{_UNIT}|{_WEEKDAY})|{_WEEKDAY})"
)
_NUMERIC = re.compile(rf"({_YEAR})(?:-(\d\d?))?(?:-(\d\d?))?\Z")
_DAY_FIRST = re.compile(rf"(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})(?:,?\s+({_YEAR}))?\Z", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"({_MONTH})(?:\s+(\d{{1,2}})(?:st|nd|rd|th)?)?(?:,?\s+({_YEAR}))?\Z", re.IGNORECASE)


class Lean(StrEnum):
    """Which year is meant by a month without one."""

    COMING = "coming"  # the next that is not over yet: a date to come
    PAST = "past"  # the last that has begun: a date that was


@dataclass(frozen=True, slots=True)
class Period:
    """Days from `start` up to, not including, `end`."""

    start: date
    end: date


def read_period(text: str, today: date, lean: Lean = Lean.COMING) -> Period | None:
    """The days that a date stands for: one, or those of its week, month or year. None where it is no date."""
    wanted = " ".join(text.casefold().split()).strip(",.")
    return read_iso(wanted) or _named(wanted, today, lean) or _relative(wanted, today, lean)


def to_iso(period: Period) -> str | None:
    """A day, a month or a year as ISO writes it; None for other lengths."""
    written = (period.start.isoformat(), f"{period.start.year:04}-{period.start:%m}", f"{period.start.year:04}")
    return next((text for text in written if read_iso(text) == period), None)


def read_iso(text: str) -> Period | None:
    """`2026`, `2026-05` and `2026-05-12` alone: whatever the day is, they mean the same."""
    match = _NUMERIC.match(text.strip())
    return _period(*(int(part) if part else None for part in match.groups())) if match else None


def _named(text: str, today: date, lean: Lean) -> Period | None:
    if match := _DAY_FIRST.match(text):
        day, month, year = match.groups()
    elif match := _MONTH_FIRST.match(text):
        month, day, year = match.groups()
    else:
        return None
    number = next(place for place, name in enumerate(MONTHS, start=1) if name.startswith(month[:3]))
    if year is not None:
        return _period(int(year), number, int(day) if day else None)
    years = (today.year, today.year + 1) if lean is Lean.COMING else (today.year, today.year - 1)
    for each in years:
        found = _period(each, number, int(day) if day else None)
        if found is not None and (found.end > today if lean is Lean.COMING else found.start <= today):
            return found
    return None


def _relative(text: str, today: date, lean: Lean) -> Period | None:
    days = {"yesterday": -1, "today": 0, "tomorrow": 1}
    if text in days:
        return _days(today + timedelta(days=days[text]))
    which, _, unit = text.rpartition(" ")
    steps = {"last": -1, "this": 0, "next": 1}
    if unit in WEEKDAYS and which in ("", *steps):
        ahead = (WEEKDAYS.index(unit) - today.weekday()) % 7
        back = which == "last" or (which == "" and lean is Lean.PAST and ahead > 0)
        return _days(today + timedelta(days=ahead - 7 if back else ahead))
    if which not in steps:
        return None
    return _around(unit, steps[which], today)


def _around(unit: str, steps: int, today: date) -> Period | None:
    """This week, month or year, or the one before or behind it. Weeks begin on Monday."""
    match unit:
        case "day":
            return _days(today + timedelta(days=steps))
        case "week":
            return _days(today + timedelta(days=7 * steps - today.weekday()), 7)
        case "month":
            place = today.year * 12 + today.month - 1 + steps
            return _period(place // 12, place % 12 + 1)
        case "year":
            return _period(today.year + steps)
    return None


def _period(year: int | None, month: int | None = None, day: int | None = None) -> Period | None:
    """None for what no calendar has."""
    if year is None or not 1 <= year <= 9998 or (month is not None and not 1 <= month <= 12):
        return None
    if month is None:
        return Period(date(year, 1, 1), date(year + 1, 1, 1))
    length = monthrange(year, month)[1]
    if day is None:
        return _days(date(year, month, 1), length)
    return _days(date(year, month, day)) if 1 <= day <= length else None


def _days(start: date, length: int = 1) -> Period:
    return Period(start, start + timedelta(days=length))
