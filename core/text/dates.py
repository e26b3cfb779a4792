"""Calendar dates in running text: ISO, written out in several languages, with slashes and dots. Pure.

Libraries for this guess at any number, and take a second for a page.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from core.domain.passages import Span

# Years in documents; two digits mean 2000 to 2069 or 1970 to 1999, as in POSIX.
_YEARS = range(1900, 2100)
YEARS_OF_HISTORY = range(1000, 2100)
_CENTURY_TURN = 70
# Month names by number: English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish/Danish/Norwegian.
_MONTHS = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari stycznia januari",
    "february feb februar février févr fév fevrier febrero febbraio fevereiro fev februari lutego",
    "march mar märz maerz mrz mars marzo março maart mrt marca",
    "april apr avril avr abril abr aprile kwietnia",
    "may mai mayo maggio mag maio mei maja maj",
    "june jun juni juin junio giugno giu junho czerwca",
    "july jul juli juillet juil julio luglio lug julho lipca",
    "august aug août aout agosto ago augustus sierpnia augusti",
    "september sept sep septembre septiembre settembre set setembro września",
    "october oct oktober okt octobre octubre ottobre ott outubro out października",
    "november nov novembre noviembre novembro listopada",
    "december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro grudnia",
)
MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_WEEKDAYS = (
    "mon monday mo montag lundi lunes lunedì segunda maandag",
    "tue tues tuesday di dienstag mardi martes martedì terça dinsdag",
    "wed wednesday mi mittwoch mercredi miércoles mercoledì quarta woensdag",
    "thu thur thurs thursday do donnerstag jeudi jueves giovedì quinta donderdag",
    "fri friday fr freitag vendredi viernes venerdì sexta vrijdag",
    "sat saturday sa samstag sonnabend samedi sábado sabato zaterdag",
    "sun sunday so sonntag dimanche domingo domenica zondag",
)
WEEKDAY_OF = {name: number for number, names in enumerate(_WEEKDAYS) for name in names.split()}

_NAME = "|".join(sorted(MONTH_OF, key=len, reverse=True))
_YEAR = r"(?P<year>(?:1\d|20)\d\d)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?<![\d/.-]){_YEAR}(?P<sep>[-/.])(?P<month>\d{{1,2}})(?P=sep)(?P<day>\d{{1,2}})(?![\d/])",
        rf"{_YEAR}\s?年\s?(?P<month>\d{{1,2}})\s?月\s?(?P<day>\d{{1,2}})\s?日",
        rf"(?<![\d/.,-]){_DAY}\s{{0,2}}[ -]?(?:(?:of|de)\s|d['’])?(?P<name>{_NAME})\b\.?"
        rf"(?:[,\s-]{{1,2}}(?:(?:de|del)\s)?{_YEAR}\b)?",
        rf"\b(?P<name>{_NAME})\b\.?\s{_DAY}(?![\d:/])(?:,?\s{{1,2}}{_YEAR}\b)?",
        r"(?<![\w.])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?!\s?\d)",
        r"(?<![\w/.-])(?P<first>\d{1,2})(?P<sep>[./-])(?P<second>\d{1,2})(?P=sep)(?P<year>(?:1\d|20)?\d\d)(?![\w/-])",
    )
)
_COMPACT = re.compile(rf"(?<!\d){_YEAR}(?P<month>\d\d)(?P<day>\d\d)(?!\d)")
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date and its place in a text. `year` is None if it isn't written."""

    span: Span
    year: int | None
    month: int
    day: int

    def iso(self, after: date | None = None) -> str | None:
        """Return YYYY-MM-DD. A date without a year is the first one from `after` on; None without `after`."""
        if self.year is not None:
            return f"{self.year:04}-{self.month:02}-{self.day:02}"
        if after is None:
            return None
        first = _valid(after.year, self.month, self.day)
        if first is not None and first >= after:
            return first.isoformat()
        following = _valid(after.year + 1, self.month, self.day)
        return following.isoformat() if following else None


def find_dates(text: str, *, day_first: bool | None = None, years: range = _YEARS) -> list[WrittenDate]:
    """Return all dates in `text` in order, none inside another. A year outside `years` is not read.

    03/04/2025 is read by a weekday near it, else by `day_first`, else as in the US; with dots, the day comes first.
    """
    found: list[WrittenDate] = []
    for form in _FORMS:
        for match in form.finditer(text):
            written = _to_date(match, text, day_first, years)
            if written and not any(_overlap(written.span, other.span) for other in found):
                found.append(written)
    return sorted(found, key=lambda item: item.span)


def find_date(text: str, *, day_first: bool | None = None) -> WrittenDate | None:
    """Return the first date with a year, or None."""
    return next((item for item in find_dates(text, day_first=day_first) if item.year is not None), None)


def find_date_in_name(name: str) -> WrittenDate | None:
    """Return the date in a file's name, with hyphens, underscores or no signs between (20240503), or None."""
    text = re.sub(r"(?<=\d)_(?=\d)", "-", name).replace("_", " ")
    return find_date(text) or next(
        (written for match in _COMPACT.finditer(text) if (written := _to_date(match, text, None, _YEARS))), None
    )


def stated_day(text: str) -> str | None:
    """Return the day that a date field states, as YYYY-MM-DD; None if it states none."""
    found = find_date(text)
    return found.iso() if found is not None else None


def has_weekday(text: str) -> bool:
    """Return whether the text names a day of the week."""
    return any(len(word) > 2 and word.lower() in WEEKDAY_OF for word in _WORD.findall(text))


def is_day_first(texts: Iterator[str]) -> bool | None:
    """Return how a document writes dates with slashes, by the first unambiguous one; None without any."""
    for text in texts:
        for match in _FORMS[-1].finditer(text):
            first, second = int(match["first"]), int(match["second"])
            if match["sep"] == "/" and (first > 12) != (second > 12):
                return first > 12
    return None


def _to_date(match: re.Match[str], text: str, day_first: bool | None, years: range) -> WrittenDate | None:
    groups = match.groupdict()
    year = _year(groups.get("year"), years)
    if groups.get("year") and year is None and not groups.get("name"):
        return None
    if groups.get("first"):
        return _numeric(match, text, year, day_first)
    month = MONTH_OF[groups["name"].lower()] if groups.get("name") else int(groups["month"])
    day = int(groups["day"])
    if _valid(year or 2000, month, day) is None:
        return None
    return WrittenDate(Span(match.start(), match.end()), year, month, day)


def _numeric(match: re.Match[str], text: str, year: int | None, day_first: bool | None) -> WrittenDate | None:
    if year is None:
        return None
    span, first, second = Span(*match.span()), int(match["first"]), int(match["second"])
    days = {True: _valid(year, second, first), False: _valid(year, first, second)}
    readable = {way: day for way, day in days.items() if day is not None}
    if len(readable) > 1 and match["sep"] != ".":
        around = text[max(0, span.start - 30) : span.end + 20].lower()
        named = {WEEKDAY_OF[word] for word in _WORD.findall(around) if word in WEEKDAY_OF and len(word) > 2}
        fitting = [way for way, day in readable.items() if day.weekday() in named]
        way = fitting[0] if len(fitting) == 1 else bool(day_first)
        readable = {way: readable[way]}
    day = next(iter(readable.values()), None)
    return WrittenDate(span, year, day.month, day.day) if day else None


def _year(digits: str | None, years: range) -> int | None:
    if not digits:
        return None
    year = int(digits)
    if len(digits) == 2:
        year += 2000 if year < _CENTURY_TURN else 1900
    return year if year in years else None


def _valid(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
