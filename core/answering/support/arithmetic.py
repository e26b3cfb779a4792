"""Figures that a sentence computes from the ones in its quotes: sums, differences, shares, rates, ages, spans. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date as Date
from itertools import pairwise

from core.answering.support.texts import Text
from core.domain.passages import Span
from core.text.quantities import Quantity
from core.text.words import tokens

_ABOUT = 0.1  # tolerance of "about"
_CLOSE = 0.01  # the same for a number with three figures: "about 53.1"
_RATES = re.compile(
    r"\b(?:per|each|every|a|pro|je|por|cada|al) (?:second(?! [a-z])|minute|hour|day|week|month|year|decade|century)",
    re.IGNORECASE,
)
_RATIOS = (60, 24, 7, 12, 52, 365, 3600)
_LONG_RATIOS = {"decade": 10, "century": 100}
_EXTRA = frozenset("more extra additional additionally plus mehr zusätzlich más adicional".split())
# Words of a sentence that computes something from the figures of its quotes.
_ADDS = frozenset(
    "total together sum whole added adds amounted vote votes combined altogether overall both all cast lasted "
    "lasts last took takes dauerte duró zusammen insgesamt summe juntos juntas".split()
)
_SUBTRACTS = frozenset(
    "difference differ differs below above beyond farther further add adds added more less fewer lower higher "
    "grew grow rose fell increase increased decrease decreased later earlier older younger longer shorter "
    "larger smaller apart save saves saved cheaper dearer down up won lost gained remain remaining left rest "
    "ahead behind majority margin gap other others otherwise lasted lasts took takes dauerte duró mehr "
    "weniger más menos diferencia sparen spart ahorran ahorra not".split()
)
_MULTIPLIES = frozenset(
    "each twice double half times per every head person apiece average pay pays paid cost costs comes yearly "
    "weekly daily".split()
)
_APPROXIMATE = frozenset(
    "about around roughly approximately nearly almost some etwa rund ungefähr knapp fast unos unas casi "
    "aproximadamente".split()
)
# "4,310 employees, of whom 2,770 worked abroad": the rest is given as well.
_PART_OF_ALL = re.compile(r"\b(?:of (?:whom|which|them|these)|including|davon|de los cuales)\b", re.IGNORECASE)
_NEAR_PART = 8  # characters behind a part: "35 of them"
_AVERAGES = frozenset("average mean averaged durchschnitt durchschnittlich media promedio".split())
_AGES = frozenset("age aged old when at turned until younger alter als mit edad cuando con".split())
OLDEST = 120  # years
_LESSENS = frozenset("drops dropped loses lost fell falls deducted deducts deductible excess off".split())
# With one of these, a figure is a difference if the quotes have no rival of it.
_MAY_SUBTRACT = frozenset("after before between from by over nach vor um después antes por".split())


_OTHERS = frozenset(
    "others everybody everyone growth change drop decline decreases increases grown grows shrank".split()
)


def is_told_otherwise(quantity: Quantity, claim: Text, known: Sequence[Quantity], evidence: Text) -> bool:
    """Return whether figures of the quotes, `known`, give a figure of the sentence that they don't have as such."""
    return (
        _is_time_between(quantity, known, evidence)
        or any(float(date.year or 0) in quantity.values for date in evidence.dates)
        or _is_year_between(quantity, evidence)
        or _is_sum(quantity, evidence)
        or _is_computed(quantity, claim, known, evidence)
        or _is_counted(quantity, evidence)
    )


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


def _days_between(evidence: Text) -> Iterator[float]:
    """Yield the days from each date of the quotes to each later one; a date without a year has that of another."""
    years = [date.year for date in evidence.dates if date.year]
    days = [
        Date(date.year or years[0], date.month, min(date.day or 1, _SHORTEST_MONTH)).toordinal()
        for date in evidence.dates
        if date.year or years
    ]
    yield from (float(b - a) for a in days for b in days if b > a)


_DAY, _SHORTEST_MONTH, _NEAR = 24 * 60, 28, 0.04
_LONG_UNITS = ("day", "tag", "día", "week", "woche", "semana", "month", "monat", "mes")


