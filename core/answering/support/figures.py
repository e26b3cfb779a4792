"""Checks in code of the figures and dates of a sentence against its quotes. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date as Date
from itertools import pairwise

from core.answering.support.texts import Text
from core.domain.passages import Span
from core.domain.support import Finding, FindingKind
from core.text.dates import MONTH_OF, WEEKDAY_OF, WrittenDate
from core.text.quantities import Quantity, find_quantities, measure_of
from core.text.words import tokens

_CONVERTED = 0.06  # tolerance between units: "about 60 cm" for 2 feet
_CALENDAR = 0.02  # months have 28 to 31 days
_ABOUT = 0.1  # tolerance of "about"
_RATES = re.compile(
    r"\b(?:per|each|every|a|pro|je|por|cada|al) (?:second(?! [a-z])|minute|hour|day|week|month|year)", re.IGNORECASE
)
_RATIOS = (60, 24, 7, 12, 52, 365, 3600)
# Words of a sentence that computes something from the figures of its quotes.
_ADDS = frozenset(
    "total together sum combined altogether overall both all cast lasted lasts last took takes dauerte duró zusammen "
    "insgesamt summe juntos juntas total".split()
)
_SUBTRACTS = frozenset(
    "difference more less fewer lower higher grew grow rose fell increase increased decrease decreased later earlier "
    "older younger longer shorter larger smaller apart save saves saved cheaper dearer down up won lost gained remain "
    "remaining left rest ahead behind majority margin gap lasted lasts took takes dauerte duró mehr weniger más menos "
    "diferencia sparen spart ahorran ahorra not".split()
)
_MULTIPLIES = frozenset("each twice double half times per every average cost costs comes yearly weekly daily".split())
_APPROXIMATE = frozenset(
    "about around roughly approximately nearly almost some etwa rund ungefähr knapp fast unos unas casi "
    "aproximadamente".split()
)
# With one of these, a figure is a difference if the quotes have no rival of it.
_MAY_SUBTRACT = frozenset("after before between from by over nach vor um después antes por".split())


_SCALE_OF_ALL = re.compile(
    r"\((?:\w+ )?in (?:[$€£]|US\$|USD|EUR)? ?(?P<scale>thousand|million|billion)s?\b[^)]{0,20}\)", re.IGNORECASE
)
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}


_RANGE = re.compile(r"\W*(?:to|and|or|bis|a|y|und|–|-)\W*")
_SCALE_WORD = re.compile(r"\b(?:thousand|million|billion|tausend|millionen|milliarden|mil|millones)\b", re.IGNORECASE)
_ONE = re.compile(r"\b(?:an?|one|eine[nrsm]?|una?)\s+([^\W\d_]+)", re.IGNORECASE)


def _implied(evidence: Text) -> Iterable[Quantity]:
    """Figures that quotes have in other words: "a week", and the first of "9.6 to 8.9 million"."""
    for match in _ONE.finditer(evidence.text):
        dimension, factor = measure_of(match[1])
        if dimension == "time":
            span = Span(*match.span())
            yield Quantity(
                span=span, values=(1.0,), slack=0.0, dimension=dimension, unit=match[1].lower(), factor=factor
            )
    for one, other in pairwise(evidence.quantities):
        written = other.span.of(evidence.text)
        between = evidence.text[one.span.end : other.span.start]
        if not one.dimension and _RANGE.fullmatch(between) and (scale := _SCALE_WORD.search(written)):
            bare = find_quantities(written[: scale.start()])
            times = other.values[0] / bare[0].values[0] if bare and bare[0].values[0] else 1.0
            values = tuple(value * times for value in one.values)
            yield replace(other, span=one.span, values=values, slack=one.slack * times)


def _scaled(evidence: Text) -> list[Quantity]:
    """The figures of quotes that say "(in millions)" once, in full."""
    match = _SCALE_OF_ALL.search(evidence.text)
    if match is None:
        return []
    scale = _SCALES[match["scale"].lower()]
    plain = [quantity for quantity in evidence.quantities if not quantity.dimension]
    return [
        replace(quantity, values=tuple(value * scale for value in quantity.values), slack=quantity.slack * scale)
        for quantity in plain
    ]


def check_quantities(claim: Text, evidence: Text, context: Text) -> Iterable[Finding]:
    known = [*evidence.quantities, *_scaled(evidence), *_implied(evidence)]
    supposed = _supposed(claim, known, evidence)
    for quantity in claim.quantities:
        same = [other for other in known if _equals(quantity, other)]
        if same or any(_equals(quantity, o) for o in context.quantities):
            yield from _other_kind(quantity, same, claim, evidence)
            if same and (rival := _own_figure(quantity, same, known)) is not None:
                yield Finding(FindingKind.NUMBER, quantity.span.of(claim.text), rival.span.of(evidence.text))
            continue
        if quantity in supposed or _is_decade(quantity, claim, evidence) or _is_example(quantity, claim, evidence):
            continue
        if (
            _stands_in(quantity, claim, evidence)
            or _is_within(quantity, claim, known, evidence)
            or _is_choice(quantity, claim)
        ):
            continue
        if (
            _is_time_between(quantity, known)
            or _is_year_of_date(quantity, evidence)
            or _is_year_between(quantity, evidence)
            or _is_sum(quantity, evidence)
            or _is_computed(quantity, claim, known, [float(date.year) for date in evidence.dates if date.year])
            or _is_counted(quantity, evidence)
        ):
            continue
        rival = next((other for other in known if _rivals(quantity, other)), None)
        yield Finding(
            FindingKind.NUMBER, quantity.span.of(claim.text), rival.span.of(evidence.text) if rival is not None else ""
        )


_EACH = re.compile(
    r"\b(?:each|every|per|pro|je|jede\w*|cada|por|(?:a|an) (?:second(?! [a-z])|minute|hour|day|week|month|year))\b",
    re.IGNORECASE,
)


def _supposed(claim: Text, known: Sequence[Quantity], evidence: Text) -> list[Quantity]:
    """An example's figures: "three months cost 75 euros" where each month costs 25."""
    if not _EACH.search(evidence.text):
        return []
    figures = claim.quantities
    return next(
        (
            [one, other]
            for one in figures
            for other in figures
            for rate in known
            if one is not other
            and one.values[0] > 1
            and rate.dimension == other.dimension
            and rate.values[0] * one.values[0] == other.values[0]
        ),
        [],
    )


