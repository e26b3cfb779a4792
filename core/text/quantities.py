"""Quantities in running text: value, unit and rounding, in digits or in English, German and Spanish words. Pure.

Libraries for this know one language, and guess a unit for every word.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from core.domain.passages import Span
from core.text.dates import YEARS_OF_HISTORY, find_dates

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
_UNITS += "seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_GERMAN = (
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn".split()
)
_GERMAN += "siebzehn achtzehn neunzehn".split()
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_SPANISH = "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis".split()
_SPANISH += "diecisiete dieciocho diecinueve".split()
_SPANISH_TENS = "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
_HUNDREDS = {"hundred": 100, "hundert": 100, "cien": 100, "ciento": 100, "doscientos": 200, "quinientos": 500}
_SCALES = {
    **dict.fromkeys("thousand thousands tausend mil k".split(), 1e3),
    **dict.fromkeys("million millions millionen mio millón millones m mn mm".split(), 1e6),
    **dict.fromkeys("billion billions bn milliarde milliarden mrd".split(), 1e9),
    **dict.fromkeys("trillion trillions tn billionen billón billones".split(), 1e12),
}
# Letters that are a scale only directly behind digits with a currency sign: "$3.4m".
_LETTER_SCALES = frozenset({"k", "m", "mn", "mm", "tn"})
_CURRENCIES = {
    **dict.fromkeys("$ us$ usd dollar dollars dólares".split(), "$"),
    **dict.fromkeys("€ eur euro euros".split(), "€"),
    **dict.fromkeys("£ gbp".split(), "£"),
    **dict.fromkeys("¥ jpy yen".split(), "¥"),
}
# unit -> (dimension, factor to the dimension's base unit)
_MEASURES: Mapping[str, tuple[str, float]] = {
    **dict.fromkeys("% percent prozent".split(), ("%", 1.0)),
    **dict.fromkeys("mm millimetre millimetres millimeter millimeters".split(), ("length", 0.001)),
    **dict.fromkeys(
        "cm centimetre centimetres centimeter centimeters zentimeter centímetros".split(), ("length", 0.01)
    ),
    **dict.fromkeys("metre metres meter meters metro metros".split(), ("length", 1.0)),
    **dict.fromkeys("km kilometre kilometres kilometer kilometers kilómetros".split(), ("length", 1000.0)),
    **dict.fromkeys("inch inches zoll pulgadas".split(), ("length", 0.0254)),
    **dict.fromkeys("foot feet ft fuß pies".split(), ("length", 0.3048)),
    **dict.fromkeys("yard yards".split(), ("length", 0.9144)),
    **dict.fromkeys("mile miles meile meilen millas".split(), ("length", 1609.344)),
    **dict.fromkeys("hectare hectares ha hektar hectáreas".split(), ("area", 1e4)),
    **dict.fromkeys("acre acres".split(), ("area", 4046.86)),
    **dict.fromkeys("quadratmeter quadratmetern".split(), ("area", 1.0)),
    **dict.fromkeys("quadratkilometer quadratkilometern".split(), ("area", 1e6)),
    **dict.fromkeys("g gram grams gramm gramos".split(), ("mass", 0.001)),
    **dict.fromkeys("kg kilo kilos kilogram kilograms kilogramm kilogramos".split(), ("mass", 1.0)),
    **dict.fromkeys("tonne tonnes tonnen toneladas".split(), ("mass", 1000.0)),
    **dict.fromkeys("lb lbs pound pounds pfund libras".split(), ("mass", 0.45359237)),
    **dict.fromkeys("oz ounce ounces".split(), ("mass", 0.0283495)),
    **dict.fromkeys("litre litres liter liters litros".split(), ("volume", 1.0)),
    **dict.fromkeys("ml millilitre millilitres milliliter milliliters mililitros".split(), ("volume", 0.001)),
    **dict.fromkeys("hl hectolitre hectolitres hectoliter hectoliters hektoliter".split(), ("volume", 100.0)),
    **dict.fromkeys("gallon gallons".split(), ("volume", 3.78541)),
    **dict.fromkeys("cent cents céntimos".split(), ("cent", 1.0)),
    **{f"{prefix}w": ("power", factor) for prefix, factor in (("k", 1e3), ("m", 1e6), ("g", 1e9))},
    **{f"{prefix}wh": ("energy", factor) for prefix, factor in (("k", 1e3), ("m", 1e6), ("g", 1e9), ("t", 1e12))},
    **{f"{prefix}hz": ("frequency", factor) for prefix, factor in (("", 1.0), ("k", 1e3), ("m", 1e6), ("g", 1e9))},
    **{f"{prefix}ah": ("charge", factor) for prefix, factor in (("", 1.0), ("m", 1e-3), ("k", 1e3))},
    **dict.fromkeys("ms millisecond milliseconds millisekunden".split(), ("time", 0.001)),
    **dict.fromkeys("second seconds sec secs sekunde sekunden segundo segundos".split(), ("time", 1.0)),
    **dict.fromkeys("minute minutes min mins minuten minuto minutos".split(), ("time", 60.0)),
    **dict.fromkeys("hour hours hr hrs stunde stunden hora horas".split(), ("time", 3600.0)),
    **dict.fromkeys("day days tag tage tagen día días".split(), ("time", 86400.0)),
    **dict.fromkeys("week weeks woche wochen semana semanas".split(), ("time", 604800.0)),
    **dict.fromkeys("fortnight fortnights".split(), ("time", 1209600.0)),
    **dict.fromkeys("month months monat monate monaten mes meses".split(), ("time", 2629746.0)),
    **dict.fromkeys("year years jahr jahre jahren año años".split(), ("time", 31556952.0)),
    **dict.fromkeys("decade decades jahrzehnt jahrzehnte década décadas".split(), ("time", 315569520.0)),
    **dict.fromkeys("century centuries jahrhundert jahrhunderte siglo siglos".split(), ("time", 3155695200.0)),
    **dict.fromkeys("byte bytes".split(), ("data", 1.0)),
    **dict.fromkeys("kb kilobyte kilobytes".split(), ("data", 1e3)),
    **dict.fromkeys("mb megabyte megabytes".split(), ("data", 1e6)),
    **dict.fromkeys("gb gigabyte gigabytes".split(), ("data", 1e9)),
    **dict.fromkeys("tb terabyte terabytes".split(), ("data", 1e12)),
}
_MULTIPLES = {"twice": 2, "thrice": 3, "zweimal": 2, "dreimal": 3, "viermal": 4}
_LOOSE = frozenset(
    "about around roughly approximately nearly almost some circa ca close approx over under below above than least "
    "most etwa rund ungefähr knapp fast gut über unter circa unos unas cerca aproximadamente casi alrededor mid".split()
)
# Hours of the day count in minutes since midnight.
_CLOCK = re.compile(
    r"\b(?P<hour>[01]?\d|2[0-3])(?:[:.h](?P<minute>[0-5]\d))?\s?(?P<half>[ap])\.?m\b"
    r"|\b(?P<hour24>[01]?\d|2[0-3]):(?P<minute24>[0-5]\d)\b",
    re.IGNORECASE,
)
_DIGITS = r"\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?"
_TOKEN = re.compile(
    rf"(?P<currency>US\$|[$€£¥])\s?(?P<money>{_DIGITS})"
    rf"|(?<![kcm]m)(?<! m)(?P<number>{_DIGITS})(?P<ordinal>st|nd|rd|th)?(?![\d])"
    r"|(?P<sign>[%$€£¥])|(?P<word>[^\W\d_]+)"
)
_PARTS = {
    **dict.fromkeys("half halves hälfte mitad".split(), 2),
    **dict.fromkeys("third thirds drittel tercio tercios".split(), 3),
    **dict.fromkeys("quarter quarters viertel".split(), 4),
    **dict.fromkeys("fifth fifths fünftel".split(), 5),
    **dict.fromkeys("tenth tenths zehntel".split(), 10),
}
_COUNT = r"(?:one|a|an|two|three|four|seven|nine|ein|zwei|drei|una|dos|tres|\d{1,2})"
_FRACTION = re.compile(
    rf"(?<!and )\b(?:(?P<count>{_COUNT})[ -]"
    rf"(?:(?P<part>{'|'.join(_PARTS)})\b(?! (?:of )?(?:an? )?(?:past|to|hour|grade|party))"
    r"|(?:in|out of|von)(?: every)? (?P<of>[^\W_]+)\b))",
    re.IGNORECASE,
)
# "half an hour", "three quarters of an hour", "eine halbe Stunde", "media hora"
_PART_OF_UNIT = re.compile(
    rf"(?<!and )(?<!and a )(?:\b(?P<count>{_COUNT})[ -])?"
    rf"\b(?P<part>{'|'.join(_PARTS)}|halbe[rs]?|medi[ao]|cuarto)s?[ -]"
    r"(?:of |de )?(?:an? )?"
    r"(?P<unit>[^\W\d_]+)\b",
    re.IGNORECASE,
)
_HALVES = ("halb", "medi")
# "two and a half hours", "zweieinhalb Stunden", "dos horas y media", "3½ million"
_AND_A_HALF = re.compile(
    r"\b(?:(?P<count>[^\W_]{1,9}) and a half (?:(?P<scale>million|billion) )?(?P<unit>[^\W\d_]+)|"
    r"(?P<german>[^\W\d_]{2,6}(?=ein)|ander(?=t))(?:ein|t)halb (?P<einheit>[^\W\d_]+)|"
    r"(?P<cuenta>[^\W_]{1,9}) (?P<unidad>[^\W\d_]+) y media?o?\b)",
    re.IGNORECASE,
)
# "from two to six in the afternoon", "at seven o'clock", "von 10 bis 18 Uhr"
_HOURS = re.compile(
    r"\b(?:(?P<first>[^\W_]{1,9}) (?:to|till|until|and|bis|a|und|y) )?(?P<last>[^\W_]{1,9})(?: o['’]clock)?"
    r"(?: in the (?P<time>morning|afternoon|evening)|(?<=clock)| Uhr\b)",
    re.IGNORECASE,
)
# "five past one", "a quarter to three", "half past six"
_PAST_HOUR = re.compile(
    r"\b(?P<minutes>half|a quarter|quarter|five|ten|twenty|twenty-five) (?P<way>past|to) (?P<hour>[^\W\d_]{3,6})\b",
    re.IGNORECASE,
)
_MINUTES = {"half": 30, "a quarter": 15, "quarter": 15, "five": 5, "ten": 10, "twenty": 20, "twenty-five": 25}
_SHORT = 3  # letters of words that are hardly a noun
_UNIT_DISTANCE = 3  # words between a number and its noun: "four small grey goblins"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number with its unit.

    `values` are its readings: 1.500 is two numbers in a text of unknown language. `slack` is half of its last shown
    digit, which rounding may have taken. `noun` is the word that it counts or measures, lower case, or "".
    """

    span: Span
    values: tuple[float, ...]
    slack: float
    dimension: str = ""  # "%", "$", "length", "time", ...; "clock" for hours of the day; "" for a plain count
    unit: str = ""  # as written
    factor: float = 1.0  # of the unit to the dimension's base unit
    noun: str = ""
    is_loose: bool = False  # "about", "over", "at least"


