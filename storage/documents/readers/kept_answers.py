"""Answers that people kept (core/features/kept_answers.py): a page for each, at the address of its message."""

from pathlib import Path

from core.domain.corpus import Heading, ParsedDocument, ParsedPage
from core.domain.footnotes import web_address
from core.domain.kept_answers import KEPT_MARK, KeptSection, read_sections
from core.errors import ReadError
from storage.documents.texts.encodings import decode


class KeptAnswersReader:
    """Reads `.md` files that begin with the mark of kept answers."""

    kind = "kept"
    suffixes = frozenset({".md"})
    expects = "a file of kept answers"

    def accepts(self, path: Path, head: bytes) -> bool:
        return head.startswith(KEPT_MARK.encode())

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        sections = read_sections(decoded.text)
        if not sections:
            raise ReadError("empty: no kept answer stands in it")
        return ParsedDocument(
            title=path.stem, kind=self.kind, pages=tuple(map(_to_page, sections)), warnings=decoded.warnings
        )


def _to_page(section: KeptSection) -> ParsedPage:
    return ParsedPage(
        title=section.title,
        text=section.text,
        headings=(Heading(level=2, title=section.title, start=0),),
        deep_link=web_address(section.link),
    )