def _is_decade(quantity: Quantity, claim: Text, evidence: Text) -> bool:
    """Whether it is "the 1930s", and the quotes have a year of them."""
    if not re.match(r"['’]?s\b", claim.text[quantity.span.end :]) or quantity.values[0] % 10:
        return False
    years = [other.values[0] for other in evidence.quantities if not other.dimension]
    years += [float(date.year) for date in evidence.dates if date.year]
    return any(quantity.values[0] <= year < quantity.values[0] + 10 for year in years)


_OR = re.compile(r"\b(?:or|oder|o)\b")
_NEXT = 6  # characters between a figure and "or"


def _is_choice(quantity: Quantity, claim: Text) -> bool:
    """Whether it is one side of "or", whose other side may be right."""
    start, end = quantity.span.start, quantity.span.end
    found = [Span(*match.span()) for match in _OR.finditer(claim.text)]  # in the whole: a cut may leave "o" of "opened"
    return any(0 <= start - one.end < _NEXT or 0 <= one.start - end < _NEXT for one in found)


_BOUND = re.compile(
    r"(?<!no )(?<!not )\b(?:(?P<more>more than|over|above|mehr als|über|más de)|(?P<less>less than|under|below|"
    r"fewer than|weniger als|unter|menos de))\W{0,3}$",
    re.IGNORECASE,
)
_BOUND_LENGTH = 16  # characters before a figure


_EXAMPLE = re.compile(r"(?:an?|any|for an?|if|with|after|whoever|wer|ein\w*|una?|si|wenn) ", re.IGNORECASE)


def _is_example(quantity: Quantity, claim: Text, evidence: Text) -> bool:
    """Whether a case that the sentence supposes is on the quotes' side of a bound: "a child of ten" for "under 12"."""
    if not _EXAMPLE.match(claim.text):
        return False
    for other in evidence.quantities:
        bound = _bound(other, evidence)
        if bound is None or (quantity.dimension and quantity.dimension != other.dimension):
            continue
        value, limit = quantity.values[0] * quantity.factor, other.values[0] * other.factor
        if value > limit if bound["more"] else value < limit:
            return True
    return False


