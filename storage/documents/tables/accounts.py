"""Tables of accounts: amounts and scales, periods, and the figures of a table or of a statement's lines. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from core.domain.corpus import Span
from core.text.dates import find_date
from core.text.words import collapse

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


# Characters of a document in which it says what it is.
FRONT = 6_000

_WORDS = re.compile(
    r"\b(?:revenues?|income|sales|turnover|expens\w+|expenditures?|costs?|profits?|loss(?:es)?|earnings|ebitd?a|eps|assets"
    r"|liabilit\w+|equity|cash|dividends?|prices?|p/e|market cap\w*|budget\w*|tax(?:es)?|salar\w+|wages|payroll|fees?"
    r"|margins?(?! of error)"
    r"|debt|interest|deprecia\w+|amorti[sz]ation|capital|shares?|yields?|funding|donations?|grants?|balance"
    r"|receivables?|payables?|rent|insurance|benefits|travel|supplies|inventor\w+|contribut\w+|umsatz|gewinn|kosten|aufwand|ertrag|preis)\b",
    re.IGNORECASE,
)
_YEAR = r"(?:FY\s?|CY\s?|fiscal (?:year )?)?(?:19|20)\d\d(?:[-–/]\d{2,4})?E?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_PERIOD = re.compile(
    rf"(?:Q[1-4]|H[12]|[1-4]Q)[ '’/-]?(?:FY\s?)?(?:(?:19|20)?\d\d)\b|FY\s?'?\d\d\b"
    r"|(?:(?:three|six|nine|twelve) months|(?:fiscal |half )?year|quarter)\s+(?:ended|ending)\s+"
    r"[A-Z][a-z]+ \d{1,2}(?:, \d{4})?"
    r"|\b(?:19|20)\d\d-\d\d-\d\d\b"
    rf"|\b{_MONTH}(?: \d{{1,2}},?)?(?: ?[-–] ?{_MONTH})? (?:19|20)\d\d\b"
    rf"|\b{_YEAR}\b",
    re.IGNORECASE,
)
_TICKER = re.compile(
    r"\b(?:NASDAQ(?:GS|GM|CM)?|NYSE(?: American| Arca)?|AMEX|LSE|TSX|ASX|XETRA|OTC\w*)"
    r"\s?:\s?\*{0,2}([A-Z][A-Z.]{0,5})\b"
    r"|\b(?i:ticker(?: symbol)?|stock symbol|trading symbol)\W{1,6}([A-Z][A-Z.]{0,5})\b"
)
_REPORT_DATE = re.compile(
    r"\b(?:report(?:ing)? date|date of report|as (?:of|at)|date"
    r"|(?:fiscal |half[- ])?(?:year|quarter|period|months)[- ](?:ended|ending))\b\W{0,6}(.{6,30})",
    re.IGNORECASE,
)
_TYPES = re.compile(
    r"\b(10-[KQ]|8-K|20-F|6-K)\b"
    r"|\b(annual report|quarterly report|interim report|half[- ]year(?:ly)? report"
    r"|earnings release|(?:consolidated )?(?:balance sheets?|income statements?)|(?:consolidated )?statements? of "
    r"(?:profit (?:and|&) loss|operations|income|cash flows?|financial position|activities|comprehensive income)"
    r"|cash flow statements?|financial statements?|profit (?:and|&) loss)\b",
    re.IGNORECASE,
)
NAMED = {
    "revenue": re.compile(r"(?:total |net )?(?:revenues?|sales|turnover)(?:, net)?", re.IGNORECASE),
    "net_income": re.compile(
        r"net (?:income|profit|earnings|loss|income \(loss\))|.{0,40}net income \(loss\)", re.IGNORECASE
    ),
    "eps": re.compile(
        r"(?:(?:basic|diluted) )?(?:eps|earnings(?: per |/)share)(?: \((?:basic|diluted)\))?", re.IGNORECASE
    ),
    "dividend_yield": re.compile(r"dividend yield", re.IGNORECASE),
    "pe_ratio": re.compile(r"p/e(?: ratio)?|price[/-](?:to-)?earnings(?: ratio)?", re.IGNORECASE),
    "market_cap": re.compile(r"market cap(?:itali[sz]ation)?", re.IGNORECASE),
}


def is_of_accounts(text: str) -> bool:
    """Whether a label names something that accounts hold."""
    return bool(_WORDS.search(text[:300]))


def find_period(text: str) -> str | None:
    """The period that a header or title names, as written."""
    match = _PERIOD.search(text[:300])
    return match.group().strip() if match else None


def is_period(text: str) -> bool:
    """Whether a cell is a period and nothing else."""
    return len(text) <= 60 and bool(_PERIOD.fullmatch(text.strip()))


def find_ticker(texts: Iterable[str]) -> str | None:
    """The one share a document is about; None where it names none, or several."""
    found = {one or other for text in texts for one, other in _TICKER.findall(text[:FRONT])}
    return found.pop() if len(found) == 1 else None


def find_report_date(text: str) -> str | None:
    """YYYY-MM-DD of the report, or of the end of the period it is about."""
    for match in _REPORT_DATE.finditer(collapse(text[:FRONT])):
        date = find_date(match.group(1))
        if date is not None:
            return date.iso()
    return None


def find_report_type(text: str) -> str | None:
    """What kind of report a document says it is, as written."""
    match = _TYPES.search(collapse(text[:FRONT]))
    return match.group() if match else None


# Rows of a table whose labels are looked at to tell whether it is one of accounts, and the share that has to be.
_SAMPLE = 200
_SHARE = 0.25
# Rows with figures that make a table of accounts.
_MIN_FIGURES = 2
MAX_METRIC = 300

_RATIO = re.compile(
    r"per share|/share|\beps\b|ratio|p/e|percent|%|\brate\b|yield|margin|employees|headcount|shares outstanding", re.I
)
_LINE = re.compile(
    r"[ \t>]*(?:[-*+•][ \t]+)?(?P<label>[^\W\d_][^\n:|\t]{1,80}?)(?::|\t|[ ]{2,})[ \t]*(?P<value>\S[^\n|\t]{0,40})"
)
# What stands in a column of figures where there is none.
_NOTHING = frozenset(["", "-", "–", "—", "--", "n/a", "N/A", "NA"])
_MARKS = re.compile(r"[*_`]{1,3}")
# Columns of a list of goods: how many there are is no money, and what one costs is no account unless it has a date.
_QUANTITY = re.compile(
    r"qty\.?|quantit(?:y|ies)|counts?|units?(?: sold)?|pieces|pcs\.?|(?:in )?stock|on hand|(?:number|no\.) of .{1,60}"
    r"|menge|anzahl|stück(?:zahl)?",
    re.I,
)
_UNIT_PRICE = re.compile(
    r"(?:(?:unit|list|net|item) )?(?:prices?|costs?|fees?)(?: (?:each|per .{1,40}))?|(?:stück)?preis", re.I
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A table, wherever it was found; `spans` has a place for each row."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    spans: Sequence[Span]
    above: str = ""  # the lines before it: where it is said that figures are in millions
    is_continued: bool = False  # goes on from the page before


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A figure: `value` is in whole units ("in millions" is multiplied out), `text` the cell as written."""

    metric: str
    period: str | None
    value: float
    unit: str | None
    text: str
    span: Span


