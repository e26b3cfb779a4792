"""Tables of accounts: amounts and scales, periods, and the figures of a table or of a statement's lines. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from core.domain.passages import Span
from core.text.dates import find_date
from core.text.words import collapse, placed_lines
from storage.documents.tables.text import PlacedTable

# Characters of a text that may be one amount.
MAX_LENGTH = 60

_CURRENCIES = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "C$": "CAD", "A$": "AUD", "₹": "INR"}
_CODES = frozenset("USD EUR GBP JPY CHF CAD AUD CNY INR SEK NOK DKK PLN CZK HKD SGD NZD BRL MXN ZAR KRW".split())
_SCALES = {
    "k": 1e3, "thousand": 1e3, "thousands": 1e3, "m": 1e6, "mn": 1e6, "mm": 1e6, "mio": 1e6, "million": 1e6,
    "millions": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9, "billions": 1e9, "t": 1e12, "trillion": 1e12,
    "trillions": 1e12, "000": 1e3, "000s": 1e3,
}  # fmt: skip
_SHORT_SCALES = frozenset("k K m M b B t T mn Mn MM bn Bn mio Mio".split())
_LONG_SCALES = frozenset("thousand million billion trillion".split())
_NOTE_MARKS = re.compile(r"(?:(?<=\d)[x×])?[*†‡]{0,3}$")
_AMOUNT_PART = re.compile(
    r"\s*(?:(?P<number>\d[\d.,'\u00a0\u202f ]*|\.\d+)|(?P<currency>(?:US|C|A)?[$€£¥₹])|(?P<word>[A-Za-z]+\.?)"
    r"|(?P<sign>[-+−–()%]))"
)
_GROUPED = re.compile(r"\d{1,3}(?:[,.'\u00a0\u202f ]\d{3})+")
_IN_SCALE = re.compile(
    r"\bin\s+(?:(?P<currency>[A-Z]{3}|[$€£¥]|US\$|U\.S\.)\s*)?"
    r"(?:(?P<scale>thousands?|millions?|billions?|trillions?)\b|(?:[$€£]\s?)?(?P<zeros>000s?\b))"
    r"(?:\s+of\s+(?P<of>U\.S\. dollars|US dollars|dollars|euros?|pounds|[A-Z]{3}\b))?",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(
    r"[(,]\s*(?P<currency>[$€£]|USD|EUR|GBP|US\$)?\s?(?P<scale>000s?|thousands?|millions?|billions?|[mM]n|bn)\s*\)",
    re.IGNORECASE,
)
_WRITTEN_OUT = {"dollar": "USD", "euro": "EUR", "pound": "GBP"}


@dataclass(frozen=True, slots=True)
class Amount:
    """`unit` is a currency's code, "%" or None; `is_scaled`: written with a word like "million"."""

    value: float
    unit: str | None = None
    is_scaled: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of all figures of a table: "in millions of dollars"."""

    factor: float = 1.0
    unit: str | None = None


def read_amount(text: str) -> Amount | None:
    """Return the amount of a text, None unless it is one number with its signs, currency and scale."""
    text = text.strip()
    parts = _split_amount(_NOTE_MARKS.sub("", text)) if len(text) <= MAX_LENGTH else []
    numbers = [place for place, (kind, _) in enumerate(parts) if kind == "number"]
    if len(numbers) != 1:
        return None
    before, behind = parts[: numbers[0]], parts[numbers[0] + 1 :]
    value = _value(parts[numbers[0]][1].strip())
    scales = [written for kind, written in behind if kind == "word" and _is_scale(written)]
    named = [
        _unit(written) for kind, written in (*before, *behind) if kind in ("currency", "word") and written not in scales
    ]
    named += ["%" for _, written in behind if written == "%"]
    signs, ends = (
        [written for kind, written in before if kind == "sign"],
        [each for kind, each in behind if kind == "sign"],
    )
    if value is None or None in named or len(set(named)) > 1 or len(named) > 2 or len(scales) > 1:
        return None
    if signs.count("(") != ends.count(")") or {*signs} & {")", "%"} or {*ends} - {")", "%"}:
        return None
    factor = _SCALES[scales[0].rstrip(".").lower()] if scales else 1.0
    is_negative = any(sign in "(-−–" for sign in signs)
    return Amount((-value if is_negative else value) * factor, named[0] if named else None, bool(scales))


def _split_amount(text: str) -> list[tuple[str, str]]:
    """Return (kind, text) of each part: number, currency, word or sign; [] for a text with other parts."""
    parts, place = [], 0
    while place < len(text):
        match = _AMOUNT_PART.match(text, place)
        if match is None or match.lastgroup is None:
            return []
        parts.append((match.lastgroup, match[match.lastgroup]))
        place = match.end()
    return parts


def _is_scale(word: str) -> bool:
    bare = word.rstrip(".")
    return bare in _SHORT_SCALES or bare.lower() in _LONG_SCALES


def read_scale(text: str) -> Scale:
    """Return the scale and unit in a title or header, for the figures below it."""
    match = _IN_SCALE.search(text) or _IN_BRACKETS.search(text)
    if match is None:
        return Scale(1.0, find_unit(text))
    groups = match.groupdict()
    word = (groups["scale"] or groups["zeros"]).lower()
    unit = groups["currency"] or groups.get("of") or ""
    return Scale(_SCALES.get(word, 1.0), _unit(unit) or find_unit(text))


def find_unit(text: str) -> str | None:
    """Return the currency or "%" in a label, None without one."""
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
    """Return the value: of two kinds of marks the last is the decimal one; one kind between groups of three groups."""
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


# Characters at the front of a document that may name its kind of report.
FRONT = 6_000

_ACCOUNTS = frozenset(
    """revenue revenues income sales turnover expenditure expenditures cost costs profit profits loss losses earnings
    ebitda ebita eps assets equity cash dividend dividends price prices p/e tax taxes wages payroll fee fees margin
    margins debt interest capital share shares yield yields funding donation donations grant grants balance receivable
    receivables payable payables rent insurance benefits travel supplies umsatz gewinn kosten aufwand ertrag
    preis""".split()
)
_STEMS = (
    "expens", "liabilit", "budget", "salar", "deprecia", "amortis", "amortiz", "inventor", "contribut",
)  # fmt: skip
_NO_ACCOUNT = re.compile(r"margins? of error")
_LABEL_WORD = re.compile(r"p/e\b|[^\W_]+")
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
_SYMBOL = r"(?=[A-Z0-9.]*[A-Z])[A-Z0-9]{1,6}(?:\.[A-Z]{1,2})?"
_TICKER = re.compile(
    r"\b(?:(?i:NASDAQ)(?:GS|GM|CM)?|NYSE(?: American| Arca)?|AMEX|LSE|LON|TSX(?:-?V)?|ASX|NZX|JSE|NSE|XETRA|ETR"
    r"|Euronext|OTC\w*)(?: (?i:code))?"
    rf"\s?:\s?\*{{0,2}}({_SYMBOL})(?![\w.]*[a-z])"
    rf"|\bASX (?i:code)\s({_SYMBOL})(?![\w.]*[a-z])"
    rf"|\b(?i:ticker(?: symbol)?|stock symbol|trading symbol)\W{{1,6}}({_SYMBOL})(?![\w.]*[a-z])"
)
_REPORT_DATE = re.compile(
    r"\b(?:report(?:ing)? date|date of report|as (?:of|at)|date"
    r"|(?:fiscal |half[- ])?(?:year|quarter|period|months)[- ](?:ended|ending))\b\W{0,6}(.{6,30})",
    re.IGNORECASE,
)
_REPORTS = (
    "annual report", "quarterly report", "interim report", "half-year report", "half year report", "half-yearly report",
    "half yearly report", "earnings release", "balance sheet", "income statement", "cash flow statement",
    "financial statement", "profit and loss", "profit & loss",
)  # fmt: skip
_STATEMENTS = (
    "profit and loss", "profit & loss", "operations", "income", "cash flows", "cash flow", "financial position",
    "activities", "comprehensive income",
)  # fmt: skip
_TYPES = re.compile(
    rf"\b(?:10-[KQ]|8-K|20-F|6-K|(?:consolidated )?(?:(?:{'|'.join(_REPORTS)})s?"
    rf"|statements? of (?:{'|'.join(_STATEMENTS)})))\b",
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
    """Return whether a label names an item of accounts."""
    lower = _NO_ACCOUNT.sub("", text[:300].lower())
    words = _LABEL_WORD.findall(lower)
    return "market cap" in lower or any(word in _ACCOUNTS or word.startswith(_STEMS) for word in words)


def find_period(text: str) -> str | None:
    """Return the period in a header or title, as written."""
    match = _PERIOD.search(text[:300])
    return match.group().strip() if match else None


def is_period(text: str) -> bool:
    """Return whether a cell is only a period."""
    return len(text) <= 60 and bool(_PERIOD.fullmatch(text.strip()))


def find_ticker(texts: Iterable[str]) -> str | None:
    """Return the document's only ticker; None for none or several."""
    found = {"".join(groups) for text in texts for groups in _TICKER.findall(text[:FRONT])}
    return found.pop() if len(found) == 1 else None