def _is_within(quantity: Quantity, claim: Text, known: Sequence[Quantity], evidence: Text) -> bool:
    """Whether a figure of the quotes with the same unit is within "more than", or "less than", this one."""
    bound = _bound(quantity, claim)
    if bound is None:
        return False
    value = quantity.values[0] * quantity.factor
    same = [
        other.values[0] * other.factor
        for other in known
        if other.dimension == quantity.dimension
        and (quantity.dimension or set(tokens(other.noun)) & set(tokens(quantity.noun)))
        and _bound(other, evidence) is None
    ]
    return any(other > value if bound["more"] else other < value for other in same)


def _bound(quantity: Quantity, text: Text) -> re.Match[str] | None:
    start = quantity.span.start
    return _BOUND.search(text.text[max(0, start - _BOUND_LENGTH) : start])


def _stands_in(quantity: Quantity, claim: Text, evidence: Text) -> bool:
    """Whether the quotes have the very characters, and not as a figure of another unit."""
    bare = re.escape(quantity.span.of(claim.text).strip())
    places = [match.start() for match in re.finditer(rf"(?<![\w.,]){bare}(?!\w)", evidence.text, re.IGNORECASE)]
    read = {other.span.start: other for other in evidence.quantities}
    units = [(read[place].dimension, read[place].factor) if place in read else ("", 1.0) for place in places]
    return any(not quantity.dimension or not unit[0] or unit == (quantity.dimension, quantity.factor) for unit in units)


def _own_figure(quantity: Quantity, same: Sequence[Quantity], known: Sequence[Quantity]) -> Quantity | None:
    """Return the quotes' figure for the thing that this one counts, if they have this one only for another thing."""
    if not quantity.dimension or any(_rivals(quantity, other) or not other.noun for other in same):
        return None
    return next((other for other in known if _rivals(quantity, other)), None)


_COUNTED_WORDS = re.compile(r"\s+([^\W\d_]{3,})\s+([^\W\d_]{3,})")


def _other_kind(quantity: Quantity, same: Sequence[Quantity], claim: Text, evidence: Text) -> Iterable[Finding]:
    """The right number of another kind: "30 gold pieces" for "30 silver pieces"."""
    mine = _COUNTED_WORDS.match(claim.text, quantity.span.end)
    if mine is None or not same or claim.language != evidence.language:
        return
    found = [_COUNTED_WORDS.match(evidence.text, other.span.end) for other in same]
    if not all(found):
        return
    for match in found:
        if match and tokens(match[2]) != tokens(mine[2]):
            return
        if match and (tokens(match[1]) == tokens(mine[1]) or set(tokens(mine[1])) & evidence.stems):
            return
    if tokens(mine[1]) and tokens(mine[2]) and found[0] and tokens(found[0][1]):
        yield Finding(FindingKind.NUMBER, mine.group().strip(), found[0].group().strip())


def _equals(claimed: Quantity, said: Quantity) -> bool:
    """Whether two quantities are the same, up to rounding and conversion. A bare number fits any unit."""
    if claimed.dimension == said.dimension:
        return any(
            _is_near(a, claimed.factor, b, said.factor, claimed, said) for a in claimed.values for b in said.values
        )
    if claimed.dimension and said.dimension:
        return False
    if "clock" in (claimed.dimension, said.dimension):  # "at seven"
        clock, bare = (claimed, said) if claimed.dimension else (said, claimed)
        hour = bare.values[0]
        return hour <= _HOURS_OF_DAY and any((value / 60 - hour) % 12 == 0 for value in clock.values)
    return any(_is_near(a, 1.0, b, 1.0, claimed, said) for a in claimed.values for b in said.values)


_HOURS_OF_DAY = 24
_HALF = 0.5
_SHOWN = 0.0005