def is_table_of_accounts(table: Rows) -> bool:
    """Whether it holds figures of money, or of what is measured by it."""
    cells = [cell for row in table.rows[:_SAMPLE] for cell in row]
    amounts = [amount for amount in map(read_amount, cells) if amount is not None]
    if len(amounts) < _MIN_FIGURES:
        return False
    if any(amount.unit not in (None, "%") for amount in amounts):
        return True
    if _has_named_column(table) or read_scale(table.title).unit is not None:
        return True
    labels = [row[0] for row in table.rows[:_SAMPLE] if row and row[0]]
    return sum(map(is_of_accounts, labels)) > max(len(labels) * _SHARE, 1)


def read_figures(table: Rows) -> Iterator[Measured]:
    """The figures of a table, row by row. A column or a first cell that is a period is no figure but its period."""
    table = _headed(table)
    head = " ".join((table.title, *table.columns))
    scale = next((read for read in (read_scale(head), read_scale(table.above)) if read.factor != 1.0), read_scale(head))
    scales = [read_scale(column) for column in table.columns]
    data = [place for place in range(1, len(table.columns)) if _holds_money(table, place)]
    for row, span in zip(table.rows, table.spans, strict=True):
        label = _plain(row[0])
        amounts = [(place, read_amount(_plain(row[place]))) for place in data]
        for place, amount in amounts:
            if amount is not None and label:
                yield _measured(table, place, label, amount, row[place], span, _of(scales[place], scale, label))


