"""Markdown notes, alone or in a vault: the page text is the source text, so every quote is verbatim in the file."""

from pathlib import Path

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from core.ingestion.encodings import decode
from core.ingestion.markdown_text import FrontMatter, read_front_matter, read_markdown
from core.ingestion.sections import split_sections


class MarkdownVaultReader:
    """Reads `.md`, `.markdown` and `.mdx`; a page for each top-level section, front matter left out."""

    kind = "markdown"
    suffixes = frozenset({".md", ".markdown", ".mdx"})
    expects = "a Markdown note"

    def accepts(self, path: Path, head: bytes) -> bool:
        return True

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        front = read_front_matter(decoded.text)
        body = decoded.text[front.body_start :]
        if not body.strip():
            raise ReadError("empty: nothing after the front matter")
        parts = read_markdown(body)
        first = next((heading.title for heading in parts.headings if heading.level == 1), "")
        return ParsedDocument(
            title=front.string("title") or first or path.stem,
            kind=self.kind,
            pages=split_sections(body, parts.headings, parts.anchors),
            aliases=front.strings("aliases", "alias"),
            url=_address(front),
            links=parts.links,
            warnings=(*decoded.warnings, *front.warnings),
        )


def _address(front: FrontMatter) -> str | None:
    for key in ("url", "source"):
        if front.string(key).startswith(("http://", "https://")):
            return front.string(key)
    return None