def _is_near(a: float, factor: float, b: float, other: float, claimed: Quantity, said: Quantity) -> bool:
    slack = _SHOWN if claimed.slack == _HALF and a != round(a) else claimed.slack  # 8,420 read as a decimal
    is_rounded = claimed.slack != 0.5 or b != round(b)
    tolerance = slack * factor if is_rounded else 0.0
    a, b = a * factor, b * other
    if claimed.is_loose:
        tolerance = max(tolerance, _ABOUT * abs(b))
    if factor != other and claimed.dimension != "time":
        tolerance = max(tolerance, _CONVERTED * abs(b))
    elif factor != other:
        tolerance = max(tolerance, _CALENDAR * abs(b))
    return abs(a - b) <= tolerance + 1e-9 * abs(b)


def _is_year_of_date(quantity: Quantity, evidence: Text) -> bool:
    return any(float(date.year or 0) in quantity.values for date in evidence.dates)


_VOTES = re.compile(r"\b(\d+)(?: votes?)? (?:to|against|zu|a|contra) (\d+)\b")
_LARGE = 100


def _is_sum(quantity: Quantity, evidence: Text) -> bool:
    """Whether it is the sum of a score, or of two large figures or their difference."""
    value = quantity.values[0]
    if any(int(match[1]) + int(match[2]) == value for match in _VOTES.finditer(evidence.text)):
        return True
    values = [
        o.values[0] for o in evidence.quantities if o.values[0] >= _LARGE and o.dimension in ("", quantity.dimension)
    ]
    is_compared = {"than", "fewer", "more", "less"} & set(evidence.words)
    return (
        bool(is_compared)
        and value >= _LARGE
        and any(a + b == value or a - b == value for a in values for b in values if a != b)
    )


def _is_time_between(quantity: Quantity, known: Sequence[Quantity]) -> bool:
    """Whether it is the time from one hour or year to another, or the hour so long after another."""
    clocks = {value for other in known if other.dimension == "clock" for value in other.values}
    spans = [other.values[0] * other.factor / 60 for other in known if other.dimension == "time"]
    if quantity.dimension == "clock":
        ends = [one + sign * span for one in clocks for span in spans for sign in (1, -1)]
        return any(abs(end - value) < 1 for end in ends for value in quantity.values)
    if quantity.dimension != "time":
        return False
    if quantity.unit.startswith(("year", "jahr", "año")):
        years = [other.values[0] for other in known if not other.dimension and other.values[0] >= _FIRST_YEAR]
        return any(abs(a - b) == quantity.values[0] for a in years for b in years if a != b)
    minutes = quantity.values[0] * quantity.factor / 60
    return any(abs(abs(a - b) - minutes) < 1 for a in clocks for b in clocks if a != b)


def _is_year_between(quantity: Quantity, evidence: Text) -> bool:
    """Whether it is a year so many years after or before another one, as the quotes give them."""
    years = [other.values[0] for other in evidence.quantities if not other.dimension and other.values[0] >= _FIRST_YEAR]
    years += [float(date.year) for date in evidence.dates if date.year]
    spans = [other.values[0] for other in evidence.quantities if other.unit.startswith(("year", "jahr", "año"))]
    if quantity.dimension or quantity.values[0] < _FIRST_YEAR:
        return False
    return any(abs(quantity.values[0] - year) == span for year in years for span in spans)


_FIRST_YEAR = 1000


def _is_computed(quantity: Quantity, claim: Text, known: Sequence[Quantity], years: Sequence[float]) -> bool:
    """Whether a sum, difference, product, share or change of two figures gives it, in a sentence that computes."""
    is_share, words = quantity.dimension == "%", set(claim.words)
    has_rate = bool(_RATES.search(claim.text))
    adds, multiplies = bool(words & _ADDS), bool(words & _MULTIPLIES) or has_rate
    subtracts = bool(words & _SUBTRACTS) or bool(claim.negations)
    if words & _MAY_SUBTRACT and not any(_rivals(quantity, other) for other in known):
        subtracts = True
    values = [
        o.values[0] * (o.factor / quantity.factor if o.dimension and o.dimension == quantity.dimension else 1.0)
        for o in known
        if is_share or o.dimension in ("", quantity.dimension) or not quantity.dimension
    ]
    if quantity.unit.startswith(("year", "jahr", "año")):
        values += [*years, *(o.values[0] for o in known if not o.dimension)]
    results = [sum(values)] if adds else []
    parts = [o.values[0] for o in known if o.dimension != "%"]
    if is_share:
        results += [100 * x / y for x in parts for y in parts if x != y and y]
        results += [100 * (x - y) / y for x in parts for y in parts if x != y and y]
    for place, a in enumerate(values):
        results += [2 * a, a / 2] if multiplies else []
        results += [100 - a] if is_share else []
        if has_rate:
            results += [a * ratio for ratio in _RATIOS] + [a / ratio for ratio in _RATIOS]
        for b in values[:place]:
            results += [a + b] if adds else []
            results += [a - b, b - a] if subtracts or is_share else []
            results += [a * b] if multiplies else []
            if a and b and multiplies:
                results += [a / b, b / a]
    loose = _ABOUT * abs(quantity.values[0]) if words & _APPROXIMATE else 0.0
    slack = max(quantity.slack if quantity.slack != 0.5 else 0.0, loose)
    rounding = [0.5 if quantity.slack == 0.5 and result != round(result) else 0.0 for result in results]
    return any(
        abs(abs(result) - value) <= max(slack, extra) + 1e-6 * abs(value)
        for result, extra in zip(results, rounding, strict=True)
        for value in (quantity.values[:1] if claim.language == "en" else quantity.values)
    )