def read_lines(text: str) -> Iterator[Measured]:
    """Lines of a label and one amount, where both say that it is money: "Net income: $1.2 million"."""
    start = 0
    for line in text.split("\n"):
        match = _LINE.match(line) if len(line) <= 200 else None
        if match:
            label, written = _plain(match["label"]), _plain(match["value"])
            amount = read_amount(written)
            if amount is not None and is_of_accounts(label):
                end = start + len(line.rstrip())
                yield Measured(
                    metric=label, period=find_period(label), value=amount.value, unit=amount.unit, text=written,
                    span=Span(start + match.start("label"), end),
                )  # fmt: skip
        start += len(line) + 1


def _headed(table: Rows) -> Rows:
    """With a name for each column: its own, or the nearest at its left, where signs stand in columns of their own.

    A header of one cell, where there are more columns, is a title: the names stand below it.
    """
    title, columns, rows, spans = table.title, table.columns, table.rows, table.spans
    if len(columns) > 2 and sum(map(bool, columns)) <= 1 and len(rows) > 1 and not read_amount(_plain(rows[0][-1])):
        title = "".join(columns) or title
        columns, rows, spans = tuple(rows[0]), rows[1:], spans[1:]
    names = list(columns[:2])
    for name in columns[2:]:
        names.append(name or names[-1])
    return replace(table, title=title, columns=tuple(names), rows=rows, spans=spans)


def _measured(table: Rows, place: int, label: str, amount: Amount, text: str, span: Span, scale: Scale) -> Measured:
    column = _plain(table.columns[place])
    period: str | None
    if is_period(label):
        metric, period = column or table.title or label, label
    elif find_period(column):
        period = find_period(column)
        rest = column.replace(period or "", "").strip(" ,:–-()")
        metric = (
            f"{label}, {rest}" if rest and len(table.columns) > 2 and not rest.lower().startswith("actual") else label
        )
    else:
        metric, period = (
            (f"{label}, {column}" if column and len(table.columns) > 2 else label),
            find_period(table.title),
        )
    is_whole = amount.is_scaled or amount.unit == "%" or bool(_RATIO.search(metric))
    return Measured(
        metric=metric[:MAX_METRIC],
        period=period,
        value=amount.value * (1.0 if is_whole else scale.factor),
        unit=amount.unit or find_unit(metric) or (None if _RATIO.search(metric) else scale.unit),
        text=text,
        span=span,
    )


def _of(column: Scale, table: Scale, label: str) -> Scale:
    """The nearest word on it: the row's, the column's, the table's."""
    own = read_scale(label)
    factor = next((scale.factor for scale in (own, column, table) if scale.factor != 1.0), 1.0)
    return Scale(factor, own.unit or column.unit or table.unit)


def _has_named_column(table: Rows) -> bool:
    """Whether a column is called as accounts call theirs; a price alone needs dates beside it."""
    names = [_plain(column) for column in table.columns]
    named = [name for name in names if is_of_accounts(name) and not _is_quantity(name)]
    if all(map(_UNIT_PRICE.fullmatch, named)):
        return bool(named) and any(_holds_periods(table, place) for place in range(len(names)))
    return True


def _is_quantity(name: str) -> bool:
    return bool(_QUANTITY.fullmatch(name)) and not re.search(r"\bshares?\b", name, re.I)


def _holds_money(table: Rows, place: int) -> bool:
    return _holds_amounts(table, place) and not _is_quantity(_plain(table.columns[place]))


def _holds_periods(table: Rows, place: int) -> bool:
    cells = [_plain(row[place]) for row in table.rows[:_SAMPLE] if row[place] not in _NOTHING]
    return sum(map(is_period, cells)) * 2 > len(cells)


def _holds_amounts(table: Rows, place: int) -> bool:
    """Whether a column has amounts, and they are no years or dates."""
    cells = [_plain(row[place]) for row in table.rows[:_SAMPLE] if row[place] not in _NOTHING]
    amounts = sum(read_amount(cell) is not None for cell in cells)
    return amounts * 2 > len(cells) and sum(map(is_period, cells)) * 2 <= len(cells)


def _plain(text: str) -> str:
    return _MARKS.sub("", text).strip()
