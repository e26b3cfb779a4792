"""Headers and titles of tables: one name for each column, and the header of every passage of a table. Pure."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from core.domain.corpus import Page
from core.domain.passages import TABLE_HEAD, Span
from core.text.delimited import is_data
from core.text.pipe_tables import TextTable, read_pipe_tables
from core.text.words import collapse, shorten
from storage.documents.tables.accounts import is_period
from storage.documents.tables.text_tables import read_space_tables, read_tab_tables, with_others

# Columns below which a second row of names makes no sense, and rows of names that a table has at most.
_MIN_COLUMNS = 3
_MAX_HEADERS = 3
# Rows below the header that are looked at for figures.
_SAMPLE = 20
_BEFORE = frozenset(["$", "€", "£", "¥", "US$", "C$", "A$", "USD", "EUR", "GBP"])
_BEHIND = frozenset([")", "%", ")%", "%)", "x", "bps"])
_UNIT = re.compile(r"[A-Z]{0,3}[$€£¥] ?['’‘]?(?:0{3}s?|m|mn|bn)?|(?:[A-Z]{3} ?)?['’‘]0{3}s?|%")
_LACKS_YEAR = re.compile(  # "May 3," and "As at 3 May"
    r"(?:\b(?:ended|ending|as at|as of|jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
    r"(?: \d{1,2})?,?|,)$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_MARKED_YEAR = re.compile(r"((?:19|20)\d\d)\d")
_NOTE = re.compile(r"notes?", re.IGNORECASE)


def with_one_header(grid: TextTable) -> TextTable:
    """Return the table with one name for each column; unchanged if it has another form.

    Signs are joined to their figures, and header rows: "Sales" over "2023" and "2022" is "Sales 2023", "Sales 2022". A
    header of one cell is the missing caption, and the row below it names the columns. Units below names are part of
    them.
    """
    if len(grid.columns) < _MIN_COLUMNS or len(grid.rows) < 2:
        return grid
    return _with_units(_with_names(_with_signs(_without_marks(grid))))


def _without_marks(grid: TextTable) -> TextTable:
    """Return the table without the marks of notes at years in its first rows: "20231" beside "2024"."""
    first = tuple(map(_without_mark, grid.rows[:_MAX_HEADERS]))
    return replace(grid, columns=_without_mark(grid.columns), rows=first + grid.rows[_MAX_HEADERS:])


def _without_mark(row: tuple[str, ...]) -> tuple[str, ...]:
    if row[0] or not any(map(_YEAR.fullmatch, row)):
        return row
    return tuple(found[1] if (found := _MARKED_YEAR.fullmatch(cell)) else cell for cell in row)


def _with_names(grid: TextTable) -> TextTable:
    if not any(grid.columns):
        return _with_lead_rows(grid)
    second, below = grid.rows[0], grid.rows[1 : 1 + _SAMPLE]
    either = [one or other for one, other in zip(grid.columns, second, strict=True)]
    if not all(map(_is_name, second)) or not _has_figures(below, either):
        return grid
    filled = sum(map(bool, second))
    if sum(map(bool, grid.columns)) == 1 and bool(grid.columns[0]) and filled > 1 and filled * 3 > len(second):
        return replace(_without(grid, 1, second), caption=grid.caption or "".join(grid.columns))
    names = _joined(grid.columns, second)
    return _without(grid, 1, names) if names else grid


def _with_units(grid: TextTable) -> TextTable:
    units = grid.rows[0]
    filled = [cell for cell in units if cell and not _NOTE.fullmatch(cell)]
    is_named = len(grid.rows) > 1 and not units[0] and any(grid.columns[1:])
    if not is_named or not filled or not all(map(_UNIT.fullmatch, filled)):
        return grid
    return _without(grid, 1, tuple(f"{name} {unit}".strip() for name, unit in zip(grid.columns, units, strict=True)))


def _without(grid: TextTable, rows: int, columns: tuple[str, ...]) -> TextTable:
    return replace(grid, columns=columns, rows=grid.rows[rows:], row_spans=grid.row_spans[rows:])


def _with_signs(grid: TextTable) -> TextTable:
    headers = [grid.columns, *grid.rows[: _lead_rows(grid.rows)]]
    body = grid.rows[len(headers) - 1 :]
    into: dict[int, int] = {}  # a column of signs, and the one that it goes with
    for place in range(1, len(grid.columns)):
        cells = {row[place] for row in body if row[place]}
        if not cells or not (cells <= _BEFORE or cells <= _BEHIND):
            continue
        other = place + 1 if cells <= _BEFORE else place - 1
        if (
            other < 1
            or other >= len(grid.columns)
            or other in into
            or any(row[place] and row[other] and row[place] != row[other] for row in headers)
        ):
            continue
        if any(is_data(row[other].lstrip("(")) for row in body):
            into[place] = other
    if not into:
        return grid
    rows = tuple(_merged(row, into) for row in grid.rows)
    return replace(grid, columns=_merged(grid.columns, into), rows=rows)


def _merged(row: Sequence[str], into: dict[int, int]) -> tuple[str, ...]:
    cells = list(row)
    for place, other in into.items():
        if cells[place] != cells[other] or cells[place] in _BEFORE | _BEHIND:
            cells[other] = cells[place] + cells[other] if place < other else cells[other] + cells[place]
    return tuple(cell for place, cell in enumerate(cells) if place not in into)


def _lead_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of rows at the front that name columns: with an empty first cell, and without figures."""
    for number, row in enumerate(rows[: _MAX_HEADERS + 1]):
        named = [cell for cell in row[1:] if cell]
        if row[0] or not named or not all(map(_is_name, named)):
            return number
    return 0