def _is_time_between(quantity: Quantity, known: Sequence[Quantity], evidence: Text) -> bool:
    """Whether it is the time from one hour or year to another, or the hour so long after another."""
    clocks = {value for other in known if other.dimension == "clock" for value in other.values}
    spans = [other.values[0] * other.factor / 60 for other in known if other.dimension == "time"]
    if quantity.dimension == "clock":
        ends = [one + sign * span for one in clocks for span in spans for sign in (1, -1)]
        return any(abs(end - value) < 1 for end in ends for value in quantity.values)
    if quantity.dimension != "time":
        return False
    minutes = quantity.values[0] * quantity.factor / 60
    days = minutes / _DAY if quantity.unit.startswith(_LONG_UNITS) else 0.0
    if days and any(abs(days - between) <= max(1.0, _NEAR * days) for between in _days_between(evidence)):
        return True
    if quantity.unit.startswith(YEARS):
        years = {other.values[0] for other in known if not other.dimension and other.values[0] >= _FIRST_YEAR}
        counted = {abs(a - b) + more for a in years for b in years if a != b for more in (0, 1)} | {len(years)}
        return quantity.values[0] in counted - {1.0}
    return any(abs(abs(a - b) - minutes) < 1 for a in clocks for b in clocks if a != b)


_RANGE_WORDS = re.compile(r"\b(?:between|from|until|till|since|zwischen|von|bis|entre|desde|hasta)\b", re.IGNORECASE)


def _is_year_between(quantity: Quantity, evidence: Text) -> bool:
    """Whether it is a year so many years after or before another one, or between two, as the quotes give them."""
    years = [other.values[0] for other in evidence.quantities if not other.dimension and other.values[0] >= _FIRST_YEAR]
    years += [float(date.year) for date in evidence.dates if date.year]
    spans = [other.values[0] for other in evidence.quantities if other.unit.startswith(YEARS)]
    if quantity.dimension or quantity.values[0] < _FIRST_YEAR:
        return False
    if _RANGE_WORDS.search(evidence.text) and min(years, default=9999) < quantity.values[0] < max(years, default=0):
        return True
    return any(abs(quantity.values[0] - year) == span for year in years for span in spans)


_FIRST_YEAR, _LAST_YEAR = 1000, 2100
YEARS = ("year", "jahr", "año")


def _is_computed(quantity: Quantity, claim: Text, known: Sequence[Quantity], evidence: Text) -> bool:
    """Whether a sum, difference, product, share or change of two figures gives it, in a sentence that computes."""
    quantity = next((as_money(quantity, o.dimension) for o in known if o.dimension in ("$", "€", "£")), quantity)
    known = [as_money(o, quantity.dimension) for o in known]
    is_share, words = quantity.dimension == "%", set(claim.words)
    has_rate = bool(_RATES.search(claim.text))
    adds = bool(words & _ADDS or _EXTRA & set(evidence.words))
    multiplies = bool(words & _MULTIPLIES) or has_rate
    subtracts = bool(words & _SUBTRACTS) or bool(claim.negations)
    is_exact = not words & _APPROXIMATE
    if _figures_shown(quantity, claim) >= (_EXACT if is_exact else _TELLING):
        adds = subtracts = multiplies = True
    if words & _MAY_SUBTRACT and not any(rivals(quantity, other) for other in known):
        subtracts = True
    if _LESSENS & set(evidence.words) or quantity.values[0] != round(quantity.values[0]):
        subtracts = True
    values = [
        o.values[0] * (o.factor / quantity.factor if o.dimension and o.dimension == quantity.dimension else 1.0)
        for o in known
        if is_share or o.dimension in ("", quantity.dimension) or not quantity.dimension
    ]
    if quantity.unit.startswith(YEARS):
        values += [float(date.year) for date in evidence.dates if date.year]
        values += [o.values[0] for o in known if not o.dimension]
    results = [sum(values), *_totals(evidence, quantity)] if adds else []
    results += _means(evidence, quantity) if words & _AVERAGES else []
    results += _bills(evidence, quantity) if adds or multiplies or subtracts else []
    results += _rests(evidence, quantity) + _shares_of(known, quantity) + _changes(evidence, quantity)
    if words & _AGES and quantity.values[0] < OLDEST and quantity.dimension in ("", "time"):
        told = [float(date.year) for date in evidence.dates if date.year] + [o.values[0] for o in known]
        results += [a - b for a in told for b in told if a >= _FIRST_YEAR and b >= _FIRST_YEAR]
    if _figures_shown(quantity, claim) >= _EXACT and is_exact:
        results += _totals(evidence, quantity)
        results += [total - sign * a for total in _totals(evidence, quantity) for a in values for sign in (1, -1)]
    if is_share:
        results += _percentages(known, evidence, changes=subtracts or bool(words & _OTHERS))
    for place, a in enumerate(values):
        results += [2 * a, a / 2] if multiplies else []
        if has_rate:
            ratios = [*_RATIOS, *(ratio for word, ratio in _LONG_RATIOS.items() if word in words)]
            results += [a * ratio for ratio in ratios] + [a / ratio for ratio in ratios]
        for b in values[:place]:
            results += [a + b] if adds else []
            results += [a - b, b - a] if subtracts or is_share else []
            results += [a * b] if multiplies else []
            if a and b and multiplies:
                results += [a / b, b / a]
    about = _ABOUT if _figures_shown(quantity, claim) < _EXACT else _CLOSE
    loose = about * abs(quantity.values[0]) if words & _APPROXIMATE else 0.0
    slack = max(quantity.slack if quantity.slack != 0.5 else 0.0, loose)
    rounding = [0.5 if quantity.slack == 0.5 and result != round(result) else 0.0 for result in results]
    return any(
        abs(abs(result) - value) <= max(slack, extra) + 1e-6 * abs(value)
        for result, extra in zip(results, rounding, strict=True)
        for value in (quantity.values[:1] if claim.language == "en" else quantity.values)
    )


