"""Answers that people kept (core/features/kept_answers.py): a page with the address of its message."""

from pathlib import Path

from core.domain.corpus import Heading, ParsedDocument, ParsedPage
from core.domain.footnotes import web_address
from core.domain.kept_answers import KEPT_KIND, KEPT_MARK, read_file
from core.errors import ReadError
from storage.documents.texts.encodings import decode


class KeptAnswersReader:
    """Reads `.md` files that begin with the mark of kept answers."""

    kind = KEPT_KIND
    suffixes = frozenset({".md"})
    expects = "a file of a kept answer"

    def accepts(self, path: Path, head: bytes) -> bool:
        return head.startswith(KEPT_MARK.encode())

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        kept = read_file(decoded.text)
        if kept is None:
            raise ReadError("empty: no kept answer stands in it")
        page = ParsedPage(
            title=kept.question,
            text=kept.text,
            headings=(Heading(level=2, title=kept.question, start=0),),
            deep_link=web_address(kept.link),
        )
        return ParsedDocument(title=kept.title, kind=self.kind, pages=(page,), warnings=decoded.warnings)