def find_quantities(text: str) -> list[Quantity]:
    """Return the quantities of a text in order. Calendar dates are none, years are plain numbers."""
    folded = unicodedata.normalize("NFKC", text) if len(unicodedata.normalize("NFKC", text)) == len(text) else text
    taken = [item.span for item in find_dates(folded, years=YEARS_OF_HISTORY)]
    found = list(_clocks(folded, taken))
    found += _hours(folded)
    found += _and_a_half(folded)
    found += _parts_of_units(folded)
    found += [item for item in _shares(folded) if not any(_overlap(item.span, other.span) for other in found)]
    taken += [item.span for item in found]
    tokens = [match for match in _TOKEN.finditer(folded) if not any(_inside(match, span) for span in taken)]
    return sorted([*found, *_numbers(tokens)], key=lambda item: item.span)


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _inside(match: re.Match[str], span: Span) -> bool:
    return span.start <= match.start() < span.end


def _clocks(text: str, taken: list[Span]) -> Iterator[Quantity]:
    for match in _CLOCK.finditer(text):
        if any(_inside(match, span) for span in taken):
            continue
        hour = int(match["hour"] or match["hour24"])
        if match["half"]:
            hour = hour % 12 + 12 * (match["half"].lower() == "p")
        minutes = hour * 60 + int(match["minute"] or match["minute24"] or 0)
        yield Quantity(span=Span(*match.span()), values=(float(minutes),), slack=0.0, dimension="clock")


