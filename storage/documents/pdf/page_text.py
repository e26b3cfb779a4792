"""The text of a PDF page in reading order, with form fields and ruled tables."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from core.domain.passages import Span
from core.text.words import placed_lines
from storage.documents.faults import part_or
from storage.documents.pdf.form_fields import Field, read_fields, with_fields
from storage.documents.pdf.glyphs import (
    DOUBLE,
    letter_box,
    mark_doubles,
    turned,
    turned_box,
    upright_text,
    without_doubles,
)
from storage.documents.pdf.invisible import mark_invisible
from storage.documents.pdf.layout import (
    Cell,
    FoundTable,
    Layout,
    place_words,
    read_layout,
    read_rules,
    span_of,
    to_lines,
)
from storage.documents.pdf.rows import Line, needs_rows, to_rows
from storage.documents.pdf.ruled_tables import find_grids, find_ruled_tables, join_rules
from storage.documents.pdf.type_sizes import SizedLine, read_sizes
from storage.documents.texts.encodings import clean

_Row = Sequence[Cell]


def with_ruled_tables(text: str, page: Any, text_page: Any, filled: Sequence[Line] = ()) -> str:
    """Return the text of an open page with its ruled tables as rows; `filled` are the texts of its form fields."""
    rules = read_rules(page)
    if not text or rules is None or not find_grids(join_rules(rules[0]), join_rules(rules[1])):
        return text  # reading the words takes the most time, so do it only for possible tables
    layout = read_layout(page, text_page, rules, filled)
    return text if layout is None else write_ruled_tables(text, layout)


def write_ruled_tables(text: str, layout: Layout) -> str:
    """Return `text` with the ruled tables of its page as rows, unless other words are between theirs."""
    tables = [table for table in find_ruled_tables(layout) if not table.is_doubtful]
    places = place_words(layout.words, text) if tables else {}
    blocks = [block for table in tables for block in _blocks([_head(table), *table.rows], places)]
    written, end = text, len(text)
    for span, rows in sorted(blocks, key=lambda block: block[0], reverse=True):
        if span.end > end:
            continue  # a table within a table
        cells = ([_to_cell(cell, places, text) for cell in row] for row in rows)
        lines = "\n".join("\t".join(row).rstrip() for row in cells)
        start = len(text[: span.start].rstrip(" "))
        before = "" if start == 0 or text[start - 1] == "\n" else "\n"
        after = "" if span.end == len(text) or text[span.end] == "\n" else "\n"
        written = written[:start] + before + lines + after + written[span.end :]
        end = start
    return written


def _blocks(rows: Sequence[_Row], places: Mapping[int, Span]) -> list[tuple[Span, list[_Row]]]:
    filled = [row for row in rows if any(row)]
    whole = _span_alone(filled, places)
    if whole is not None:
        return [(whole, filled)]
    alone = ((_span_alone([row], places), row) for row in filled)
    return [(span, [row]) for span, row in alone if span is not None]


def _span_alone(rows: Sequence[_Row], places: Mapping[int, Span]) -> Span | None:
    words = [word for row in rows for cell in row for word in cell]
    own = {word.order for word in words}
    span = span_of(words, places)
    if span is None or not own <= places.keys():
        return None
    return None if any(order not in own and span.contains(place) for order, place in places.items()) else span


def _to_cell(cell: Cell, places: Mapping[int, Span], text: str) -> str:
    """Return the words of a cell as in the text, its lines joined by a space."""
    written = ""
    end: int | None = None
    for line in to_lines(cell):
        for word in line:
            place = places[word.order]
            written += f"{'' if end is None or place.start == end else ' '}{place.of(text)}"
            end = place.end
    return written


def _head(table: FoundTable) -> list[Cell]:
    inside = {word.order for row in table.rows for cell in row for word in cell}
    words = [word for word in table.words if word.order not in inside]
    columns = len(table.edges) - 1
    cells: list[Cell] = []
    for column in range(columns):
        left = table.edges[column] if column else float("-inf")
        right = table.edges[column + 1] if column + 1 < columns else float("inf")
        cells.append(tuple(word for word in words if left <= word.centre < right))
    return cells


# A page with less text is checked for text outside of its edges: scanners add notes there.
OFF_PAGE_TEXT = 200

# PDFium writes U+FFFE (older versions U+0002) for a hyphen that breaks a word at the end of a line.
_BROKEN_WORD = re.compile("[\ufffe\x02](?:\n)?")
# Line ends, and the form feeds and other controls that no text holds on purpose.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def page_text(
    document: Any,
    index: int,
    hiding: list[int] | None = None,
    tell: Callable[[str], None] = lambda reason: None,
    sizes: list[SizedLine] | None = None,
) -> str:
    """Return the text of one page, "" if the page or its text can't be loaded.

    Text that no reader sees is left out; the numbers of pages with such text are added to `hiding`, and its lines with
    the sizes of their type to `sizes`.
    Its ruled tables stay lines of text if their reader fails; `tell` gets the reason.
    """
    import pypdfium2

    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return ""
    with closing(page):
        try:
            text_page = upright_text(page)
        except pypdfium2.PdfiumError:
            return ""
        with closing(text_page):
            fields = read_fields(document, page)
            given: str = text_page.get_text_range()
            seen = mark_invisible(given, page, text_page)
            if seen != given and hiding is not None:
                hiding.append(index + 1)
            if sizes is not None:
                sizes.extend(read_sizes(text_page, seen, index))
            text = clean_page(_raw_text(page, text_page, fields, seen))
            lines = [field.line for field in fields]
            return part_or(text, partial(with_ruled_tables, text, page, text_page, lines), tell)


def clean_page(raw: str) -> str:
    """Return text with plain line ends and hyphens: "adip-" stays at the end of its line, as printed."""
    text = _BROKEN_WORD.sub("-\n", raw.replace("\r\n", "\n"))
    text = clean(without_controls(text))
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def without_controls(text: str) -> str:
    """Replace control characters by blanks."""
    return _CONTROLS.sub(" ", text)


def _raw_text(page: Any, text_page: Any, fields: Sequence[Field], raw: str) -> str:
    if len(raw) < OFF_PAGE_TEXT and not text_page.get_text_bounded().strip():
        raw = ""  # all of its text is outside of the page
    raw = mark_doubles(raw, text_page)
    if not raw or needs_rows(without_doubles(raw).split("\r\n")):
        lines = _place_lines(text_page, raw, turned(page))
        return to_rows([*lines, *(field.line for field in fields)])
    if fields:
        turn = turned(page)
        boxes = [
            turned_box(letter_box(text_page, place), turn) if _is_drawn(letter) else None
            for place, letter in enumerate(raw)
        ]
        raw = with_fields(raw, boxes, fields)
    return without_doubles(raw)


def _is_drawn(letter: str) -> bool:
    return letter != DOUBLE and not letter.isspace()


def _place_lines(text_page: Any, raw: str, turn: Any) -> list[Line]:
    """Return the lines with boxes, in points from the lower left corner of the page as shown by `turn`."""
    placed = []
    for start, line in placed_lines(raw, "\r\n"):
        inked = [place for place, letter in enumerate(line, start) if _is_drawn(letter)]
        if inked:
            first, last = (turned_box(letter_box(text_page, place), turn) for place in (inked[0], inked[-1]))
            bottom, top = min(first[1], last[1]), max(first[3], last[3])
            placed.append(Line(text=without_doubles(line), left=first[0], right=last[2], bottom=bottom, top=top))
    return placed
