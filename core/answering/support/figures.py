"""Checks in code of the figures of a sentence against its quotes. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from core.answering.support.arithmetic import OLDEST, YEARS, as_money, is_told_otherwise, rivals
from core.answering.support.texts import Text
from core.domain.passages import Span
from core.domain.support import Finding, FindingKind
from core.text.quantities import Quantity, find_quantities, measure_of
from core.text.words import tokens

_CONVERTED = 0.06  # tolerance between units: "about 60 cm" for 2 feet
_CALENDAR = 0.02  # months have 28 to 31 days
_ABOUT = 0.1  # tolerance of "about"
_CLOSE, _EXACT = 0.01, 3  # its tolerance for a number with so many figures: "about 53.1"
_SCALE_OF_ALL = re.compile(
    r"\((?:\w+ )?in (?:[$€£]|US\$|USD|EUR)? ?(?P<scale>thousand|million|billion)s?\b[^)]{0,20}\)", re.IGNORECASE
)
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}


_RANGE = re.compile(r"\W*(?:to|and|or|bis|auf|a|y|und|–|-)\W*")
_SCALE_WORD = re.compile(r"\b(?:thousand|million|billion|tausend|millionen|milliarden|mil|millones)\b", re.IGNORECASE)
_HALF_OF = re.compile(r"\bhalf (?:of that|that|as (?:much|many)|the (?:price|fee|size|number|amount))\b", re.IGNORECASE)
_WORDS = 3  # letters of units that are words: "a kilo", not "a g"
_SINGLE = re.compile(r"\b(?:one|a single) (?!of\b)([^\W\d_]{4,})", re.IGNORECASE)
_ONE = re.compile(r"\b(?:an?|one|eine[nrsm]?|una?)\s+([^\W\d_]+)", re.IGNORECASE)


def _implied(evidence: Text) -> Iterable[Quantity]:
    """Figures that quotes have in other words: "a week", and the first of "9.6 to 8.9 million"."""
    for match in _ONE.finditer(evidence.text):
        dimension, factor = measure_of(match[1])
        if dimension and len(match[1]) >= _WORDS:
            span = Span(*match.span())
            yield Quantity(
                span=span, values=(1.0,), slack=0.0, dimension=dimension, unit=match[1].lower(), factor=factor
            )
    for match in _SINGLE.finditer(evidence.text):
        yield Quantity(span=Span(*match.span()), values=(1.0,), slack=0.0, noun=match[1].lower())
    for match in _HALF_OF.finditer(evidence.text):
        yield Quantity(span=Span(*match.span()), values=(50.0,), slack=0.0, dimension="%", unit="%")
    for one, other in pairwise(evidence.quantities):
        written = other.span.of(evidence.text)
        between = evidence.text[one.span.end : other.span.start]
        if not one.dimension and _RANGE.fullmatch(between) and (scale := _SCALE_WORD.search(written)):
            bare = find_quantities(written[: scale.start()])
            times = other.values[0] / bare[0].values[0] if bare and bare[0].values[0] else 1.0
            values = tuple(value * times for value in one.values)
            yield replace(other, span=one.span, values=values, slack=one.slack * times)


def scaled(quantities: Sequence[Quantity], evidence: Text) -> list[Quantity]:
    """Return figures of quotes that say "(in millions)" once, in full."""
    match = _SCALE_OF_ALL.search(evidence.text)
    if match is None:
        return []
    scale = _SCALES[match["scale"].lower()]
    plain = [quantity for quantity in quantities if not quantity.dimension]
    return [
        replace(quantity, values=(quantity.values[0] * scale,), slack=quantity.slack * scale)  # 51,262 is no decimal
        for quantity in plain
    ]


def check_quantities(claim: Text, evidence: Text, context: Text) -> Iterable[Finding]:
    known = [*evidence.quantities, *scaled(evidence.quantities, evidence), *_implied(evidence)]
    supposed = _supposed(claim, known, evidence)
    told = {quantity.span.start: quantity for quantity in _implied(claim) if quantity.dimension != "%"}
    for quantity in (told.get(one.span.start, one) for one in claim.quantities):
        same = [other for other in known if equals(quantity, other) and not _is_label(quantity, other, claim, evidence)]
        if same or any(equals(quantity, o) for o in context.quantities):
            yield from _other_kind(quantity, same, claim, evidence)
            if same and (rival := _own_figure(quantity, same, known, claim)) is not None:
                told_of = rival.span.of(evidence.text)
                yield Finding(FindingKind.NUMBER, quantity.span.of(claim.text), told_of, is_sure=True)
            continue
        if quantity in supposed or _is_decade(quantity, claim, evidence) or _is_example(quantity, claim, evidence):
            continue
        if (
            _stands_in(quantity, claim, evidence)
            or _is_within(quantity, claim, known, evidence)
            or _is_choice(quantity, claim)
        ):
            continue
        if is_told_otherwise(quantity, claim, known, evidence):
            continue
        rival = next((other for other in known if rivals(quantity, other)), None)
        written = rival.span.of(evidence.text) if rival is not None else ""
        yield Finding(FindingKind.NUMBER, quantity.span.of(claim.text), written, is_sure=True)


_LABEL = re.compile(
    r"\b(?:motion|section|chapter|page|table|figure|room|version|article|part|item|number|option|step|level|line|phase|"
    r"paragraph|rule|question|appendix|kapitel|abschnitt|seite|antrag|artikel|capítulo|sección|página|no\.|nr\.|§)\s?$",
    re.IGNORECASE,
)


def _is_label(quantity: Quantity, other: Quantity, claim: Text, evidence: Text) -> bool:
    """Whether the quotes' figure is only the number of a section or the like, and the sentence's counts something."""
    if not quantity.noun or _LABEL.search(claim.text[: quantity.span.start]):
        return False
    return other.span.end <= len(evidence.text) and bool(_LABEL.search(evidence.text[: other.span.start]))


_EACH = re.compile(
    r"\b(?:each|every|per|pro|je|jede\w*|cada|por|(?:a|an) (?:second(?! [a-z])|minute|hour|day|night|week|month|year|"
    r"person|head|share|piece|item|unit|kilo\w*|litre|tonne|ticket|visit|lesson|seat|room|page|copy|pair|box))\b",
    re.IGNORECASE,
)


def _supposed(claim: Text, known: Sequence[Quantity], evidence: Text) -> list[Quantity]:
    """An example's figures: "three months cost 75 euros" where each month costs 25."""
    if not _EACH.search(evidence.text) and not any(rate.dimension == "%" for rate in known):
        return []
    figures = claim.quantities
    return next(
        (
            [one, other]
            for one in figures
            for other in figures
            for rate in known
            if one is not other and one.values[0] > 1 and other.values[0] in _results(one.values[0], rate, other)
        ),
        [],
    )