_TELLING = 4  # figures that are no chance: "2,740"
_EXACT = 3
_COUNT = Quantity(span=Span(0, 0), values=(1.0,), slack=0.0)


def _percentages(known: Sequence[Quantity], evidence: Text, *, changes: bool) -> list[float]:
    """Return shares of each other, of the total of a list, the rests of shares, and `changes` from one to another."""
    parts = [o.values[0] for o in known if o.dimension != "%"]
    pairs = [(x, y) for x in parts for y in parts if x != y and y]
    found = [100 * x / sum(row) for row in _rows(evidence, _COUNT) if sum(row) for x in row]
    found += [100 * x / y for x, y in pairs]
    found += [100 * (x - y) / y for x, y in pairs if changes]
    return found + [100 - o.values[0] for o in known if o.dimension == "%"]


def _figures_shown(quantity: Quantity, claim: Text) -> int:
    written = re.sub(r"\D", "", quantity.span.of(claim.text)).strip("0")
    told = f"{quantity.values[0]:.4f}".replace(".", "").strip("0")  # "three minutes and 28 seconds" are 208
    return max(len(written), len(told) if quantity.dimension == "time" else 0)


def _is_year(quantity: Quantity) -> bool:
    is_plain = not quantity.dimension and len(quantity.values) == 1  # "1,010" has two readings
    return is_plain and _FIRST_YEAR <= quantity.values[0] < _LAST_YEAR


def _rows(evidence: Text, quantity: Quantity) -> Iterator[list[float]]:
    """Yield the figures of one kind that the quotes list, and every second, third … of them: columns of a table."""
    for dimensions in {(quantity.dimension,), (quantity.dimension, "")}:  # a list may tell its unit once
        like = [o for o in evidence.quantities if o.dimension in dimensions and not _is_year(o)]
        figures = [o.values[0] * (o.factor / quantity.factor if o.dimension else 1.0) for o in like]
        for step in range(1, _MOST_COLUMNS + 1):
            yield from (figures[start::step] for start in range(step))
        for start in range(len(figures)):
            yield from (figures[start:end] for end in range(start + 2, start + _MOST_COLUMNS))


def _totals(evidence: Text, quantity: Quantity) -> list[float]:
    return [sum(row) for row in _rows(evidence, quantity) if len(row) > 1]


