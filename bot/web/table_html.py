"""Tables of a page as HTML, with the cited part marked by its place in the page."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from bot.web.page_markup import Marker
from core.domain.corpus import Page
from core.domain.passages import Span
from core.text.delimited import Delimited, Record, read_delimited
from core.text.pipe_tables import read_pipe_tables
from core.text.words import collapse, content_words

# The visible pieces of a cell with their places in the page, without escapes and quotation marks.
Cell = Sequence[tuple[str, int]]
# Characters at the start of a CSV page that show its delimiter and header.
_HEAD = 65_536
_FENCE = "```"
_SAMPLE = 50  # rows that show which columns hold numbers
_NUMBER = re.compile(r"[-+−(]?\s?[$€£]?\s?\d[\d.,'\u00a0 ]*\s?[%€$)]?|[-–—]")
# Characters before a part of a page to search for the header of a table that continues in it.
MAX_BACK = 4_000_000
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_DOUBLED = re.compile('""')
_RULE = re.compile(r"^\|(?: ?:?-+:? ?\|)+$", re.MULTILINE)


def table(head: Sequence[Cell], rows: Sequence[Sequence[Cell]], marker: Marker) -> str:
    """Render a table; without a header if `head` is empty. Columns of numbers are aligned to the right."""
    numbers = _columns_of_numbers(rows)
    top = f"<thead>{_row(head, 'th', marker, numbers)}</thead>" if head else ""
    return f"<table>{top}<tbody>{''.join(_row(row, 'td', marker, numbers) for row in rows)}</tbody></table>"


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A Markdown table, or a part, by its places in the page; the header may come before the part."""

    span: Span  # the shown part, to the end of its last row
    head: Span
    rows: tuple[Span, ...]


def pipe_tables_in(text: str, window: Span) -> list[ShownTable]:
    """Return the Markdown tables in a part of a page, in order; a continued table keeps its header."""
    shown = window.of(text)
    if "|" not in shown:
        return []
    tables = []
    head = _head_before(text, window.start)
    if head is not None:
        rows = []
        start = window.start
        for line in shown.split("\n"):
            if "|" not in line:
                break
            rows.append(Span(start, start + len(line.rstrip())))
            start += len(line) + 1
        if rows:
            tables.append(ShownTable(Span(window.start, rows[-1].end), head, tuple(rows)))
    for found in read_pipe_tables(shown):
        start = window.start + found.span.start
        rows = [Span(window.start + row.start, window.start + row.end) for row in found.row_spans]
        head = Span(start, start + len(text[start : text.find("\n", start)].rstrip()))
        tables.append(ShownTable(Span(start, window.start + found.span.end), head, tuple(rows)))
    return tables


def pipe_table(shown: ShownTable, text: str, marker: Marker) -> str:
    return table(_pipe_cells(text, shown.head), [_pipe_cells(text, row) for row in shown.rows], marker)


def tab_table(rows: Sequence[tuple[str, int]], marker: Marker) -> str:
    """Render tab-separated lines, each with its place in the page."""
    return table((), [list(_tab_cells(line, start)) for line, start in rows], marker)


def delimited_table(text: str, window: Span, marker: Marker) -> str:
    """Render the part `window` of a CSV page, with its header; "" if it isn't a table."""
    whole = window.end - window.start == len(text)
    shown = _read(text, window)
    first = shown if whole else _read(text, Span(0, min(len(text), _HEAD)))
    if not first.delimiter or not shown.records:
        return ""
    top = first.records[: first.header] if first.header else ()
    head = first.records[first.header] if first.header is not None else None
    rows = [record for record in shown.records if head is None or record.span.start > head.span.start]
    titles = [record for record in top if record.span.start >= window.start]
    return table(
        _record_cells(text, head, first.delimiter) if head else (),
        [_record_cells(text, record, first.delimiter) for record in [*titles, *rows]],
        marker,
    )


MOST_COLUMNS, MOST_ROWS = 4, 8  # of a table in an answer; its page has all


def cited_rows(page: Page, kind: str, cited: Sequence[Span], numbers: Sequence[int], question: str) -> str | None:
    """Return the cited rows of a page under their header, as Markdown; None if a citation is not of one table.

    The first column names the row; then come those that the question speaks of. `numbers` are the footnotes.
    """
    head, rows = _table_around(page.text, kind, min(span.start for span in cited))
    own = [row for row, place in rows if any(span.start < place.end and place.start < span.end for span in cited)]
    end = rows[-1][1].end if rows else -1
    if not head or not own or any(span.end > end for span in cited):
        return None
    asked = content_words(question)

    def is_asked(column: int) -> bool:
        return not asked.isdisjoint(content_words(" ".join([head[column], *(row[column] for row in own)])))

    columns = sorted(range(1, len(head)), key=lambda column: not is_asked(column))
    shown = [0, *sorted(columns[: MOST_COLUMNS - 1], key=lambda column: (not is_asked(column), column))]
    count = f"The first {MOST_ROWS} of {len(own)} rows" if len(own) > MOST_ROWS else f"{len(own)} rows"
    of_columns = f", {MOST_COLUMNS} of {len(head)} columns" if len(head) > MOST_COLUMNS else ""
    caption = f"{'1 row' if len(own) == 1 else count}{of_columns}{''.join(f'[{number}]' for number in numbers)}:"
    lines = [[head[column] for column in shown], ["---"] * len(shown)]
    lines += [[row[column] for column in shown] for row in own[:MOST_ROWS]]
    drawn = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"{caption}\n\n{drawn}"


