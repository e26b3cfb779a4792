"""The figures of a table or of a statement's lines: what each measures, when, in which unit. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.domain.corpus import Span
from storage.documents.tables.accounts import find_period, is_of_accounts, is_period
from storage.documents.tables.amounts import Amount, Scale, find_unit, read_amount, read_scale

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