def _results(amount: float, rate: Quantity, result: Quantity) -> Sequence[float]:
    if rate.dimension == "%" and result.dimension != "%":
        return (amount * rate.values[0] / 100,)
    return (rate.values[0] * amount, amount - rate.values[0]) if rate.dimension == result.dimension else ()


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
    r"(?<!no )(?<!not )\b(?:(?P<more>(?:more|larger|longer|older|higher|heavier|bigger|greater) than|over|above|"
    r"mehr als|über|más de)|(?P<less>(?:less|fewer|smaller|shorter|younger|lower|lighter) than|under|below|"
    r"weniger als|unter|menos de))\W{0,3}$",
    re.IGNORECASE,
)
_ABOVE = 0.15  # of a bound: 77.5 percent are "more than three quarters"
_BOUND_LENGTH = 16  # characters before a figure


# A limit of the quotes; "under 12" and the like are found by _BOUND.
_LIMIT = re.compile(r"\b(?:up to|at most|no more than|at least|within|bis zu|höchstens|hasta)\W{0,3}$", re.IGNORECASE)
_TIME_LIMIT = re.compile(r"\b(?:for|no later than|until|after)\W{0,3}$", re.IGNORECASE)
_EXAMPLE = re.compile(r"(?:at|an?|any|for an?|if|with|after|whoever|wer|ein\w*|una?|si|wenn) ", re.IGNORECASE)


_CASE = re.compile(r"\b(?:if|wenn|falls|si)\b", re.IGNORECASE)


def _is_example(quantity: Quantity, claim: Text, evidence: Text) -> bool:
    """Whether a case that the sentence supposes is on the quotes' side of a bound: "a child of ten" for "under 12"."""
    if not _EXAMPLE.match(claim.text) and not _CASE.search(claim.text[: quantity.span.start]):
        return False
    if any(
        one.values[0] <= quantity.values[0] <= other.values[0]
        for one, other in pairwise(evidence.quantities)
        if _RANGE.fullmatch(evidence.text[one.span.end : other.span.start])
    ):
        return True
    for other in evidence.quantities:
        if quantity.dimension and quantity.dimension != other.dimension:
            continue
        bound = _bound(other, evidence)
        if bound is None:
            before = evidence.text[: other.span.start]
            if _LIMIT.search(before) or (quantity.dimension == "time" and _TIME_LIMIT.search(before)):
                return True
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
    counts = [one.values[0] for one in known if not one.dimension] if quantity.dimension == "%" else []
    shares = [100 * a / b for a in counts for b in counts if a < b]
    if any(0 < (share - value if bound["more"] else value - share) <= _ABOVE * value for share in shares):
        return True
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


