"""EPUB books: a page for each chapter, in reading order, under the titles of the table of contents."""

from pathlib import Path

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.archives import ZIP_MARK, open_archive
from storage.documents.books.epub_chapters import Part, build_pages
from storage.documents.books.epub_package import Book, read_book, to_html
from storage.documents.html.text import html_to_text


class EpubReader:
    """Reads `.epub`, versions 2 and 3.

    Left out are cover, title pages, imprint, colophon and the table of contents, and a licence of Project Gutenberg;
    a dedication, preface and the like come after the last chapter, so that chapters count from page 1.
    Footnotes stay with their chapter, endnotes are a page of their own. Anchors are the names of the book's files and
    of the places its table of contents leads to.
    """

    kind = "epub"
    suffixes = frozenset({".epub"})
    expects = "an EPUB (no ZIP container)"

    def accepts(self, path: Path, head: bytes) -> bool:
        return head.startswith(ZIP_MARK)

    def read(self, path: Path, root: Path) -> ParsedDocument:
        with open_archive(path, "EPUB") as archive:
            book = read_book(archive)
            missing = 0
            parts = []
            for name in book.files:
                try:
                    source = to_html(archive.read(name))
                except ReadError as error:
                    if not str(error).startswith("empty"):
                        raise
                    missing += 1
                    continue
                parts.append(_to_part(book, name, source))
        pages = build_pages(book, parts)
        if not pages:
            raise ReadError("empty: the book has no text; are its pages pictures?")
        return ParsedDocument(
            title=book.title or path.stem,
            kind=self.kind,
            pages=pages,
            warnings=(f"{missing} file{'s' * (missing > 1)} of the book without text left out",) if missing else (),
        )


def _to_part(book: Book, name: str, source: str) -> Part:
    wanted = {entry.fragment for entry in book.entries if entry.path == name and entry.fragment}
    page = html_to_text(source, book=True, ids=wanted)
    return Part(
        path=name,
        text=page.text,
        headings=page.headings,
        places={anchor: place for anchor, place in page.anchors if anchor in wanted},
        roles=book.roles.get(name, frozenset()) | _own_roles(source),
    )


def _own_roles(source: str) -> frozenset[str]:
    """What the file's body and the first section in it say they are: `epub:type` and `role`."""
    from selectolax.lexbor import LexborHTMLParser

    roles: set[str] = set()
    tree = LexborHTMLParser(source)
    for node in (tree.body, tree.css_first("body > section, body > article, body > div, body > main > section")):
        if node is not None:
            marks = f"{node.attributes.get('epub:type') or ''} {node.attributes.get('role') or ''}".lower()
            roles.update(mark.removeprefix("doc-") for mark in marks.split())
    return frozenset(roles)
