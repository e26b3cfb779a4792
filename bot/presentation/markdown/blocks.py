"""Markdown as blocks: paragraphs, lists, quotes, headings, code and tables, in lines ready to be packed. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.presentation.markdown.flavour import Flavour, columns, units
from bot.presentation.markdown.inline import Token, code_tokens, to_tokens

_FENCE = re.compile(r"^([ \t]*+)(`{3,}+|~{3,}+)[ \t]*+([^`\n]*+)$")
_QUOTE = re.compile(r"^ {0,3}>")
_QUOTE_SIGNS = re.compile(r"^(?: {0,3}> ?)+")
_HEADING = re.compile(
    r"^ {0,3}(#{1,6})[ \t]++((?:[^ \t\n]++|[ \t]++(?!#*+[ \t]*+$))*+)(?:[ \t]++#++)?+[ \t]*+$"  # no closing signs
)
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_BAR = re.compile(r"(?<!\\)\|")
_LANGUAGE = re.compile(r"[a-z0-9_+.#-]{1,20}", re.IGNORECASE)  # any other info string is shown as code
_RULE = re.compile(r"^ {0,3}\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$")
# Lines that CommonMark takes for a rule, for the underline of a heading, or, in an item, for a heading or a rule.
_BREAK = re.compile(r"^ {0,3}([-*_])(?:[ \t]*+\1){2,}+[ \t]*+$")
_UNDERLINE = re.compile(r"^ {0,3}(?:=++|-++)[ \t]*+$")
_HEADING_IN_ITEM = re.compile(r"^([ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)++)(?:#{1,6}(?:[ \t]++|$))++")
_RULE_IN_ITEM = re.compile(r"^([ \t]*+(?:[-*+]|\d{1,9}[.)])[ \t]++)([-*_](?:[ \t]*+[-*_]){2,}+[ \t]*+)$")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\(([^\s()]{0,2000})\)")
_EMPHASIS = re.compile(r"(\*\*|__|~~|(?<!`)`{1,3}+)(?=\S)(.{1,500}?)(?<=\S)\1")
_DASHES = "———"
LONGEST_TABLE_LINE = 5_000  # a longer line is data
LONGEST_TABLE_HEAD = 100  # units of its line of names, which every part repeats
MOST_KEPT_ROWS = 99  # of a table, without its head; Slack takes 100 rows of 20 cells
MOST_KEPT_COLUMNS = 20
LONGEST_HEADING = 150  # units; Slack's limit
LONGEST_KEPT_HEAD = 1 / 3  # of the longest token: a table's head and its rule, on platforms with tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line. Each piece of it starts with `prefix`; `is_border`: prefer a cut before this line."""

    tokens: tuple[Token, ...]
    prefix: str = ""
    is_border: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Lines that belong together; `opening` and `closing` enclose every piece (a fence, a table's head)."""

    lines: tuple[Line, ...]
    opening: str = ""
    closing: str = ""
    is_apart: bool = True  # after an empty line
    is_heading: bool = False  # it doesn't end a part
    is_code: bool = False  # white space counts
    is_own: bool = False  # a platform may make a block of its own of it: a heading, a rule, a table


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Cells as Markdown; every row has as many as the head."""

    head: tuple[str, ...]
    right: tuple[bool, ...]  # columns that are aligned to the right
    rows: tuple[tuple[str, ...], ...]


def read_blocks(text: str, flavour: Flavour, longest: int) -> list[Block]:
    """Return the blocks of a cleaned text in order; tokens have at most `longest` units."""
    return list(_Reader(text.split("\n"), flavour, longest).blocks())


class _Reader:
    def __init__(self, lines: Sequence[str], flavour: Flavour, longest: int, prefix: str = "") -> None:
        self._lines = lines
        self._flavour = flavour
        self._longest = longest
        self._prefix = prefix
        self._place = 0

    def blocks(self) -> Iterator[Block]:
        is_apart = True
        while self._place < len(self._lines):
            line = self._lines[self._place]
            if not line.strip():
                self._place += 1
                is_apart = True
                continue
            for block in self._block(line):
                yield replace(block, is_apart=(is_apart and block.is_apart) or (block.is_own and not block.is_heading))
                is_apart = True
            is_apart = False

    def _block(self, line: str) -> Iterator[Block]:
        if fence := _FENCE.match(line):
            yield self._fence(fence)
        elif _QUOTE.match(line) and not self._prefix:  # each line gets a mark, except for code and tables
            inner = [_QUOTE_SIGNS.sub("", quoted) for quoted in self._while(lambda it: _QUOTE.match(it) is not None)]
            yield from _Reader(inner, self._flavour, self._longest, prefix="> ").blocks()
        elif heading := _HEADING.match(line):
            self._place += 1
            level, title = len(heading[1]), heading[2]
            bold = f"**{title}**" if title.strip() and "*" not in title else title
            is_own = level <= self._flavour.deepest_heading and units(title) <= LONGEST_HEADING
            yield Block(
                lines=(self._line(f"{heading[1]} {title}" if is_own else bold),), is_heading=True, is_own=is_own
            )
        elif _BREAK.match(line):
            self._place += 1
            has_rules = self._flavour.has_rules
            yield Block(lines=(self._line(line.strip() if has_rules else _DASHES),), is_own=has_rules)
        elif self._is_table():
            yield from self._kept_table() if self._flavour.has_tables else self._table()
        else:
            yield self._paragraph()

    def _fence(self, fence: re.Match[str]) -> Block:
        indent, info = fence[1], fence[3]
        closing = _closing(fence)
        self._place += 1
        code = []
        while self._place < len(self._lines) and not closing.match(self._lines[self._place]):
            line = self._lines[self._place]
            code.append(line[len(indent) :] if line.startswith(indent) else line.lstrip())
            self._place += 1
        self._place += 1
        language, _, rest = info.strip().partition(" ")
        if not _LANGUAGE.fullmatch(language):
            language, rest = "", info
        if rest.strip():
            code.insert(0, rest.strip())
        # An empty fence would continue to the next one.
        lines = tuple(Line(tokens=code_tokens(line, self._flavour)) for line in (code if any(code) else [" "]))
        return Block(lines=lines, opening=f"```{language}\n", closing="\n```", is_code=True)

    def _is_table(self) -> bool:
        below = self._lines[self._place + 1 : self._place + 2]
        return bool(below) and begins_table(self._lines[self._place], below[0])

    def _kept_table(self) -> Iterator[Block]:
        """Yield a table for platforms with tables, in several if it is too wide or has too many rows."""
        head, rule = self._lines[self._place : self._place + 2]
        self._place += 2
        rows = self._while(lambda line: self._is_text(line) and not _ITEM.match(line))  # rows need no bars
        if not self._flavour.makes_blocks:
            yield self._kept(head, rule, rows)
            return
        for names, line, below in narrow_tables(head, rule, rows):
            for first in range(0, max(len(below), 1), MOST_KEPT_ROWS):
                yield self._kept(names, line, below[first : first + MOST_KEPT_ROWS])

    def _kept(self, head: str, rule: str, rows: list[str]) -> Block:
        """Return a table; each piece repeats a short head."""
        tokens = self._cells(head, self._longest)
        opening = f"{self._prefix}{''.join(token.text for token in tokens)}\n{self._prefix}{rule}\n"
        room = self._longest - units(opening)
        if not rows or any(token.numbers for token in tokens) or room < self._longest * (1 - LONGEST_KEPT_HEAD):
            rows, opening, room = [head, rule, *rows], "", self._longest
        lines = (Line(tokens=self._cells(row, room), prefix=self._prefix) for row in rows)
        return Block(lines=tuple(lines), opening=opening, is_own=True)

    def _cells(self, row: str, longest: int) -> tuple[Token, ...]:
        """Return a row's tokens cell by cell: no code or address continues after a bar."""
        pieces = _BAR.split(row)
        return tuple(
            token
            for place, piece in enumerate(pieces)
            for token in (*([Token(text="|")] if place else []), *to_tokens(piece, self._flavour, longest))
        )

    def _table(self) -> Iterator[Block]:
        head = self._lines[self._place : self._place + 2]
        self._place += 2
        table = read_table([*head, *self._while(_is_row)])
        aligned = fixed_width(table, self._flavour.table_columns)
        if aligned is None or units(aligned[0][0]) > LONGEST_TABLE_HEAD:
            items = [line for item in as_items(table) for line in item]
            yield Block(lines=tuple(self._line(line) for line in items))
            return
        rows = [self._row(row, line) for row, line in zip(table.rows, aligned[1], strict=True)]
        names, rule = ("".join(token.text for token in code_tokens(line, self._flavour)) for line in aligned[0])
        yield Block(lines=tuple(rows), opening=f"```\n{names}\n{rule}\n", closing="\n```", is_code=True)
        yield from self._table_notes(table)

    def _row(self, cells: tuple[str, ...], line: str) -> Line:
        tokens = code_tokens(line, self._flavour) or (Token(text=" "),)
        return Line(tokens=(replace(tokens[0], numbers=self._numbers(cells)), *tokens[1:]))

    def _table_notes(self, table: Table) -> Iterator[Block]:
        """Return a table's footnotes to repeat below it: text in a fixed-width font has no links."""
        numbers = dict.fromkeys(number for cells in (table.head, *table.rows) for number in self._numbers(cells))
        if numbers:
            marks = " ".join(f"[{number}]" for number in numbers)
            yield Block(lines=(self._line(f"Footnotes of the table: {marks}"),), is_apart=False)

    def _numbers(self, cells: tuple[str, ...]) -> tuple[int, ...]:
        tokens = to_tokens(" ".join(cells), self._flavour, self._longest)
        return tuple(number for token in tokens for number in token.numbers)

    def _paragraph(self) -> Block:
        first = self._lines[self._place]
        self._place += 1
        lines = [first, *self._while(lambda line: self._is_text(line) and not self._is_table())]
        if self._flavour.makes_blocks:
            lines = [_flat(line, is_first=place == 0) for place, line in enumerate(lines)]
        is_list = any(_ITEM.match(line) for line in lines)
        return Block(lines=tuple(self._line(line, not is_list or _ITEM.match(line) is not None) for line in lines))

    def _is_text(self, line: str) -> bool:
        """Return whether the line continues a block."""
        begins = (
            _FENCE.match(line)
            or _HEADING.match(line)
            or _BREAK.match(line)
            or (_QUOTE.match(line) and not self._prefix)
        )
        return bool(line.strip()) and not begins

    def _line(self, text: str, is_border: bool = True) -> Line:
        is_border = is_border and not text.startswith("  ")
        return Line(tokens=to_tokens(text, self._flavour, self._longest), prefix=self._prefix, is_border=is_border)

    def _while(self, goes_on: Callable[[str], bool]) -> list[str]:
        start = self._place
        while self._place < len(self._lines) and goes_on(self._lines[self._place]):
            self._place += 1
        return list(self._lines[start : self._place])


def _closing(fence: re.Match[str]) -> re.Pattern[str]:
    """Return the pattern of the line that ends code."""
    return re.compile(rf"^[ \t]*{re.escape(fence[2][0])}{{{len(fence[2])},}}[ \t]*$")


def _is_row(line: str) -> bool:
    return "|" in line and not _FENCE.match(line)


def begins_table(line: str, below: str) -> bool:
    """Return whether two lines are the head of a table and its rule."""
    if "|" not in line or "-" not in below or max(len(line), len(below)) > LONGEST_TABLE_LINE:
        return False
    return _RULE.match(below) is not None and len(_cells(line)) == len(_cells(below))


def code_or_table(lines: Sequence[str], start: int) -> tuple[str, int]:
    """Return "code" or "table" and the place behind it, if one begins at `start`; else "" and the next place."""
    end = start + 1
    if fence := _FENCE.match(lines[start]):
        closing = _closing(fence)
        while end < len(lines) and not closing.match(lines[end]):
            end += 1
        return "code", min(end + 1, len(lines))
    if end == len(lines) or not begins_table(lines[start], lines[end]):
        return "", end
    end += 1
    while end < len(lines) and _is_row(lines[end]):
        end += 1
    return "table", end


def read_table(lines: Sequence[str]) -> Table:
    """Return a table of its head, rule and rows; the last cell of a row takes surplus cells."""
    head = _cells(lines[0])
    right = tuple(cell.endswith(":") and not cell.startswith(":") for cell in _cells(lines[1]))
    return Table(head=head, right=right, rows=tuple(_fit(_cells(line), len(head)) for line in lines[2:]))


def fixed_width(table: Table, widest: int) -> tuple[list[str], list[str]] | None:
    """Return (head with its rule, rows) as aligned lines; None if they are wider than `widest` columns."""
    cells = [tuple(bare_cell(cell) for cell in row) for row in (table.head, *table.rows)]
    widths = [max(1, *(columns(row[place]) for row in cells)) for place in range(len(table.head))]
    if sum(widths) + 3 * (len(widths) - 1) > widest:
        return None
    lines = [_aligned(row, widths, table.right) for row in cells]
    return [lines[0], "-+-".join("-" * width for width in widths)], lines[1:]


def as_items(table: Table) -> list[list[str]]:
    """Return a list item for each row, in lines of `**head**: cell`; the head if there are no rows."""
    items = []
    for row in table.rows:
        pairs = [
            (f"**{bare_cell(head)}**: {cell}" if bare_cell(head) else cell)
            for head, cell in zip(table.head, row, strict=True)
            if cell
        ]
        items.append([("  " if place else "- ") + pair for place, pair in enumerate(pairs)])
    heads = [f"- **{bare_cell(head)}**" for head in table.head if bare_cell(head)]
    return [item for item in items if item] or [heads or ["- …"]]


def narrow_tables(head: str, rule: str, rows: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield a table as it is, or in tables of a few columns, each with the first column, if Slack refuses its width."""
    names, rules = _cells(head), _cells(rule)
    if len(names) <= MOST_KEPT_COLUMNS:
        yield head, rule, rows
        return
    cells = [_fit(_cells(row), len(names)) for row in rows]
    for start in range(1, len(names), MOST_KEPT_COLUMNS - 1):
        places = [0, *range(start, min(start + MOST_KEPT_COLUMNS - 1, len(names)))]
        head, rule, *taken = (_joined(row, places) for row in (names, rules, *cells))
        yield head, rule, taken


def _joined(cells: Sequence[str], places: Sequence[int]) -> str:
    escaped = (cells[place].replace("|", "\\|") for place in places)
    return f"| {' | '.join(escaped)} |"


def _flat(line: str, *, is_first: bool) -> str:
    """Return a line of text that makes no heading, rule or table."""
    if not is_first and (_UNDERLINE.match(line) or (_RULE.match(line) and "-" in line)):
        return f"{line[: len(line) - len(line.lstrip())]}\\{line.lstrip()}"
    line = _RULE_IN_ITEM.sub(r"\1\\\2", line)
    return _HEADING_IN_ITEM.sub(r"\1", line)


def _cells(line: str) -> tuple[str, ...]:
    inner = line.strip()
    inner = inner[1:] if inner.startswith("|") else inner
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return tuple(cell.strip().replace("\\|", "|") for cell in _BAR.split(inner))


def _fit(cells: tuple[str, ...], number: int) -> tuple[str, ...]:
    if len(cells) > number:
        return (*cells[: number - 1], " | ".join(cells[number - 1 :]))
    return cells + ("",) * (number - len(cells))


def bare_cell(cell: str) -> str:
    """Return a cell's text in a fixed-width font."""
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1 (\2)", cell)).strip()


def _aligned(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = []
    for cell, width, is_right in zip(row, widths, right, strict=True):
        space = " " * (width - columns(cell))
        cells.append(space + cell if is_right else cell + space)
    return " | ".join(cells).rstrip()
