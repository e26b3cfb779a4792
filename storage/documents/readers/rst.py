"""reStructuredText files: a page for each top-level section, as Markdown."""

from pathlib import Path

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from core.text.words import collapse
from storage.documents.markup.rst_parsing import parse
from storage.documents.markup.rst_text import fields_of, to_markdown
from storage.documents.texts.encodings import clean, decode
from storage.documents.texts.sections import split_sections


class RstReader:
    """Reads `.rst` and `.rest`, those of Sphinx included.

    Files that a document includes are not read and nothing in it is run. What directives nobody knows hold is read as
    text. Anchors are the labels of sections.
    """

    kind = "rst"
    suffixes = frozenset({".rst", ".rest"})
    expects = "a reStructuredText file"

    def accepts(self, path: Path, head: bytes) -> bool:
        return True

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        tree = parse(decoded.text)
        try:
            text, headings, anchors = to_markdown(tree)
        except RecursionError as error:
            raise ReadError("nested too deeply to be read") from error
        if not text.strip():
            raise ReadError("empty: nothing but comments and directives that show nothing")
        first = headings[0].title if headings and headings[0].level == 1 else ""
        return ParsedDocument(
            title=collapse(clean(fields_of(tree).get("title", ""))) or first or path.stem,
            kind=self.kind,
            pages=split_sections(text, headings, anchors),
            warnings=decoded.warnings,
        )
