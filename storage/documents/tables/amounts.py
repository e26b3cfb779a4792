"""Numbers as people write them in accounts, to values: signs, parentheses, separators, currencies, scales. Pure."""

import re
from dataclasses import dataclass

# Characters of a text that may be one amount.
MAX_LENGTH = 60

_CURRENCIES = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "C$": "CAD", "A$": "AUD", "₹": "INR"}
_CODES = frozenset("USD EUR GBP JPY CHF CAD AUD CNY INR SEK NOK DKK PLN CZK HKD SGD NZD BRL MXN ZAR KRW".split())
_SCALES = {
    "k": 1e3, "thousand": 1e3, "thousands": 1e3, "m": 1e6, "mn": 1e6, "mm": 1e6, "mio": 1e6, "million": 1e6,
    "millions": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9, "billions": 1e9, "t": 1e12, "trillion": 1e12,
    "trillions": 1e12, "000": 1e3, "000s": 1e3,
}  # fmt: skip
_AMOUNT = re.compile(
    r"(?P<sign>[-+−–]?)\s?(?P<open>\(?)\s?(?P<inner>[-+−–]?)\s?(?P<before>(?:US|C|A)?[$€£¥₹]|[A-Z]{3}(?=[\s\d]))?\s?"
    r"(?P<wrapped>\(?)(?P<late>[-−–]?)(?P<number>\d[\d.,'\u00a0\u202f ]*|\.\d+)\s?(?P<percent>%?)\s?(?P<close>\)?)\s?"
    r"(?P<scale>(?:[kKmMbBtT]|[Mm]n|MM|[Bb]n|[Mm]io|(?i:thousand|million|billion|trillion))\b\.?)?\s?"
    r"(?P<after>[$€£¥₹%]|[A-Z]{3}\b)?\s?(?P<last>\)?)(?:(?<=\d)[x×])?[*†‡]{0,3}"
)
_GROUPED = re.compile(r"\d{1,3}(?:[,.'\u00a0\u202f ]\d{3})+")
_IN_SCALE = re.compile(
    r"\bin\s+(?:(?P<currency>[A-Z]{3}|[$€£¥]|US\$|U\.S\.)\s*)?(?:(?P<scale>thousands?|millions?|billions?|trillions?)\b|(?:[$€£]\s?)?(?P<zeros>000s?\b))"
    r"(?:\s+of\s+(?P<of>U\.S\. dollars|US dollars|dollars|euros?|pounds|[A-Z]{3}\b))?"
    r"|[(,]\s*(?P<sign>[$€£]|USD|EUR|GBP|US\$)?\s?(?P<short>000s?|thousands?|millions?|billions?|[mM]n|bn)\s*\)",
    re.IGNORECASE,
)
_WRITTEN_OUT = {"dollar": "USD", "euro": "EUR", "pound": "GBP"}


@dataclass(frozen=True, slots=True)
class Amount:
    """`unit` is a currency's code, "%" or None where none is written; `is_scaled`: "million" stands with it."""

    value: float
    unit: str | None = None
    is_scaled: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """What a table says of all its figures: "in millions of dollars"."""

    factor: float = 1.0
    unit: str | None = None


def read_amount(text: str) -> Amount | None:
    """The amount that the text is; None where it is no single number."""
    text = text.strip()
    match = _AMOUNT.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    opened = [match[name] for name in ("open", "wrapped") if match[name]]
    if len(opened) != len([match[name] for name in ("close", "last") if match[name]]):
        return None
    value = _value(match["number"].strip())
    units = [unit for unit in (match["before"], match["after"], match["percent"]) if unit]
    named = [_unit(unit) for unit in units]
    if value is None or None in named or len(set(named)) > 1:
        return None
    factor = _SCALES[match["scale"].rstrip(".").lower()] if match["scale"] else 1.0
    is_negative = bool(opened) or any(match[name] in ("-", "−", "–") for name in ("sign", "inner", "late"))
    return Amount((-value if is_negative else value) * factor, named[0] if named else None, bool(match["scale"]))


def read_scale(text: str) -> Scale:
    """What a title or a header says about the figures under it."""
    match = _IN_SCALE.search(text)
    if match is None:
        return Scale(1.0, find_unit(text))
    word = (match["scale"] or match["zeros"] or match["short"]).lower()
    unit = match["currency"] or match["of"] or match["sign"] or ""
    return Scale(_SCALES.get(word, 1.0), _unit(unit) or find_unit(text))


def find_unit(text: str) -> str | None:
    """The currency or the percent that a label names; None where it names none."""
    for word in re.findall(r"US\$|[$€£¥₹%]|\b[A-Z]{3}\b|\b(?i:percent|dollars?|euros?)\b", text[:500]):
        unit = _unit(word)
        if unit is not None:
            return unit
    return None


def _unit(written: str) -> str | None:
    lowered = written.lower()
    if lowered in ("%", "percent"):
        return "%"
    code = next((code for word, code in _WRITTEN_OUT.items() if word in lowered), None)
    return code or _CURRENCIES.get(written) or (written.upper() if written.upper() in _CODES else None)


def _value(number: str) -> float | None:
    """A written number: the last of two kinds of marks is the decimal one, one kind that groups threes groups."""
    compact = re.sub(r"['\u00a0\u202f ]", "", number) if _is_spaced(number) else number
    if " " in compact:
        return None
    if "," in compact and "." in compact:
        decimal = max(compact.rfind(","), compact.rfind("."))
        whole, rest = compact[:decimal], compact[decimal + 1 :]
        compact = re.sub(r"[.,]", "", whole) + "." + rest
    elif compact.count(",") and (compact.count(",") > 1 or _GROUPED.fullmatch(compact)):
        compact = compact.replace(",", "")
    elif compact.count(".") > 1:
        compact = compact.replace(".", "")
    else:
        compact = compact.replace(",", ".")
    try:
        return float(compact)
    except ValueError:
        return None


def _is_spaced(number: str) -> bool:
    whole = re.split(r"[.,]\d{1,2}$", number)[0]
    return not re.search(r"['\u00a0\u202f ]", number) or bool(_GROUPED.fullmatch(whole))