def _with_lead_rows(grid: TextTable) -> TextTable:
    number = _lead_rows(grid.rows)
    if not 0 < number < len(grid.rows):
        return grid
    last = grid.rows[number - 1]
    if not _has_figures(grid.rows[number : number + _SAMPLE], last):
        return grid
    names: list[list[str]] = [[] for _ in grid.columns]
    for row in grid.rows[:number]:
        name = ""
        for place, cell in enumerate(row):
            name = cell or ("" if row is last else name)
            if name and (last[place] or cell):
                names[place].append(name)
    return _without(grid, number, tuple(" ".join(dict.fromkeys(each)) for each in names))


def _joined(columns: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """Return the names of both rows together; () if the second names nothing, or the first spans nothing.

    A name spans the empty cells and the same names behind it. Every column of a span needs a name of its own; any other
    has one of the two, or both with years.
    """
    names: list[str] = []
    spans = 0
    is_unsure = False  # both rows name a column that no name spans: fine with years
    place = 0
    while place < len(columns):
        end = place + 1
        while columns[place] and end < len(columns) and columns[end] in ("", columns[place]):
            end += 1
        group, own = columns[place], second[place:end]
        single = {name for name in own if name}
        if end - place > 1 and len(single) == 1 and _LACKS_YEAR.search(group) and is_period(*single):
            both = f"{group} {single.pop()}"  # a column of signs next to its figures
            names += [both if name else "" for name in columns[place:end]]
        elif end - place > 1 and any(own):
            if len({name for name in own if name}) < 2:
                return ()
            spans += 1
            names += [f"{group} {name}".strip() if name else "" for name in own]
        else:
            is_unsure = is_unsure or bool(own[0] and group and own[0] != group)
            names += [f"{group} {own[0]}".strip() if own[0] != group else group, *[""] * (end - place - 1)]
        place = end
    is_of_years = not second[0] and all(is_period(cell) for cell in second if cell)
    is_of_years = is_of_years and all(_LACKS_YEAR.search(name) for name in columns[1:] if name)
    is_joined = is_of_years or (spans and (not is_unsure or any(map(is_period, second))))
    return tuple(names) if is_joined else ()


def _is_name(cell: str) -> bool:
    return not is_data(_plain(cell)) or is_period(_plain(cell))


def _has_figures(rows: Sequence[Sequence[str]], headers: Sequence[str]) -> bool:
    """Return whether there are figures below the names, rather than more years."""
    columns = [place for place, header in enumerate(headers) if header and place]
    cells = [row[place] for row in rows for place in columns if row[place]]
    figures = [cell for cell in cells if is_data(_plain(cell)) and not is_period(_plain(cell))]
    return len(figures) * 2 >= len(cells) > 0


def _plain(cell: str) -> str:
    return cell.strip("*_ $€£")


# Characters of a header that go with each passage.
MAX_HEADER = 240
_FENCE = "```"


@dataclass(frozen=True, slots=True)
class TableHeaders:
    """The tables of a page that have a header, in text order."""

    rows: Sequence[Span]  # the rows of each, without the header
    headers: Sequence[str]

    def at(self, place: int) -> str | None:
        """Return the header of the table around `place`, as `| a | b |`; None outside of tables."""
        number = bisect_right(self.rows, place, key=lambda span: span.start) - 1
        return self.headers[number] if number >= 0 and place < self.rows[number].end else None


def find_headers(text: str) -> TableHeaders:
    """Return the headers of a page's tables: Markdown's, tabbed ones and columns of blanks; none of code."""
    tables = read_pipe_tables(text) if "|" in text else []
    if not text.startswith(_FENCE):
        tables = with_others(tables, read_tab_tables(text) if "\t" in text else [])
        tables = with_others(tables, read_space_tables(text) if "  " in text else [])
    found = [
        (
            Span(table.row_spans[0].start, table.span.end),
            shorten(f"{TABLE_HEAD}{' | '.join(map(collapse, table.columns))} |", MAX_HEADER),
        )
        for table in tables
        if table.row_spans and any(table.columns)
    ]
    return TableHeaders([span for span, _ in found], [header for _, header in found])


# Characters of a title: a longer line is a sentence about something.
MAX_TITLE = 200
# Lines above a table, blank ones left out, among which its caption is looked for.
_CAPTION_LINES = 3

_CAPTION = re.compile(
    r"(?:table|tab\.|exhibit|schedule|tabelle|tableau|tabla)\s+[\dIVXLA-Z][\w.–-]{0,8}(?:\b|(?=[.:]))", re.IGNORECASE
)
_MARKS = re.compile(r"^(?:#{1,6}\s+|[*_]{1,3}|:\s+|>\s*)|(?:[*_]{1,3}|\s+#+)$")


def find_title(page: Page, table: Span, *, nearest: str = "") -> str:
    """Return the title of the table at `table`, "" without any. `nearest` is the line right above it, if known."""
    above = _text_lines(page.text[max(table.start - 2_000, 0) : table.start], newest_first=True)
    below = _text_lines(page.text[table.end : table.end + 500], newest_first=False)
    for place, line in enumerate(above[:_CAPTION_LINES]):
        if (label := _CAPTION.match(line)) and len(line) <= MAX_TITLE * 2:
            return collapse(" ".join([*_caption(above[place:], label[0]), *above[:place][::-1]]))[:MAX_TITLE]
    if below and _CAPTION.match(below[0]) and len(below[0]) <= MAX_TITLE * 2:
        return below[0][:MAX_TITLE]
    if nearest or (above and above[0].endswith(":") and len(above[0]) <= MAX_TITLE):
        return (nearest or above[0]).rstrip(": ")[:MAX_TITLE]
    titles = [heading.title for heading in page.headings if heading.start < table.start]
    return (titles[-1] if titles else page.title or (page.heading_path[-1] if page.heading_path else ""))[:MAX_TITLE]


def _caption(above: Sequence[str], label: str) -> list[str]:
    """Return the lines of a caption, the last of which comes first: some PDFs repeat the label, unseen, in each."""
    labelled = takewhile(lambda line: (found := _CAPTION.match(line)) is not None and found[0] == label, above)
    first, *others = [*labelled][::-1]
    return [first, *(line[len(label) :].lstrip(" .:–—") for line in others)]


def _text_lines(text: str, *, newest_first: bool) -> list[str]:
    """Return the lines with words, without Markdown's marks."""
    lines = [collapse(_MARKS.sub("", collapse(line))) for line in text.split("\n")]
    filled = [line for line in lines if line and not line.startswith("|")]
    return filled[::-1] if newest_first else filled
