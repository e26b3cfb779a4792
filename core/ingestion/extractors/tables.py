"""Tables in the text of pages: Markdown tables, as all readers but those of PDF and CSV files write them; CSV files."""

from collections.abc import Iterator

from core.domain.corpus import Document, Page, Span
from core.domain.extracts import ExtractorInput, ExtractType, Found
from core.ingestion.delimited import read_delimited
from core.ingestion.pipe_tables import TextTable, fit, read_pipe_tables
from core.ingestion.table_titles import find_title

# Rows of one extract: a longer table is cut into several, each of which says that it goes on.
MAX_ROWS = 5_000
_FENCE = "```"
_CSV = "csv"
_PDF = "pdf"
# A Markdown table says itself what is a cell; of a CSV file the delimiter and the header are told from what it holds.
_WRITTEN = 1.0
_TOLD = 0.9


class TableExtractor:
    """Finds every table of a page, its cells as written."""

    name = "tables"
    version = 1
    types = frozenset({ExtractType.TABLE})

    def reads(self, document: Document) -> bool:
        return document.kind != _PDF

    def extract(self, given: ExtractorInput) -> Iterator[Found]:
        for page, title, table in read_tables(given):
            confidence = _TOLD if given.document.kind == _CSV else _WRITTEN
            for part in range(0, max(len(table.rows), 1), MAX_ROWS):
                yield _to_found(page, title, table, part, confidence)


def read_tables(given: ExtractorInput) -> Iterator[tuple[Page, str, TextTable]]:
    """The tables of a document whose pages' texts hold them, each with its page and title, in text order."""
    for page in given.pages:
        if given.document.kind == _CSV:
            table = _read_csv(page.text)
            if table is not None:
                yield page, given.document.title, table
        else:
            for table in read_pipe_tables(page.text):
                yield page, find_title(page, table.span), table


def _read_csv(text: str) -> TextTable | None:
    """The table that the page of a CSV file is; None where it is a list of lines."""
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


def _to_found(page: Page, title: str, table: TextTable, part: int, confidence: float) -> Found:
    rows, spans = table.rows[part : part + MAX_ROWS], table.row_spans[part : part + MAX_ROWS]
    is_last = part + MAX_ROWS >= len(table.rows)
    start = spans[0].start if part else table.span.start
    return Found(
        type=ExtractType.TABLE,
        page_number=page.number,
        span=Span(start, table.span.end if is_last else spans[-1].end),
        data={
            "title": title,
            "columns": table.columns,
            "rows": rows,
            "row_spans": tuple((span.start, span.end) for span in spans),
            "continued": part > 0,
        },
        confidence=confidence,
    )
