"""Tables of PDFs: ruled ones by their lines, the others by what stands in columns."""

from collections.abc import Iterator

from core.domain.corpus import Document
from core.domain.extracts import ExtractorInput, ExtractType, Found, Unread
from storage.documents.pdf.found_tables import PlacedTable, read_pdf_tables

_RULED = 0.9
_ALIGNED = 0.7


class PdfTableExtractor:
    """Finds tables by where words and lines stand on the page; one that goes on says so on its next page."""

    name = "pdf_tables"
    version = 3
    types = frozenset({ExtractType.TABLE})

    def reads(self, document: Document) -> bool:
        return document.kind == "pdf"

    def extract(self, given: ExtractorInput) -> Iterator[Found | Unread]:
        unread: list[Unread] = []
        for table in read_pdf_tables(given, unread=unread):
            yield _to_found(table)
        yield from unread


def _to_found(table: PlacedTable) -> Found:
    return Found(
        type=ExtractType.TABLE,
        page_number=table.page.number,
        span=table.span,
        data={
            "title": table.title,
            "columns": table.columns,
            "rows": table.rows,
            "row_spans": tuple((span.start, span.end) for span in table.row_spans),
            "continued": table.is_continued,
        },
        confidence=_RULED if table.is_ruled else _ALIGNED,
    )