def _table_around(text: str, kind: str, place: int) -> tuple[list[str], list[tuple[list[str], Span]]]:
    """Return the header and the rows of the table at a place of a page, each row as long as the header."""
    if kind == "csv":
        read = _read(text, Span(0, len(text)))
        head, rows = list(read.columns), [(list(record.cells), record.span) for record in read.rows]
    else:
        found = [table for table in pipe_tables_in(text, Span(0, len(text))) if table.head.start <= place]
        if not found:
            return [], []
        spans = [row for row in found[-1].rows if row != found[-1].head]
        head, rows = _texts(text, found[-1].head), [(_texts(text, row), row) for row in spans]
    clean = [([_plain(cell) for cell in [*cells, *[""] * len(head)][: len(head)]], span) for cells, span in rows]
    return [_plain(cell) for cell in head], clean


def _texts(text: str, span: Span) -> list[str]:
    return ["".join(piece for piece, _ in cell) for cell in _pipe_cells(text, span)]


def _plain(cell: str) -> str:
    """Return a cell's text for a cell of Markdown."""
    return collapse(cell).replace("|", "\\|")


def _columns_of_numbers(rows: Sequence[Sequence[Cell]]) -> set[int]:
    """Return the columns whose cells are all numbers or empty, judged by the first rows."""
    texts = [["".join(piece for piece, _ in cell).strip() for cell in row] for row in rows[:_SAMPLE]]
    width = max(map(len, texts), default=0)
    columns = [[row[place] for row in texts if place < len(row) and row[place]] for place in range(width)]
    return {place for place, column in enumerate(columns) if column and all(map(_NUMBER.fullmatch, column))}


def _row(cells: Sequence[Cell], tag: str, marker: Marker, numbers: Collection[int]) -> str:
    row = ""
    for column, cell in enumerate(cells):
        right = f' class="{marker.own}right"' if column in numbers else ""
        row += f"<{tag}{right}>{''.join(marker.html(piece, start) for piece, start in cell)}</{tag}>"
    return f"<tr>{row}</tr>"


def _head_before(text: str, place: int) -> Span | None:
    """Return the header of the table that continues at `place`, the start of a line."""
    rules = list(_RULE.finditer(text, max(0, place - MAX_BACK), place))
    if not rules or "\n\n" in text[rules[-1].end() : place]:
        return None
    end = rules[-1].start() - 1
    start = text.rfind("\n", 0, end) + 1
    return Span(start, end) if 0 <= start < end and text[start:end].startswith("|") else None


def _pipe_cells(text: str, span: Span) -> list[Cell]:
    """Return the cells of a row, as `pipe_tables.to_cells` does."""
    place, end = span.start + text.startswith("|", span.start), span.end
    if text[span.start : end].endswith("|") and not text[span.start : end].endswith("\\|") and end > place:
        end -= 1
    cells: list[Cell] = []
    pieces: list[tuple[str, int]] = []
    start = place
    while place <= end:
        is_escape = text.startswith("\\|", place) and place + 1 < end
        if is_escape or place == end or text[place] == "|":
            pieces.append((text[start:place], start))
            start = place + 1
            place += 1 + is_escape  # after the pipe; an escaped one begins the next piece
            if not is_escape:
                cells.append(_stripped(pieces))
                pieces = []
        else:
            place += 1
    return cells


def _tab_cells(line: str, start: int) -> Iterator[Cell]:
    for cell in line.split("\t"):
        yield [(cell, start)]
        start += len(cell) + 1


def _read(text: str, window: Span) -> Delimited:
    inner = window.of(text)
    start, end = window.start, window.end
    if start == 0 and inner.startswith(_FENCE):
        start = text.find("\n") + 1
    if end == len(text) and inner.endswith("\n" + _FENCE):
        end -= len(_FENCE) + 1
    return read_delimited(text[start : max(start, end)], start=start)


def _record_cells(text: str, record: Record, delimiter: str) -> list[Cell]:
    """Return the cells of a record without their quotation marks, as `delimited` does."""
    raw, start = record.span.of(text), record.span.start
    cells = list(_quoted_cells(raw, start, delimiter))
    if len(cells) == len(record.cells):
        return cells
    cells = []  # its quotation marks are ordinary characters
    for cell in raw.split(delimiter):
        cells.append([(cell, start)])
        start += len(cell) + len(delimiter)
    return cells


def _quoted_cells(raw: str, start: int, delimiter: str) -> Iterator[Cell]:
    place = 0
    while place <= len(raw):
        quoted = _QUOTED.match(raw, place)
        if quoted and (quoted.end() == len(raw) or raw.startswith(delimiter, quoted.end())):
            first = quoted.start(1)
            pieces = []
            for doubled in _DOUBLED.finditer(raw, first, quoted.end(1)):
                pieces.append((raw[first : doubled.end() - 1], start + first))
                first = doubled.end()
            yield [*pieces, (raw[first : quoted.end(1)], start + first)]
            place = quoted.end() + len(delimiter)
        else:
            end = raw.find(delimiter, place)
            end = len(raw) if end < 0 else end
            yield [(raw[place:end], start + place)]
            place = end + len(delimiter)


def _stripped(pieces: Sequence[tuple[str, int]]) -> Cell:
    """Strip white space at the ends of a cell."""
    kept = list(pieces)
    text, place = kept[0]
    kept[0] = (text.lstrip(), place + len(text) - len(text.lstrip()))
    text, place = kept[-1]
    kept[-1] = (text.rstrip(), place)
    return kept
