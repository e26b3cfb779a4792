"""Plain text files: one page, or a page for each chapter where the text has clear chapter headings."""

import re
from pathlib import Path

from core.domain.corpus import ParsedDocument
from storage.documents.books.chapters import book_span, find_chapters
from storage.documents.texts.encodings import decode
from storage.documents.texts.sections import split_sections

# Characters at the front of a file in which a "Title:" line names the work.
TITLE_WITHIN = 2_000

_TITLE = re.compile(r"^Title:[ \t]*(\S.{0,150})$", re.MULTILINE)


class PlainTextReader:
    """Reads `.txt` and `.text` in any encoding; the page text is the file's text.

    Left out are the header and the licence of Project Gutenberg.
    """

    kind = "text"
    suffixes = frozenset({".txt", ".text"})
    expects = "a text file"

    def accepts(self, path: Path, head: bytes) -> bool:
        return True

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        title = _TITLE.search(decoded.text, 0, TITLE_WITHIN)
        text = book_span(decoded.text).of(decoded.text)
        return ParsedDocument(
            title=title[1].strip() if title else path.stem,
            kind=self.kind,
            pages=split_sections(text, find_chapters(text)),
            warnings=decoded.warnings,
        )
