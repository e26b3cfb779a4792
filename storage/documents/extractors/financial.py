"""Financial figures: from tables of accounts, and from lines of a label and an amount."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from core.domain.corpus import Document
from core.domain.extracts import ExtractorInput, ExtractType, Found
from core.domain.passages import Span
from storage.documents.extractors.tables import read_tables
from storage.documents.pdf.found_tables import read_pdf_tables
from storage.documents.tables.accounts import (
    FRONT,
    NAMED,
    MeasuredFigure,
    find_report_date,
    find_report_type,
    find_ticker,
    is_of_accounts,
    is_table_of_accounts,
    read_figures,
    read_lines,
)
from storage.documents.tables.text import PlacedTable

# Figures of one extract: a longer table is cut into several.
MAX_FIGURES = 2_000
# Pages at the front that may name the kind of report.
_FRONT_PAGES = 3
# Numbers on a PDF's page below which it is not looked at for tables.
_MIN_NUMBERS = 6
_TABLE = 0.8
_PDF_TABLE = 0.6
_LINES = 0.6

_NUMBER = re.compile(r"\d[\d.,]*")
_Group = tuple[int, list[MeasuredFigure], float]


class FinancialExtractor:
    """Finds the figures of accounts, and once for a document its ticker, date, kind and named ratios."""

    name = "financial"
    version = 6
    types = frozenset({ExtractType.FINANCIAL})

    def reads(self, document: Document) -> bool:
        return document.kind != "openapi"

    def extract(self, given: ExtractorInput) -> Iterator[Found]:
        groups = list(_groups(given))
        if not groups:
            return
        about = _about(given, [figure for _, figures, _ in groups for figure in figures])
        found = [
            _to_found(number, figures[start : start + MAX_FIGURES], about, confidence)
            for number, figures, confidence in groups
            for start in range(0, len(figures), MAX_FIGURES)
        ]
        yield from sorted(found, key=lambda item: (item.page_number, item.span))


def _groups(given: ExtractorInput) -> Iterator[_Group]:
    """Yield figures in groups, each on one page."""
    tables = list(_tables(given))
    is_open = False
    confidence = _PDF_TABLE if given.document.kind == "pdf" else _TABLE
    for table in tables:
        is_open = is_table_of_accounts(table) or (is_open and table.is_continued)
        figures = list(read_figures(table)) if is_open else []
        if figures:
            yield table.page.number, figures, confidence
    taken = {
        number: [Span(table.row_spans[0].start, table.row_spans[-1].end) for table in same if table.row_spans]
        for number, same in groupby(tables, key=lambda table: table.page.number)
    }
    for page in given.pages:
        lines = [] if given.document.kind == "csv" else list(read_lines(page.text))
        free = [line for line in lines if not any(span.contains(line.span) for span in taken.get(page.number, []))]
        if free:
            yield page.number, free, _LINES


def _tables(given: ExtractorInput) -> Iterator[PlacedTable]:
    if given.document.kind == "pdf":
        return read_pdf_tables(given, [page for page in given.pages if _may_hold(page.text)])
    return read_tables(given)


def _may_hold(text: str) -> bool:
    numbers = sum(1 for _, _ in zip(_NUMBER.finditer(text), range(_MIN_NUMBERS), strict=False))
    return numbers >= _MIN_NUMBERS and any(map(is_of_accounts, text.split("\n")))


def _about(given: ExtractorInput, figures: Sequence[MeasuredFigure]) -> dict[str, object]:
    """Return the facts given once for the whole document."""
    text = "\n".join(page.text[:FRONT] for page in given.pages[:_FRONT_PAGES])
    about: dict[str, object] = {name: _only(figures, pattern) for name, pattern in NAMED.items()}
    if given.document.kind != "csv":
        about |= {"report_date": find_report_date(text), "report_type": find_report_type(text)}
        about |= {"ticker": find_ticker(page.text for page in given.pages)}
    return about


def _only(figures: Iterable[MeasuredFigure], pattern: re.Pattern[str]) -> float | None:
    values = {figure.value for figure in figures if pattern.fullmatch(figure.metric.strip(" :"))}
    return values.pop() if len(values) == 1 else None


def _to_found(number: int, figures: Sequence[MeasuredFigure], about: dict[str, object], confidence: float) -> Found:
    return Found(
        type=ExtractType.FINANCIAL,
        page_number=number,
        span=Span(min(figure.span.start for figure in figures), max(figure.span.end for figure in figures)),
        data=about
        | {
            "rows": tuple(
                {
                    "page_number": number,
                    "span": (figure.span.start, figure.span.end),
                    "period": figure.period,
                    "metric": figure.metric,
                    "value": figure.value,
                    "unit": figure.unit,
                    "text": figure.text,
                }
                for figure in figures
            )
        },
        confidence=confidence,
    )