def _own_figure(
    quantity: Quantity, same: Sequence[Quantity], known: Sequence[Quantity], claim: Text
) -> Quantity | None:
    """Return the quotes' figure for the thing that this one counts, if they have this one only for another thing."""
    is_age = quantity.unit.startswith(YEARS) and quantity.values[0] < OLDEST  # told without a unit: "under 14"
    is_multiple = (  # "twice", for "two pills twice"
        quantity.noun != "times"
        and all(other.noun == "times" for other in same)
        and any(other.noun == "times" for other in claim.quantities)
    )
    if not (quantity.dimension or is_multiple) or is_age:
        return None
    if any(rivals(quantity, other) or not other.noun for other in same):
        return None
    return next((other for other in known if rivals(quantity, other)), None)


_COUNTED_WORDS = re.compile(r"\s+([^\W\d_]{3,})\s+([^\W\d_]{3,})")
_BEHIND = frozenset("within during after before under over from with for into per".split())  # no nouns


def _other_kind(quantity: Quantity, same: Sequence[Quantity], claim: Text, evidence: Text) -> Iterable[Finding]:
    """The right number of another kind: "30 gold pieces" for "30 silver pieces"."""
    if quantity.dimension:
        return
    mine = _COUNTED_WORDS.match(claim.text, quantity.span.end)
    if mine is None or not same or claim.language != evidence.language or mine[2] in _BEHIND:
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
        yield Finding(FindingKind.NUMBER, mine.group().strip(), found[0].group().strip(), is_sure=True)


def equals(claimed: Quantity, said: Quantity) -> bool:
    """Return whether two quantities are the same, up to rounding and conversion. A bare number fits any unit."""
    if claimed.dimension == said.dimension:
        return any(
            _is_near(a, claimed.factor, b, said.factor, claimed, said) for a in claimed.values for b in said.values
        )
    if claimed.dimension and said.dimension:
        alike = as_money(claimed, said.dimension)
        return alike is not claimed and equals(alike, said)
    if "clock" in (claimed.dimension, said.dimension):  # "at seven"
        clock, bare = (claimed, said) if claimed.dimension else (said, claimed)
        hour = bare.values[0]
        return hour <= _HOURS_OF_DAY and any((value / 60 - hour) % 12 == 0 for value in clock.values)
    if claimed.dimension == "%" and not claimed.unit:  # a fraction in words is no rounded count
        claimed = replace(claimed, is_loose=False)
    if claimed.dimension == "time" and claimed.factor > _YEAR:  # "a quarter of a century" for "the 25th time"
        claimed = replace(claimed, values=tuple(value * claimed.factor / _YEAR for value in claimed.values))
    return any(_is_near(a, 1.0, b, 1.0, claimed, said) for a in claimed.values for b in said.values)


_HOURS_OF_DAY = 24
_YEAR = measure_of("year")[1]
_HALF = 0.5
_SHOWN = 0.0005


def _digits(quantity: Quantity) -> int:
    """Return how many figures a number shows: "53.1 billion" has three."""
    return len(f"{quantity.values[0]:.9e}".split("e")[0].rstrip("0").replace(".", ""))


def _is_near(a: float, factor: float, b: float, other: float, claimed: Quantity, said: Quantity) -> bool:
    slack = _SHOWN if claimed.slack == _HALF and a != round(a) else claimed.slack  # 8,420 read as a decimal
    is_rounded = claimed.slack != 0.5 or b != round(b)
    tolerance = slack * factor if is_rounded else 0.0
    a, b = a * factor, b * other
    if claimed.is_loose:
        tolerance = max(tolerance, (_ABOUT if _digits(claimed) < _EXACT else _CLOSE) * abs(b))
    if factor != other and claimed.dimension != "time":
        tolerance = max(tolerance, _CONVERTED * abs(b))
    elif factor != other:
        tolerance = max(tolerance, _CALENDAR * abs(b))
    return abs(a - b) <= tolerance + 1e-9 * abs(b)


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
        same = [q for q in figures if any(equals(q, other) for other in evidence.quantities)]
        if said and _base(match[1]) not in said and same:
            yield Finding(FindingKind.NUMBER, match.group(), next(iter(said.values())), is_sure=True)


def _base(unit: str) -> float:
    return measure_of(unit)[1]