def _hours(text: str) -> Iterator[Quantity]:
    """Hours of the day in words; without "in the morning" or the like, both halves of the day are readings."""
    for match in _PAST_HOUR.finditer(text):
        hour = _small(match["hour"])
        if 0 < hour <= _HOURS_OF_DAY // 2:
            minutes = _MINUTES[match["minutes"].lower()] * (1 if match["way"].lower() == "past" else -1)
            values = tuple(60.0 * one + minutes for one in (hour, hour + 12))
            yield Quantity(span=Span(*match.span()), values=values, slack=0.0, dimension="clock")
    for match in _HOURS.finditer(text):
        for name in ("first", "last"):
            hour = _small(match[name] or "")
            if not 0 < hour <= _HOURS_OF_DAY or (
                match["time"] is None and not match.group().endswith(("Uhr", "clock")) and match["first"] is None
            ):
                continue
            time = (match["time"] or "").lower()
            hours = [hour % 12 + 12 * (time != "morning")] if time else [hour, (hour + 12) % _HOURS_OF_DAY]
            values = tuple(60.0 * one for one in hours)
            yield Quantity(span=Span(*match.span(name)), values=values, slack=0.0, dimension="clock")


_HOURS_OF_DAY = 24


def _parts_of_units(text: str) -> Iterator[Quantity]:
    for match in _PART_OF_UNIT.finditer(text):
        dimension, factor = measure_of(match["unit"])
        part = match["part"].lower()
        parts = _PARTS.get(part) or (2 if part.startswith(_HALVES) else 4)
        count = _small(match["count"] or "one")
        if dimension in ("", "%", "$") or not count:
            continue
        yield Quantity(
            span=Span(*match.span()),
            values=(count / parts,),
            slack=0.0,
            dimension=dimension,
            unit=match["unit"].lower(),
            factor=factor,
        )


