"""Checks in code of the dates, months and weekdays of a sentence against its quotes. Pure."""

import re
from collections.abc import Iterable, Sequence
from datetime import date as Date

from core.answering.support.texts import Text
from core.domain.support import Finding, FindingKind
from core.text.dates import MONTH_OF, WEEKDAY_OF, WrittenDate

# Short forms are words of some language ("so", "out"); of three letters, only English ones count.
MONTH_NAMES = {name: number for name, number in MONTH_OF.items() if len(name) > 3 or name in ("may", "mai")}
DAY_NAMES = {name: number for name, number in WEEKDAY_OF.items() if len(name) > 4}


def check_dates(claim: Text, evidence: Text, context: Text) -> Iterable[Finding]:
    said = [*evidence.dates, *context.dates]
    spans = list(_month_spans(evidence))
    for date in claim.dates:
        if any(date.month in span for span in spans):
            continue
        fits = [d for d in said if (d.month, d.day) == (date.month, date.day)]
        if any(d.year is None or date.year is None or d.year == date.year for d in fits):
            continue
        if _NEXT_DAY.search(evidence.text) and any(_are_neighbours(date, d) for d in said):
            continue
        if fits or said:
            yield Finding(FindingKind.DATE, date.span.of(claim.text), (fits or said)[0].span.of(evidence.text))
        elif not _holds_parts(date, evidence):
            yield Finding(FindingKind.DATE, date.span.of(claim.text))
    yield from _named_times(claim, evidence, context, DAY_NAMES, [])
    months = [d.month for d in said] + [month for span in spans for month in span]
    yield from _named_times(claim, evidence, context, MONTH_NAMES, months)


_NEXT_DAY = re.compile(
    r"\b(?:(?:next|following|previous) day|day (?:before|after)|eve|folgenden? Tag|Vortag|día siguiente)\b",
    re.IGNORECASE,
)


_MONTH_SPAN = re.compile(
    rf"\b(?:from|between|vom?|zwischen|del?|desde|entre)\b[^.;]{{0,12}}?\b(?P<first>{'|'.join(MONTH_NAMES)})\b"
    rf"[^.;]{{0,12}}?\b(?:to|until|till|through|and|bis|und|al?|hasta|y)\b[^.;]{{0,12}}?\b(?P<last>{'|'.join(MONTH_NAMES)})\b",
    re.IGNORECASE,
)


def _month_spans(evidence: Text) -> Iterable[set[int]]:
    """Yield the months inside each span of the quotes: "from 1 November to 30 April", without its ends."""
    for match in _MONTH_SPAN.finditer(evidence.text):
        first, last = MONTH_NAMES[match["first"].lower()], MONTH_NAMES[match["last"].lower()]
        yield {(first + step - 1) % 12 + 1 for step in range(1, (last - first) % 12)}


def _are_neighbours(one: WrittenDate, other: WrittenDate) -> bool:
    year = one.year or other.year or 2000
    days = [Date(item.year or year, item.month, item.day).toordinal() for item in (one, other)]
    return abs(days[0] - days[1]) == 1


def _holds_parts(date: WrittenDate, evidence: Text) -> bool:
    return str(date.day) in evidence.words and any(MONTH_NAMES.get(word) == date.month for word in evidence.words)


def _named_times(
    claim: Text, evidence: Text, context: Text, names: dict[str, int], more: Sequence[int]
) -> Iterable[Finding]:
    """Weekdays and months by name: "may" and "mar" are words, too, and count only with a capital."""
    there = {names[w] for text in (evidence, context) for w in text.words if w in names and _is_name(w, text)} | set(
        more
    )
    for word in claim.words:
        if word not in names or not _is_name(word, claim) or not there or names[word] in there:
            continue
        if not any(word in date.span.of(claim.text).lower() for date in claim.dates):
            yield Finding(FindingKind.DATE, word, next((w for w in evidence.words if w in names), ""))


def _is_name(word: str, text: Text) -> bool:
    return word not in ("may", "mars", "mayo") or word.capitalize() in text.text