def _is_counted(quantity: Quantity, evidence: Text) -> bool:
    """Whether a small count may be that of the things that the quotes list."""
    if quantity.noun == "times" or quantity.dimension or not all(2 <= value <= 12 for value in quantity.values):
        return False
    if any(_rivals(quantity, other) for other in evidence.quantities):
        return False
    items = max((len(re.split(r",| and | or |;|\n", part)) for part in re.split(r"[.:]\s", evidence.text)), default=0)
    return quantity.values[0] <= items and quantity.span.end - quantity.span.start > 1


def _rivals(claimed: Quantity, said: Quantity) -> bool:
    """Whether the quotes give another figure for the same thing."""
    if claimed.dimension or said.dimension:
        return claimed.dimension == said.dimension
    return bool(claimed.noun) and bool(set(tokens(claimed.noun)) & set(tokens(said.noun)))


# ------------------------------------------------------------------------------------------------------------ dates

# Short forms are words of some language ("so", "out"); those of three letters count only where they are English.
MONTH_NAMES = {name: number for name, number in MONTH_OF.items() if len(name) > 3 or name in ("may", "mai")}
DAY_NAMES = {name: number for name, number in WEEKDAY_OF.items() if len(name) > 4}


_RATE_UNIT = re.compile(
    r"(?:\b(?:per|each|every|pro|je|por|cada)|/|(?:\d|times|twice|once)\s+an?) ?"
    r"(second|minute|hour|day|week|month|year|sekunde|stunde|tag|woche|monat|jahr|segundo|minuto|hora|día|semana|mes|"
    r"año)\b",
    re.IGNORECASE,
)


_RATE_OF = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annual": "year"}


def check_rates(claim: Text, evidence: Text, context: Text) -> Iterable[Finding]:
    """A figure for a day that the quotes give for an hour, unless it is converted."""
    del context
    written = [_RATE_OF[word] for word in evidence.words if word in _RATE_OF]
    written += [*_RATE_UNIT.findall(evidence.text), *(q.unit for q in evidence.quantities if q.dimension == "time")]
    said = {_base(unit): unit for unit in written}
    for match in _RATE_UNIT.finditer(claim.text):
        figures = [q for q in claim.quantities if q.span.start < match.start() and q.dimension != "time"][-1:]
        same = [q for q in figures if any(_equals(q, other) for other in evidence.quantities)]
        if said and _base(match[1]) not in said and same:
            yield Finding(FindingKind.NUMBER, match.group(), next(iter(said.values())))


def _base(unit: str) -> float:
    return measure_of(unit)[1]


def check_dates(claim: Text, evidence: Text, context: Text) -> Iterable[Finding]:
    said = [*evidence.dates, *context.dates]
    for date in claim.dates:
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
    months = [d.month for d in said]
    yield from _named_times(claim, evidence, context, MONTH_NAMES, months)


_NEXT_DAY = re.compile(
    r"\b(?:(?:next|following|previous) day|day (?:before|after)|eve|folgenden? Tag|Vortag|día siguiente)\b",
    re.IGNORECASE,
)


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