def _and_a_half(text: str) -> Iterator[Quantity]:
    for match in _AND_A_HALF.finditer(text):
        written = match["count"] or match["german"] or match["cuenta"]
        count = 1 if written.lower() == "ander" else _small(written)
        unit = (match["unit"] or match["einheit"] or match["unidad"]).lower()
        dimension, factor = _CURRENCIES.get(unit, ""), 1.0
        if not dimension:
            dimension, factor = measure_of(unit)
        if count and (dimension or match["unit"]):
            yield Quantity(
                span=Span(*match.span()),
                values=((count + 0.5) * _SCALES.get((match["scale"] or "").lower(), 1.0),),
                slack=0.0,
                dimension=dimension,
                unit=unit if dimension else "",
                factor=factor,
                noun=unit,
            )


def _shares(text: str) -> Iterator[Quantity]:
    """Fractions in words, as percentages: "half", "two thirds", "one in eight", "ein Viertel"."""
    for match in _FRACTION.finditer(text):
        count = _small(match["count"] or "one")
        parts = _PARTS.get((match["part"] or "").lower()) or _small(match["of"] or "")
        if count and parts and count <= parts and parts > 1:
            share, slack = 100 * count / parts, 100 / parts / 12
            yield Quantity(span=Span(*match.span()), values=(share,), slack=slack, dimension="%", is_loose=True)


