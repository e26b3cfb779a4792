"""Web pages and other HTML files: the text a reader sees, without the site's boilerplate."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.domain.corpus import Heading, ParsedDocument
from core.errors import ReadError
from storage.documents.books.chapters import without_licence
from storage.documents.html.text import HtmlText, html_to_text
from storage.documents.office.sheets import SUFFIX, SheetForm, form_of
from storage.documents.texts.encodings import decode
from storage.documents.texts.sections import split_sections

# Characters of a text from which one whose chapters are h3 is a book, with a page for each of them.
LONG = 20_000


class HtmlReader:
    """Reads `.html`, `.htm` and `.xhtml`, and `.xls` that is a web page; a page for each top-level section.

    Left out are the header and the licence of Project Gutenberg.
    """

    kind = "html"
    suffixes = frozenset({".html", ".htm", ".xhtml", SUFFIX})
    expects = "a web page"

    def accepts(self, path: Path, head: bytes) -> bool:
        return path.suffix.lower() != SUFFIX or form_of(head) is SheetForm.WEB_PAGE

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        page = html_to_text(decoded.text)
        if not page.text.strip():
            raise ReadError("empty: the page shows no text")
        headings = _closed_up(page.headings) if len(page.text) >= LONG else page.headings
        return ParsedDocument(
            title=_title(page) or path.stem,
            kind=self.kind,
            pages=split_sections(*without_licence(page.text, headings, page.anchors)),
            url=page.url,
            warnings=(*decoded.warnings, *page.warnings, *page.hidden),
            hidden=page.hidden,
        )


def _closed_up(headings: Sequence[Heading]) -> tuple[Heading, ...]:
    levels = sorted({heading.level for heading in headings} - {1})
    if not levels or levels[0] == 2 or sum(heading.level == 1 for heading in headings) > 1:
        return tuple(headings)
    return tuple(replace(item, level=max(item.level - levels[0] + 2, 1)) for item in headings)


def _title(page: HtmlText) -> str:
    first = next((heading.title for heading in page.headings if heading.level == 1), "")
    return first if first and (not page.title or first in page.title) else page.title