def find_report_date(text: str) -> str | None:
    """Return YYYY-MM-DD of the report, or of the end of its period."""
    for match in _REPORT_DATE.finditer(collapse(text[:FRONT])):
        date = find_date(match.group(1))
        if date is not None:
            return date.iso()
    return None


def find_report_type(text: str) -> str | None:
    """Return the document's own name for its kind of report, as written."""
    match = _TYPES.search(collapse(text[:FRONT]))
    return match.group() if match else None


# PlacedTable of a table whose labels are looked at to tell whether it is one of accounts, and the share that has to be.
_SAMPLE = 200
_SHARE = 0.25
# PlacedTable with figures that make a table of accounts.
_MIN_FIGURES = 2
MAX_METRIC = 300

_RATIO = re.compile(
    r"per share|/share|\beps\b|ratio|p/e|percent|%|\brate\b|yield|margin|employees|headcount|shares outstanding", re.I
)
_LINE = re.compile(
    r"[ \t>]*(?:[-*+•][ \t]+)?(?P<label>[^\W\d_][^\n:|\t]{1,80}?)(?::|\t|[ ]{2,})[ \t]*(?P<value>\S[^\n|\t]{0,120})"
)
_OTHER_PERIODS = re.compile(r"(?P<now>[^()]{1,40}?)\s?\((?P<others>[^()]{4,100})\)")
_OF_PERIOD = re.compile(r"(?:in )?(?P<period>[^:]{2,20}?)(?::\s?| (?=[$€£¥\d-]))(?P<amount>[^:]{1,40})")
_PART_OF_A_YEAR = re.compile(r"\b(?:Q[1-4]|H[12])\b")  # without its year
# Cells without a figure in a column of figures.
_NOTHING = frozenset(["", "-", "–", "—", "--", "n/a", "N/A", "NA"])
_MARKS = re.compile(r"[*_`]{1,3}")
# Columns of a list of goods: quantities are not money, and unit prices are no accounts without dates.
_QUANTITY = re.compile(
    r"qty\.?|quantit(?:y|ies)|counts?|units?(?: sold)?|pieces|pcs\.?|(?:in )?stock|on hand|(?:number|no\.) of .{1,60}"
    r"|menge|anzahl|stück(?:zahl)?",
    re.I,
)
_UNIT_PRICE = re.compile(
    r"(?:(?:unit|list|net|item) )?(?:prices?|costs?|fees?)(?: (?:each|per .{1,40}))?|(?:stück)?preis", re.I
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredFigure:
    """A figure: `value` is in whole units ("in millions" is multiplied out), `text` the cell as written."""

    metric: str
    period: str | None
    value: float
    unit: str | None
    text: str
    span: Span


def is_table_of_accounts(table: PlacedTable) -> bool:
    """Return whether a table holds figures of money, or measured by it."""
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


def read_figures(table: PlacedTable) -> Iterator[MeasuredFigure]:
    """Yield the figures of a table, row by row. A column or a first cell that is a period only dates its figures."""
    table = _headed(table)
    head = " ".join((table.title, *table.columns))
    scale = next((read for read in (read_scale(head), read_scale(table.above)) if read.factor != 1.0), read_scale(head))
    scales = [read_scale(column) for column in table.columns]
    data = [place for place in range(1, len(table.columns)) if _holds_money(table, place)]
    for row, span in zip(table.rows, table.row_spans, strict=True):
        label = _plain(row[0])
        amounts = [(place, read_amount(_plain(row[place]))) for place in data]
        for place, amount in amounts:
            if amount is not None and label:
                yield _measured(table, place, label, amount, row[place], span, _of(scales[place], scale, label))


def read_lines(text: str) -> Iterator[MeasuredFigure]:
    """Yield the figures of lines with a label of accounts and amounts.

    "Net income: $1.2 million" has one, "Gross margin: 41 % (2024: 39 %; 2023: 38 %)" one for each period.
    """
    for start, line in placed_lines(text):
        match = _LINE.match(line) if len(line) <= 200 else None
        if match is None or not is_of_accounts(label := _plain(match["label"])):
            continue
        span = Span(start + match.start("label"), start + len(line.rstrip()))
        named = find_period(label) or next(iter(_PART_OF_A_YEAR.findall(label)), None)
        for period, written in _dated(_plain(match["value"])):
            amount = read_amount(written)
            if amount is not None:
                yield MeasuredFigure(
                    metric=label, period=period or named, value=amount.value, unit=amount.unit, text=written, span=span
                )


def _dated(value: str) -> list[tuple[str | None, str]]:
    """Return the amounts of a value as written, each with its own period: those of other periods are in brackets."""
    match = _OTHER_PERIODS.fullmatch(value)
    others = [_OF_PERIOD.fullmatch(part.strip()) for part in re.split(r"[;,] ", match["others"])] if match else []
    if match is None or not all(other is not None and is_period(other["period"]) for other in others):
        return [(None, value)]
    return [(None, match["now"]), *((other["period"], other["amount"]) for other in others if other is not None)]


def _headed(table: PlacedTable) -> PlacedTable:
    """Return the table with a name for each column: its own, or the nearest at its left for columns of signs.

    A header of one cell over more columns is a title; the names are below it.
    """
    title, columns, rows, spans = table.title, table.columns, table.rows, table.row_spans
    if len(columns) > 2 and sum(map(bool, columns)) <= 1 and len(rows) > 1 and not read_amount(_plain(rows[0][-1])):
        title = "".join(columns) or title
        columns, rows, spans = rows[0], rows[1:], spans[1:]
    names = list(columns[:2])
    for name in columns[2:]:
        names.append(name or names[-1])
    return replace(table, title=title, columns=tuple(names), rows=rows, row_spans=spans)


def _measured(
    table: PlacedTable, place: int, label: str, amount: Amount, text: str, span: Span, scale: Scale
) -> MeasuredFigure:
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
    return MeasuredFigure(
        metric=metric[:MAX_METRIC],
        period=period,
        value=amount.value * (1.0 if is_whole else scale.factor),
        unit=amount.unit or find_unit(metric) or (None if _RATIO.search(metric) else scale.unit),
        text=text,
        span=span,
    )


def _of(column: Scale, table: Scale, label: str) -> Scale:
    """Return the nearest scale: the row's, the column's, the table's."""
    own = read_scale(label)
    factor = next((scale.factor for scale in (own, column, table) if scale.factor != 1.0), 1.0)
    return Scale(factor, own.unit or column.unit or table.unit)


def _has_named_column(table: PlacedTable) -> bool:
    """Return whether a column has a name of accounts; a price needs dates in another column."""
    names = [_plain(column) for column in table.columns]
    named = [name for name in names if is_of_accounts(name) and not _is_quantity(name)]
    if all(map(_UNIT_PRICE.fullmatch, named)):
        return bool(named) and any(_holds_periods(table, place) for place in range(len(names)))
    return True


def _is_quantity(name: str) -> bool:
    return bool(_QUANTITY.fullmatch(name)) and not re.search(r"\bshares?\b", name, re.I)


def _holds_money(table: PlacedTable, place: int) -> bool:
    return _holds_amounts(table, place) and not _is_quantity(_plain(table.columns[place]))


def _holds_periods(table: PlacedTable, place: int) -> bool:
    cells = [_plain(row[place]) for row in table.rows[:_SAMPLE] if row[place] not in _NOTHING]
    return sum(map(is_period, cells)) * 2 > len(cells)


def _holds_amounts(table: PlacedTable, place: int) -> bool:
    """Return whether a column has amounts other than years and dates."""
    cells = [_plain(row[place]) for row in table.rows[:_SAMPLE] if row[place] not in _NOTHING]
    amounts = sum(read_amount(cell) is not None for cell in cells)
    return amounts * 2 > len(cells) and sum(map(is_period, cells)) * 2 <= len(cells)


def _plain(text: str) -> str:
    return _MARKS.sub("", text).strip()
