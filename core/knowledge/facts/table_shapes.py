"""Tables as accounts print them: periods above figures, signs in columns of their own, and statements. Pure."""

import re
from collections.abc import Sequence
from enum import StrEnum

YEAR = re.compile(r"(?:1[4-9]|20)\d\d")
_PERIOD = re.compile(
    r"(?:(?:FY|fiscal|year|Q[1-4]) ?)?(?:1[4-9]|20)\d\d(?:[-–/]\d{2,4})?E?(?: ?\(\w\))*", re.IGNORECASE
)
_SIGNS = frozenset({"", "$", "€", "£", "¥", "%", ")"})
_TRAILING = re.compile(r"(?<=[\d)—–-]) ?[$€£¥]$")  # the next cell's sign


class Statement(StrEnum):
    INCOME = "income"
    BALANCE = "balance"
    CASH_FLOW = "cash flow"


# Rows that make a table a statement: one label of each group.
_ROWS: Sequence[tuple[Statement, Sequence[re.Pattern[str]]]] = tuple(
    (statement, tuple(re.compile(group, re.IGNORECASE) for group in groups))
    for statement, groups in (
        (
            Statement.CASH_FLOW,
            (r"operating activities|from operations|by operations", r"investing activities", r"financing activities"),
        ),
        (Statement.BALANCE, (r"^total assets", r"liabilities")),
        (
            Statement.INCOME,
            (
                r"\brevenues?\b|\bsales\b",
                r"^(?:income|earnings|loss|profit).* before|^operating (?:income|profit)|^(?:income|earnings) from",
                r"^net (?:income|earnings|profit|loss|\(loss\))|^(?:profit|surplus|loss) for the",
            ),
        ),
    )
)
WEIGHT = {Statement.INCOME: 2, Statement.BALANCE: 2, Statement.CASH_FLOW: 1}  # changes of the others' items come last
SAID_OF = {  # words about a whole statement
    Statement.INCOME: "income statement operations earnings expense",
    Statement.BALANCE: "balance sheet financial position",
    Statement.CASH_FLOW: "cash flow statement",
}


def find_statement(labels: Sequence[str]) -> Statement | None:
    """Return which of the financial statements a table is, by its rows."""
    for statement, groups in _ROWS:
        if all(any(group.search(label.strip()) for label in labels) for group in groups):
            return statement
    return None


def reshape(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[str, Sequence[str], Sequence[Sequence[str]], int]:
    """Return title, columns, rows, and the number of first rows that became names of columns.

    Rows have as many cells as there are columns. Periods that were read as the title or the first row name columns; a
    column of signs is joined to its figures.
    """
    width = len(columns)
    cells = [(*row, *[""] * (width - len(row)))[:width] for row in rows]
    taken = 0
    if width > 1 and not any(name.strip() for name in columns[1:]):
        first = [cell.strip() for cell in cells[0][1:]] if cells else []
        if any(first) and all(_PERIOD.fullmatch(cell) for cell in first if cell):
            columns, cells, taken = [columns[0].strip() or cells[0][0], *first], cells[1:], 1
    names, joined = _join_signs(columns, cells)
    if len(names) > 1 and not any(names[1:]):
        years = YEAR.findall(title)
        if len(years) == len(names) - 1:
            names, title = [names[0], *years], ""
    return title, names, joined, taken


def _join_signs(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], Sequence[Sequence[str]]]:
    """Join columns of signs to the figures that they belong to: "$" to the next one, "%" to the one before."""
    signs = [
        place > 0 and all(row[place].strip() in _SIGNS for row in rows) and len(columns) > 2
        for place in range(len(columns))
    ]
    if all(signs[1:]):
        signs = [False] * len(columns)
    names: list[str] = []
    joined: list[list[str]] = [[] for _ in rows]
    pending: list[int] = []
    for place, name in enumerate(columns):
        if signs[place]:
            closes = place > 1 and any(row[place].strip() in ("%", ")") for row in rows)
            if closes or not any(not sign for sign in signs[place + 1 :]):
                for own, row in zip(joined, rows, strict=True):
                    own[-1] += row[place].strip()
                names[-1] = _both(names[-1], name)
            else:
                pending.append(place)
            continue
        text = name.strip()  # the sign's own name may be the one of the figure before it
        for part in () if text else (columns[each] for each in pending):
            text = _both(text, part)
        names.append(text)
        for own, row in zip(joined, rows, strict=True):
            before = "".join(row[each].strip() for each in pending) if row[place].strip() else ""
            own.append(_TRAILING.sub("", before + row[place].strip()))
        pending = []
    return names, joined


def _both(one: str, other: str) -> str:
    one, other = one.strip(), other.strip()
    return one if other in one else other if one in other else f"{one} {other}"