def _small(word: str) -> int:
    return (
        int(word)
        if word.isdigit()
        else 1
        if word.lower() in ("one", "a", "an", "ein", "una")
        else _word_values().get(word.lower(), 0)
    )


def _numbers(tokens: list[re.Match[str]]) -> Iterator[Quantity]:
    place = 0
    while place < len(tokens):
        token = tokens[place]
        digits = token["money"] or token["number"]
        read = _read_digits(digits) if digits else _read_words(tokens, place)
        if read is None:
            place += 1
            continue
        values, slack, following = (*read, place + 1) if len(read) == 2 else read
        scale, after = _scale(tokens, following, directly_behind=bool(token["currency"]))
        dimension, unit, factor = _measure(tokens, token, after)
        is_loose = any(t["word"] and t["word"].lower() in _LOOSE for t in tokens[max(0, place - 3) : place])
        last = tokens[max(after - 1, place)]
        yield Quantity(
            span=Span(token.start(), last.end()),
            values=tuple(value * scale for value in values),
            slack=slack * scale,
            dimension=dimension,
            unit=unit,
            factor=factor,
            noun="times" if (token["word"] or "").lower() in _MULTIPLES else _noun(tokens, after),
            is_loose=is_loose,
        )
        place = after


def _read_digits(digits: str) -> tuple[tuple[float, ...], float]:
    """Return the readings of a number in digits, and half of its last digit."""
    plain = re.sub(r"['’\u00a0\u202f ]", "", digits)
    points = [character for character in plain if character in ".,"]
    if not points:
        return (float(plain),), 0.5
    last = points[-1]
    whole, _, rest = plain.rpartition(last)
    decimal = float(f"{re.sub('[.,]', '', whole)}.{rest}")
    grouped = float(re.sub("[.,]", "", plain))
    if len(points) > 1 and len(set(points)) == 1:
        return (grouped,), 0.5
    slack = 0.5 * 10 ** -len(rest)
    if len(rest) == 3 and len(points) == 1 and whole != "0":
        # "1,500" is a thousand in English; "1.500" is that in German and Spanish
        return ((grouped, decimal) if last == "," else (decimal, grouped)), 0.5
    return (decimal,), slack


def _read_words(tokens: list[re.Match[str]], place: int) -> tuple[tuple[float, ...], float, int] | None:
    """Return the value of number words from `place` on, and the place behind them."""
    total = 0.0
    current, start = None, place
    if (
        place
        and (tokens[place]["word"] or "").lower() == "ciento"
        and (tokens[place - 1]["word"] or "").lower() == "por"
    ):
        return None
    while place < len(tokens) and (word := (tokens[place]["word"] or "").lower()):
        value = _word_values().get(word)
        if value is not None and (current is None or (value < 10 and current % 100 >= 20) or current >= 100):
            current = (current or 0) + value
        elif word in _HUNDREDS and word not in ("cien",) and current is not None and current < 20:
            current *= _HUNDREDS[word]
        elif word in _HUNDREDS and current is None:
            if start == place and word == "hundert":
                return (100.0,), 0.5, place + 1
            if start == place and word == "hundred":
                return None
            current = _HUNDREDS[word]
        elif word in ("and", "und", "y") and current is not None and _continues(tokens, place + 1):
            pass
        else:
            break
        place += 1
    if current is None:
        return None
    return (total + current,), 0.5, place


