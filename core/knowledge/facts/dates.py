"""Dates as people write them, as the days they stand for. Pure: the caller says which day is today."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

MONTHS = "january february march april may june july august september october november december".split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
LONGEST_DATE = 5  # words and commas: "3rd of May, 2026"
_MONTH_NUMBERS = {name: place for place, full in enumerate(MONTHS, start=1) for name in (full, full[:3])} | {"sept": 9}
_STEPS = {"last": -1, "this": 0, "next": 1}
_NEAR_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_ISO = re.compile(r"((?:19|20)\d\d)(?:-(\d\d?))?(?:-(\d\d?))?\Z")
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\Z")


class Lean(StrEnum):
    """The days meant by a month without a year, or a weekday."""

    COMING = "coming"  # the next month that isn't over yet; a weekday may be today
    PAST = "past"  # the last month that has begun; the last such weekday before today


@dataclass(frozen=True, slots=True)
class Period:
    """Days from `start` up to, not including, `end`."""

    start: date
    end: date


def read_period(text: str, today: date, lean: Lean = Lean.COMING) -> Period | None:
    """Return the days of a date: one day, or a week, month or year. None if it isn't a date."""
    parts = [part for part in text.casefold().replace(",", " ").split() if part != "of"]
    stripped = [part.rstrip(".") for part in parts]
    if len(parts) == 1 and (iso := read_iso(stripped[0])) is not None:
        return iso
    return _relative(stripped, today, lean) or _named(stripped, today, lean)


def to_iso(period: Period) -> str | None:
    """Return a day, a month or a year in ISO form; None for other lengths."""
    written = (period.start.isoformat(), f"{period.start.year:04}-{period.start:%m}", f"{period.start.year:04}")
    return next((text for text in written if read_iso(text) == period), None)


def read_iso(text: str) -> Period | None:
    """Read `2026`, `2026-05` or `2026-05-12`, which mean the same on every day."""
    match = _ISO.match(text.strip())
    return _period(*(int(part) if part else None for part in match.groups())) if match else None


def _named(parts: list[str], today: date, lean: Lean) -> Period | None:
    """Read a month with its day on either side and a year behind both: each at most once."""
    year = int(parts.pop()) if len(parts) > 1 and _YEAR.match(parts[-1]) else None
    months = [_MONTH_NUMBERS[part] for part in parts if part in _MONTH_NUMBERS]
    days = [int(match[1]) for part in parts if (match := _DAY.match(part))]
    if len(months) != 1 or len(days) > 1 or len(months) + len(days) != len(parts):
        return None
    day = days[0] if days else None
    if year is not None:
        return _period(year, months[0], day)
    for each in (today.year, today.year + (1 if lean is Lean.COMING else -1)):
        found = _period(each, months[0], day)
        if found is not None and (found.end > today if lean is Lean.COMING else found.start <= today):
            return found
    return None


def _relative(parts: list[str], today: date, lean: Lean) -> Period | None:
    *before, unit = parts or [""]
    if len(before) > 1 or (before and before[0] not in _STEPS):
        return None
    if not before and unit in _NEAR_DAYS:
        return _days(today + timedelta(days=_NEAR_DAYS[unit]))
    if unit in WEEKDAYS:
        ahead = (WEEKDAYS.index(unit) - today.weekday()) % 7
        back = before == ["last"] or (not before and lean is Lean.PAST)
        return _days(today + timedelta(days=ahead - 7 if back else ahead))
    return _around(unit, _STEPS[before[0]], today) if before else None


def _around(unit: str, steps: int, today: date) -> Period | None:
    """Return this week, month or year, or the one before or after. Weeks begin on Monday."""
    match unit:
        case "week":
            return _days(today + timedelta(days=7 * steps - today.weekday()), 7)
        case "month":
            place = today.year * 12 + today.month - 1 + steps
            return _period(place // 12, place % 12 + 1)
        case "year":
            return _period(today.year + steps)
    return None


def _period(year: int | None, month: int | None = None, day: int | None = None) -> Period | None:
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
