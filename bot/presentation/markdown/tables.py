"""Tables for platforms that have none: aligned in a fixed-width font, or, where that is too wide, row by row. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.presentation.markdown.characters import columns

_RULE = re.compile(r"^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_BAR = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\(([^\s()]{0,2000})\)")
_EMPHASIS = re.compile(r"(\*\*|__|~~|`+)(?=\S)(.{1,500}?)(?<=\S)\1")
LONGEST_TABLE_LINE = 5_000  # a longer line is data


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Cells as Markdown; every row has as many as the head."""

    head: tuple[str, ...]
    right: tuple[bool, ...]  # columns that are aligned to the right
    rows: tuple[tuple[str, ...], ...]


def begins_table(line: str, below: str) -> bool:
    """Whether two lines are the head of a table and its rule."""
    if "|" not in line or "-" not in below or max(len(line), len(below)) > LONGEST_TABLE_LINE:
        return False
    return _RULE.match(below) is not None and len(_cells(line)) == len(_cells(below))


def read_table(lines: Sequence[str]) -> Table:
    """Head, rule and rows; a row with too many cells keeps them in its last one."""
    head = _cells(lines[0])
    right = tuple(cell.endswith(":") and not cell.startswith(":") for cell in _cells(lines[1]))
    return Table(head=head, right=right, rows=tuple(_fit(_cells(line), len(head)) for line in lines[2:]))


def fixed_width(table: Table, widest: int) -> tuple[list[str], list[str]] | None:
    """(head with its rule, rows) as aligned lines; None when they are wider than `widest` columns."""
    cells = [tuple(_bare(cell) for cell in row) for row in (table.head, *table.rows)]
    widths = [max(1, *(columns(row[place]) for row in cells)) for place in range(len(table.head))]
    if sum(widths) + 3 * (len(widths) - 1) > widest:
        return None
    lines = [_aligned(row, widths, table.right) for row in cells]
    return [lines[0], "-+-".join("-" * width for width in widths)], lines[1:]


def as_items(table: Table) -> list[list[str]]:
    """A list item a row, in lines of `**head**: cell`; empty cells are left out, a table without rows is its head."""
    items = []
    for row in table.rows:
        pairs = [
            (f"**{_bare(head)}**: {cell}" if _bare(head) else cell)
            for head, cell in zip(table.head, row, strict=True)
            if cell
        ]
        items.append([("  " if place else "- ") + pair for place, pair in enumerate(pairs)])
    heads = [f"- **{_bare(head)}**" for head in table.head if _bare(head)]
    return [item for item in items if item] or [heads or ["- …"]]


def _cells(line: str) -> tuple[str, ...]:
    inner = line.strip()
    inner = inner[1:] if inner.startswith("|") else inner
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return tuple(cell.strip().replace("\\|", "|") for cell in _BAR.split(inner))


def _fit(cells: tuple[str, ...], number: int) -> tuple[str, ...]:
    if len(cells) > number:
        return (*cells[: number - 1], " | ".join(cells[number - 1 :]))
    return cells + ("",) * (number - len(cells))


def _bare(cell: str) -> str:
    """A cell as it reads in a fixed-width font."""
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1 (\2)", cell)).strip()


def _aligned(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = []
    for cell, width, is_right in zip(row, widths, right, strict=True):
        space = " " * (width - columns(cell))
        cells.append(space + cell if is_right else cell + space)
    return " | ".join(cells).rstrip()
