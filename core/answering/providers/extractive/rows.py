"""Quoted rows of tables, with the names of their columns."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from core.answering.providers.extractive.quotes import Quote, text_of
from core.domain.passages import Span
from core.text.delimited import DELIMITERS
from core.text.markup import is_row, readable
from core.text.pipe_tables import to_cells

CSV = "csv"  # kind of documents whose passages have the names of their columns, joined by commas, as last heading


@dataclass(frozen=True, slots=True)
class QuotedRows:
    """Rows of a table with the names of its columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def read_rows(quote: Quote) -> QuotedRows | None:
    """Return the rows that a quote consists of, with their columns' names; None for other quotes and unnamed columns.

    The names are in the passage, or above it if it begins in the middle of the table.
    """
    sentences = quote.sentences
    columns = _columns(quote)
    if not columns and len(sentences) > 1 and is_row(text_of(quote.source, sentences[0])):
        columns, sentences = _cells(text_of(quote.source, sentences[0]), ()), sentences[1:]  # its first row names them
    if len(columns) < 2:
        return None
    rows = tuple(_cells(text_of(quote.source, span), columns) for span in sentences)
    if any(len(row) != len(columns) for row in rows):
        return None
    return QuotedRows(columns, rows)


def _columns(quote: Quote) -> tuple[str, ...]:
    source, path = quote.source, quote.source.passage.heading_path
    if not is_row(text_of(source, quote.sentences[0])):
        return tuple(path[-1].split(", ")) if source.document.kind == CSV and path else ()
    if (header := _header_row(quote)) is not None:
        return _cells(text_of(source, header), ())
    return _cells(path[-1], ()) if source.passage.titles != path else ()


def _cells(row: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the cells of a row; of one that only a delimiter divides, as many as there are columns."""
    if "\t" in row:
        cells = row.split("\t")
    elif is_row(row):
        cells = to_cells(row)
    else:
        cells = next((found for sign in DELIMITERS if len(found := _record(row, sign)) == len(columns)), [])
    return tuple(readable(cell.strip()) for cell in cells)


def _record(row: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(row, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return []


def _header_row(quote: Quote) -> Span | None:
    """Return the first row of the table that a quote begins in, if the passage holds it and the quote doesn't."""
    rows = []
    for span in reversed(quote.source.passage.sentences):
        if span.start >= quote.sentences[0].start:
            continue
        if not is_row(text_of(quote.source, span)):
            break
        rows.append(span)
    else:
        if quote.source.passage.titles != quote.source.passage.heading_path:
            return None  # the passage begins below the first row
    return rows[-1] if rows else None
