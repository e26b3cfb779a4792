"""Markdown notes, alone or in a vault: the page text is the source text, so every quote is verbatim in the file."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from core.domain.corpus import Heading, ParsedDocument
from core.errors import ReadError
from storage.documents.markup.markdown_text import FrontMatter, MarkdownParts, read_front_matter, read_markdown
from storage.documents.markup.outline_text import (
    block_ids,
    block_references,
    is_outline,
    list_of_names,
    read_headings,
    read_properties,
)
from storage.documents.texts.encodings import decode
from storage.documents.texts.sections import split_sections

# The folder that a Logseq graph keeps its settings in.
_LOGSEQ = "logseq"


class MarkdownVaultReader:
    """Reads `.md`, `.markdown` and `.mdx`; a page for each top-level section, front matter left out.

    Of Obsidian: aliases, wikilinks, embeds, `^block` ids. Of Logseq: `key:: value` properties at the front, headings in
    bullets, `id::` and `((block))` references, and names of files that stand for names of pages.
    """

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
        properties = read_properties(body)
        headings = _headings(body, parts)
        first = next((heading.title for heading in headings if heading.level == 1), "")
        return ParsedDocument(
            title=front.string("title") or properties.get("title") or first or _name(path, root),
            kind=self.kind,
            pages=split_sections(body, headings, _anchors(body, parts)),
            aliases=front.strings("aliases", "alias") or _aliases(properties),
            url=_address(front, properties),
            links=(*parts.links, *block_references(body)),
            warnings=(*decoded.warnings, *front.warnings),
        )


def _headings(body: str, parts: MarkdownParts) -> tuple[Heading, ...]:
    """Those of the text; in an outline, which has none, those of its bullets."""
    if parts.headings or not is_outline(body):
        return parts.headings
    from markdown_it import MarkdownIt

    return read_headings(body, MarkdownIt("commonmark").parseInline)


def _anchors(body: str, parts: MarkdownParts) -> list[tuple[str, int]]:
    return sorted([*parts.anchors, *block_ids(body)], key=lambda anchor: anchor[1])


def _aliases(properties: Mapping[str, str]) -> tuple[str, ...]:
    return list_of_names(properties.get("alias") or properties.get("aliases") or "")


def _name(path: Path, root: Path) -> str:
    """The name of a note: that of its file; a graph of Logseq writes `a___b%3F` for the page "a/b?"."""
    if path.parent.name in ("pages", "journals") and (path.parent.parent / _LOGSEQ).is_dir() and path.parent != root:
        return unquote(path.stem.replace("___", "/")).strip() or path.stem
    return path.stem


def _address(front: FrontMatter, properties: Mapping[str, str]) -> str | None:
    for key in ("url", "source"):
        for value in (front.string(key), properties.get(key, "")):
            if value.startswith(("http://", "https://")):
                return value
    return None