def _means(evidence: Text, quantity: Quantity) -> list[float]:
    return [sum(row) / len(row) for row in _rows(evidence, quantity) if len(row) > 1]


_MOST_COLUMNS = 6


def _bills(evidence: Text, quantity: Quantity) -> list[float]:
    """Return the sum of "3 pumps at 240 euros each … 36 euros", with and without a percentage of it."""
    if quantity.dimension not in ("$", "€", "£"):
        return []
    products: list[float] = []
    last = None
    for other in evidence.quantities:
        if other.dimension == quantity.dimension:
            products.append(other.values[0] * (last.values[0] if last is not None else 1.0))
            last = None
        else:
            last = other if other.dimension not in ("%", "clock") and not _is_year(other) else None
    shares = [other.values[0] / 100 for other in evidence.quantities if other.dimension == "%"]
    total = sum(products)
    return [
        *products,
        total,
        *(result for share in shares for result in (total * share, total * (1 + share), total * (1 - share))),
    ]


def _rests(evidence: Text, quantity: Quantity) -> list[float]:
    """Return the rest of an amount of which the quotes name a part: "of whom 2,770 worked abroad"."""
    return [
        whole.values[0] - part.values[0]
        for whole, part in pairwise(evidence.quantities)
        if _PART_OF_ALL.search(evidence.text[whole.span.end : part.span.end + _NEAR_PART])
        and whole.dimension == quantity.dimension
        and whole.values[0] > part.values[0]
    ]


_TO = re.compile(r"\b(?:to|from|auf|a|against|versus|compared (?:to|with)|in place of|instead of)\b")


def _changes(evidence: Text, quantity: Quantity) -> list[float]:
    """Return the differences of figures next to each other ("from 4 to 12"), and sums of two counts of a thing."""
    found: list[float] = []
    for one, other in pairwise(evidence.quantities):
        if one.dimension not in ("", other.dimension) or quantity.dimension not in ("", other.dimension):
            continue
        a, b = one.values[0], other.values[0]
        if _TO.search(evidence.text[one.span.end : other.span.start]):
            found += [abs(a - b)]
        if not other.dimension and set(tokens(quantity.noun)) & {*tokens(one.noun), *tokens(other.noun)}:
            found += [a + b]
    return found


def _shares_of(known: Sequence[Quantity], quantity: Quantity) -> list[float]:
    """Return the quotes' shares ("half of that", "shorter by a third") of their amounts, and the wholes."""
    if quantity.dimension == "%":
        return []
    shares = [other.values[0] / 100 for other in known if other.dimension == "%"]
    amounts = [
        other.values[0] * (other.factor / quantity.factor)
        for other in known
        if other.dimension == quantity.dimension and not _is_year(other)
    ]
    return [result for a in amounts for p in shares if p for result in (a * p, a * (1 - p), a * (1 + p), a / p)]


def _is_counted(quantity: Quantity, evidence: Text) -> bool:
    """Whether a small count may be that of the things that the quotes list."""
    if quantity.noun == "times" or quantity.dimension or not all(2 <= value <= 12 for value in quantity.values):
        return False
    if any(rivals(quantity, other) for other in evidence.quantities):
        return False
    items = max((len(re.split(r",| and | or |;|\n", part)) for part in re.split(r"[.:]\s", evidence.text)), default=0)
    return quantity.values[0] <= items and quantity.span.end - quantity.span.start > 1


def as_money(quantity: Quantity, dimension: str) -> Quantity:
    """Return a figure in a currency that its unit may be of: cents, and "Pfund" for pounds; others as they are."""
    if quantity.dimension == "cent" and dimension in ("$", "€"):
        return replace(quantity, dimension=dimension, factor=0.01)
    if quantity.unit in _POUNDS and dimension == "£":
        return replace(quantity, dimension=dimension, factor=1.0)
    return quantity


_POUNDS = frozenset("pound pounds pfund libras".split())


def rivals(claimed: Quantity, said: Quantity) -> bool:
    """Return whether the quotes give another figure for the same thing."""
    if claimed.dimension or said.dimension:
        return claimed.dimension == said.dimension
    return bool(claimed.noun) and bool(set(tokens(claimed.noun)) & set(tokens(said.noun)))
