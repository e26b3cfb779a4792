"""What accounts are made of: the words for their lines, periods, and what a report says of itself. Pure."""

import re
from collections.abc import Iterable

from core.text.dates import find_date
from core.text.words import collapse

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