def _continues(tokens: list[re.Match[str]], place: int) -> bool:
    """Whether a number word follows "and" inside one number: "two hundred and five", "treinta y dos"."""
    before = (tokens[place - 2]["word"] or "").lower() if place >= 2 else ""
    word = (tokens[place]["word"] or "").lower() if place < len(tokens) else ""
    return word in _word_values() and (before in _HUNDREDS or before in _SPANISH_TENS)


@cache
def _word_values() -> Mapping[str, int]:
    values: dict[str, int] = {}
    for words in (_UNITS, _GERMAN, _SPANISH):
        values.update({word: number for number, word in enumerate(words)})
    for tens in (_TENS, _GERMAN_TENS, _SPANISH_TENS):
        values.update({word: 20 + 10 * number for number, word in enumerate(tens)})
    for number, ten in enumerate(_GERMAN_TENS):
        values.update({f"{unit}und{ten}": 20 + 10 * number + n for n, unit in enumerate(_GERMAN[:10]) if n})
    values.update({f"veinti{unit}": 20 + n for n, unit in enumerate(_SPANISH[:10]) if n})
    values.update({"dozen": 12, "dutzend": 12, "docena": 12, "zwo": 2})
    values.update(_MULTIPLES)
    # Articles and pronouns in their languages, far more often than numbers.
    for word in ("one", "ein", "uno", "null", "once", "seis", "sechs"):
        values.pop(word, None)
    return {**values, "seis": 6, "sechs": 6}


def _scale(tokens: list[re.Match[str]], place: int, *, directly_behind: bool) -> tuple[float, int]:
    """Return the factor of a scale word at `place`, and the place behind it."""
    word = (tokens[place]["word"] or "").lower() if place < len(tokens) else ""
    if word not in _SCALES or (word in _LETTER_SCALES and not directly_behind):
        return 1.0, place
    return _SCALES[word], place + 1


def _measure(tokens: list[re.Match[str]], number: re.Match[str], place: int) -> tuple[str, str, float]:
    """Return dimension, unit and factor of a number; its unit may be at `place`."""
    if number["currency"]:
        return _CURRENCIES[number["currency"].lower()], number["currency"], 1.0
    following = [(t["word"] or t["sign"] or "").lower() for t in tokens[place : place + 2]]
    if (following[:1] == ["per"] and following[1:] == ["cent"]) or following == ["por", "ciento"]:
        return "%", "percent", 1.0
    unit = following[0] if following else ""
    if unit in _CURRENCIES:
        return _CURRENCIES[unit], unit, 1.0
    if following and tokens[place].start() > tokens[place - 1].end() + 1:
        return "", "", 1.0  # "2021 (kg)", "in Section 4. Days"
    if unit == "m" and tokens[place].start() > tokens[place - 1].end():  # "21m" may be millions
        unit = "metre"
    is_area = unit in _SQUARES
    if is_area:
        unit = following[1] if len(following) > 1 else ""
    dimension, factor = measure_of(unit)
    if dimension == "length" and (is_area or _is_square(tokens, place)):
        return "area", f"square {unit}", factor**2
    return dimension, unit if dimension else "", factor


_SQUARES = ("square", "sq")


def _is_square(tokens: list[re.Match[str]], place: int) -> bool:
    """Whether "²" or "cuadrados" follows the unit at `place`."""
    unit = tokens[place]
    return unit.string[unit.end() :].startswith(("2", "²", " cuadrad"))


def measure_of(unit: str) -> tuple[str, float]:
    """Return the dimension of a unit and its factor to the base unit; ("", 1.0) for another word."""
    return _MEASURES.get(unit.lower(), ("", 1.0))


def _noun(tokens: list[re.Match[str]], place: int) -> str:
    for one, other in pairwise(tokens[max(0, place - 1) : place + _UNIT_DISTANCE]):
        if re.search(r"[.;:!?|)]", other.string[one.end() : other.start()]):
            return ""
        word = (other["word"] or "").lower()
        if len(word) > _SHORT:
            return word
    return ""
