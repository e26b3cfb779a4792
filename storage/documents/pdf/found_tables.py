"""The tables of a PDF, found by the layout of its pages and located in their texts, page by page."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from core.domain.corpus import Page
from core.domain.extracts import ExtractorInput, Unread
from core.text.pipe_tables import TextTable
from storage.documents.deadline import extend_deadline
from storage.documents.faults import part_or
from storage.documents.pdf.aligned_tables import find_aligned_tables
from storage.documents.pdf.layout import FoundTable, Layout, LayoutReader, place_words, span_of, to_lines, to_text
from storage.documents.pdf.ruled_tables import find_ruled_tables
from storage.documents.tables.headers import find_title, with_one_header
from storage.documents.tables.text import PlacedTable

# Characters and lines of all pages together after which no more pages are looked at: about 20 s, or a
# thousand pages of tables.
MAX_COST = 2_000_000
_TOO_MUCH = "pages from here on are not looked at for tables: those before it hold too much; split the file"
# Maximum words above a continued table, or below a table that continues: headers and footers.
_MAX_RUNNING = 25
# Points by which the columns of such tables may differ.
_SAME_PLACE = 6.0
# How sure tables are, with lines around their cells and without.
_RULED = 0.9
_ALIGNED = 0.7
# Words of an aligned table, as a multiple of the words of the ruled one.
_MORE = 1.5
# Maximum distance of a title above its table, in heights of a line, and its maximum characters.
_NEAR = 2.5
_MAX_LINE = 120


def read_pdf_tables(
    given: ExtractorInput, pages: Sequence[Page] | None = None, *, unread: list[Unread] | None = None
) -> Iterator[PlacedTable]:
    """Yield the tables of `pages` (None: all) in text order; none if the file is missing or unreadable.

    Adds pages left out because they hold too much to `unread`.
    """
    if given.path is None:
        return
    try:
        reader = LayoutReader(given.path)
    except (OSError, ValueError):
        return  # moved or damaged since it was read; the next sync reports it
    left = MAX_COST
    before: PlacedTable | None = None
    open_table: FoundTable | None = None
    with closing(reader):
        for page in given.pages if pages is None else pages:
            layout = reader.read(page.number)
            if layout is None:
                continue
            left -= layout.cost
            if left < 0 or not extend_deadline():  # each page may take as long as a file
                if unread is not None:
                    unread.append(Unread(page_number=page.number, reason=_TOO_MUCH))
                return
            is_next = before is not None and page.number == before.page.number + 1
            goes_on = open_table if is_next else None
            open_table = None
            tell = partial(_note, unread, page.number)
            none: list[tuple[FoundTable, PlacedTable]] = []
            for table, placed in part_or(none, partial(_tables_of, page, layout, goes_on, before), tell):
                yield placed
                before = placed
                is_last = sum(word.top < table.bottom for word in layout.words) <= _MAX_RUNNING
                open_table = table if is_last else None


def find_tables(layout: Layout) -> list[FoundTable]:
    """Return the tables of a page from top to bottom.

    An aligned table replaces a doubtful ruled one, and one without names of columns, if it has some itself, or much
    more: lines may be around the figures only.
    """
    ruled = find_ruled_tables(layout)
    certain = [table for table in ruled if not table.is_doubtful and any(table.header)]
    aligned = find_aligned_tables(layout, certain)
    orders = [{word.order for word in table.words} for table in aligned]
    for table in ruled:
        if table in certain:
            continue
        own = {word.order for word in table.words}
        better = [other for other, words in zip(aligned, orders, strict=True) if len(own & words) * 2 > len(own)]
        most = len(own) * _MORE
        if not any(table.is_doubtful or any(other.header[1:]) or len(other.words) > most for other in better):
            certain.append(table)
            own_orders = [place for place, other in enumerate(orders) if own & other]
            aligned = [other for place, other in enumerate(aligned) if place not in own_orders]
            orders = [other for place, other in enumerate(orders) if place not in own_orders]
    return sorted([*certain, *aligned], key=lambda table: -table.top)


def _note(unread: list[Unread] | None, page_number: int, reason: str) -> None:
    if unread is not None:
        unread.append(Unread(page_number=page_number, reason=f"tables of this page are left out: {reason}"))


def _tables_of(
    page: Page, layout: Layout, goes_on: FoundTable | None, before: PlacedTable | None
) -> list[tuple[FoundTable, PlacedTable]]:
    found = find_tables(layout)
    places = place_words(layout.words, page.text)
    placed: list[tuple[FoundTable, PlacedTable]] = []
    for number, table in enumerate(found):
        span = span_of(table.words, places)
        if span is None:
            continue
        is_continued = number == 0 and goes_on is not None and _continues(table, goes_on, layout)
        title = find_title(page, span, nearest=_line_above(table, layout))
        columns, rows = table.header, table.texts
        above = before if is_continued else placed[-1][1] if placed and _is_below(table, placed[-1][0]) else None
        if is_continued and before is not None:
            title = before.title
            if not table.rows and len(before.columns) == len(columns):
                columns = before.columns
        spans = tuple(span_of((word for cell in row for word in cell), places) or span for row in table.rows)
        grid = with_one_header(TextTable(span=span, columns=columns, rows=rows, row_spans=spans))
        if not any(grid.columns) and above is not None and len(above.columns) == len(grid.columns):
            grid = replace(grid, columns=above.columns)
        result = PlacedTable(
            page=page, span=span, title=title, columns=grid.columns, rows=grid.rows, row_spans=grid.row_spans,
            confidence=_RULED if table.is_ruled else _ALIGNED, is_continued=is_continued,
        )  # fmt: skip
        placed.append((table, result))
    return sorted(placed, key=lambda pair: pair[1].span)


def _is_below(table: FoundTable, above: FoundTable) -> bool:
    """Return whether a table is as wide as the one above it on the page, at the same place."""
    ends = ((table.edges[0], above.edges[0]), (table.edges[-1], above.edges[-1]))
    return all(abs(one - other) <= _allowed(table) for one, other in ends)


def _allowed(table: FoundTable) -> float:
    return _SAME_PLACE if table.is_ruled else _SAME_PLACE * 5


def _line_above(table: FoundTable, layout: Layout) -> str:
    """Return the line right above a table if it may be its title, else ""."""
    near = [
        word
        for word in layout.words
        if table.top - word.height / 2 <= word.middle <= table.top + word.height * _NEAR
        and word not in table.words
        and word.right > table.edges[0] - _SAME_PLACE
        and word.left < table.edges[-1]
    ]
    lines = to_lines(near)
    text = to_text(lines[-1]) if lines else ""
    return "" if text.endswith(".") or text[:1].islower() or len(text) > _MAX_LINE else text


def _continues(table: FoundTable, before: FoundTable, layout: Layout) -> bool:
    above = sum(word.bottom > table.top for word in layout.words)
    pairs = list(zip(table.edges, before.edges, strict=False))
    if not table.is_ruled:  # the gap between columns depends on their text
        pairs = [pairs[0], pairs[-1]]
    same = len(table.edges) == len(before.edges) and all(abs(one - other) <= _allowed(table) for one, other in pairs)
    is_same_header = not any(table.header) or table.header == before.header
    return above <= _MAX_RUNNING and same and is_same_header
