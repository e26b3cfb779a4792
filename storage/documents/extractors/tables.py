"""Tables of text formats and of PDFs."""

from collections.abc import Iterator

from core.domain.corpus import Document, Page
from core.domain.extracts import ExtractorInput, ExtractType, Found, Unread
from core.domain.passages import Span
from core.text.delimited import read_delimited
from core.text.pipe_tables import MAX_LINE, TextTable, fit, read_pipe_tables
from storage.documents.pdf.found_tables import read_pdf_tables
from storage.documents.tables.headers import MAX_TITLE, find_title, with_one_header
from storage.documents.tables.text import PlacedTable
from storage.documents.tables.text_tables import read_grid_tables, read_space_tables, read_tab_tables, with_others

# Rows of one extract: a longer table becomes several, each marked as continued.
MAX_ROWS = 5_000
_FENCE = "```"
_CSV = "csv"
_PDF = "pdf"
# Kinds whose readers turn HTML into text, the cells of a row separated by tabs.
_OF_HTML = frozenset({"epub", "foundry", "html", "mail", "notebook"})
# Kinds of text that people write, in which they part columns by blanks, or draw them.
_PLAIN = frozenset({"mail", "markdown", "text"})
# Markdown marks its cells; the delimiter and the header of a CSV file are guessed from its contents.
_WRITTEN = 1.0
_TOLD = 0.9
_SEEN = 0.8


class TableExtractor:
    """Finds every table of a page, its cells as written."""

    name = "tables"
    version = 5
    types = frozenset({ExtractType.TABLE})

    def reads(self, document: Document) -> bool:
        return document.kind != _PDF

    def extract(self, given: ExtractorInput) -> Iterator[Found | Unread]:
        for page in given.pages if given.document.kind != _CSV else ():
            if len(page.text) > MAX_LINE and any(len(line) > MAX_LINE for line in page.text.split("\n")):
                reason = f"lines of more than {MAX_LINE:,} characters are not searched for tables"
                yield Unread(page_number=page.number, reason=reason)
        for table in read_tables(given):
            yield from _to_found(table)


def read_tables(given: ExtractorInput) -> Iterator[PlacedTable]:
    """Return the tables in the text of a document's pages, in text order."""
    for page in given.pages:
        if given.document.kind == _CSV:
            table = _read_csv(page.text)
            if table is not None:
                yield _placed(page, given.document.title, table, _TOLD)
        else:
            # of two at the same place, the one with the plainer form: pipes, tabs, blanks
            kind = given.document.kind
            tables = read_pipe_tables(page.text)
            if kind in _OF_HTML:
                tables = with_others(tables, read_tab_tables(page.text))
            if kind in _PLAIN:
                tables = with_others(with_others(tables, read_grid_tables(page.text)), read_space_tables(page.text))
            for table in map(with_one_header, tables):
                is_marked = bool({"|", "\t"} & set(table.span.of(page.text)))
                title = find_title(page, table.span, nearest=_nearest(table))
                yield _placed(page, title, table, _WRITTEN if is_marked else _SEEN)


def _placed(page: Page, title: str, table: TextTable, confidence: float) -> PlacedTable:
    return PlacedTable(
        page=page, span=table.span, title=title, columns=table.columns, rows=table.rows, row_spans=table.row_spans,
        confidence=confidence,
    )  # fmt: skip


def _nearest(table: TextTable) -> str:
    """Return the caption unless it is a sentence of the text above."""
    return table.caption if len(table.caption) <= MAX_TITLE and not table.caption.endswith(".") else ""


def _read_csv(text: str) -> TextTable | None:
    """Return the table of a CSV file's page, None for a list of lines."""
    start = text.find("\n") + 1 if text.startswith(_FENCE) else 0
    end = len(text) - len(_FENCE) - 1 if start and text.endswith("\n" + _FENCE) else len(text)
    read = read_delimited(text[start:end], start=start)
    if not read.delimiter or not read.records:
        return None
    width = max(len(record.cells) for record in read.records[read.header or 0 :])
    first = read.records[read.header or 0].span.start
    return TextTable(
        span=Span(first, read.records[-1].span.end),
        columns=fit(read.columns, width),
        rows=tuple(fit(record.cells, width) for record in read.rows),
        row_spans=tuple(record.span for record in read.rows),
    )


def _to_found(table: PlacedTable) -> Iterator[Found]:
    """Yield the extracts of a table, one for each MAX_ROWS of its rows."""
    for part in range(0, max(len(table.rows), 1), MAX_ROWS):
        rows, spans = table.rows[part : part + MAX_ROWS], table.row_spans[part : part + MAX_ROWS]
        is_last = part + MAX_ROWS >= len(table.rows)
        start = spans[0].start if part else table.span.start
        yield Found(
            type=ExtractType.TABLE,
            page_number=table.page.number,
            span=Span(start, table.span.end if is_last else spans[-1].end),
            data={
                "title": table.title,
                "columns": table.columns,
                "rows": rows,
                "row_spans": tuple((span.start, span.end) for span in spans),
                "continued": table.is_continued or part > 0,
            },
            confidence=table.confidence,
        )


class PdfTableExtractor:
    """Tables by the places of words and lines on the page; a continued one is marked on its next page."""

    name = "pdf_tables"
    version = 5
    types = frozenset({ExtractType.TABLE})

    def reads(self, document: Document) -> bool:
        return document.kind == "pdf"

    def extract(self, given: ExtractorInput) -> Iterator[Found | Unread]:
        unread: list[Unread] = []
        for table in read_pdf_tables(given, unread=unread):
            yield from _to_found(table)
        yield from unread
