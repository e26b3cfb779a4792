"""Web pages and other HTML files: the text a reader sees, without the site's furniture."""

from pathlib import Path

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from core.ingestion.encodings import decode
from core.ingestion.gutenberg import without_licence
from core.ingestion.html_text import HtmlText, html_to_text
from core.ingestion.sections import split_sections


class HtmlReader:
    """Reads `.html`, `.htm` and `.xhtml`; a page for each top-level section.

    Left out are the header and the licence of Project Gutenberg.
    """

    kind = "html"
    suffixes = frozenset({".html", ".htm", ".xhtml"})
    expects = "a web page"

    def accepts(self, path: Path, head: bytes) -> bool:
        return True

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        page = html_to_text(decoded.text)
        if not page.text.strip():
            raise ReadError("empty: the page shows no text")
        return ParsedDocument(
            title=_title(page) or path.stem,
            kind=self.kind,
            pages=split_sections(*without_licence(page.text, page.headings, page.anchors)),
            url=page.url,
            warnings=(*decoded.warnings, *page.warnings),
        )


def _title(page: HtmlText) -> str:
    """The <title>, or the first h1 where that stands in it: sites add their own name to a page's title."""
    first = next((heading.title for heading in page.headings if heading.level == 1), "")
    return first if first and (not page.title or first in page.title) else page.title
