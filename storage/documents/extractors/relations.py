"""Relations, directed: links, parts and definitions."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from core.domain.corpus import Document, Page
from core.domain.extracts import ExtractorInput, ExtractType, Found
from core.domain.passages import Span
from core.text.words import collapse
from storage.documents.foundry.links import COMMAND, find_mentions, name_of
from storage.documents.markup.definitions import define
from storage.documents.markup.marked_text import Line, MarkedText, line_at
from storage.documents.texts.sections import paths_above

LINKS_TO = "links to"
EMBEDS = "embeds"
PART_OF = "part of"
DEFINES = "defines"

MAX_NAME = 500

_WIKILINK = re.compile(r"(?<!\\)(?P<embed>!?)\[\[(?P<target>[^\[\]|\n]{1,300})(?:\|[^\[\]\n]{0,300})?\]\]")
_LINK = re.compile(
    r"(?<![\\!])\[(?:[^\[\]\n\\]|\\.){1,300}\]\(<?(?P<target>[^()<>\s]{1,500}(?:\([^()\s]{0,100}\)[^()<>\s]{0,100})?)"
    r">?(?:\s+\"[^\"\n]{0,200}\")?\)"
)
_DEFINED_LINK = re.compile(r"\[[^\[\]\n^]{1,200}\]:\s+<?(?P<target>[^<>\s]{1,500})>?")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_NOTES = frozenset({".md", ".mdx", ".markdown", ".html", ".htm", ".rst", ".org", ".txt"})
_CODE = re.compile(r"`[^`\n]{1,300}`")


class RelationsExtractor:
    """One finding for each pair and kind in a document, at its first place."""

    name = "relations"
    version = 3
    types = frozenset({ExtractType.RELATION})

    def reads(self, document: Document) -> bool:
        return True

    def extract(self, given: ExtractorInput) -> Iterable[Found]:
        found: dict[tuple[object, ...], Found] = {}
        for item in sorted(_all(given), key=lambda item: (item.page_number, item.span)):
            data = item.data
            if data["source"] != data["target"]:
                found.setdefault((data["source"], data["kind"], data["target"], data["target_document"]), item)
        paths = {(item.data["source"], item.data["target"]) for item in found.values() if item.data["target_document"]}
        return [item for item in found.values() if not _is_told_better(item, paths)]


def _is_told_better(item: Found, paths: set[tuple[object, object]]) -> bool:
    """Return whether a wikilink repeats a link to a file: editors list those below a note."""
    data = item.data
    return data["kind"] == LINKS_TO and not data["target_document"] and (data["source"], data["target"]) in paths


def _all(given: ExtractorInput) -> Iterator[Found]:
    yield from _headings(given)
    for page, defined in define(given):
        title = given.document.title
        yield _to_found(page, defined.span, title, DEFINES, defined.name, confidence=defined.confidence)
    if given.document.kind == "foundry":
        for item in find_mentions(given.path, given.pages):
            kind = EMBEDS if item.is_embed else LINKS_TO
            yield _to_found(item.page, item.span, item.page.title or given.document.title, kind, item.name)
    for page in given.pages:
        source = page.title if given.document.kind == "foundry" and page.title else given.document.title
        for line in MarkedText(page).lines:
            if not line.in_code:
                yield from _in_line(line, page, source, given.document)


def _in_line(line: Line, page: Page, source: str, document: Document) -> Iterator[Found]:
    text = _CODE.sub(lambda match: " " * len(match[0]), line.text)
    if "[[" in text:
        for match in _WIKILINK.finditer(text):
            kind = EMBEDS if match["embed"] else LINKS_TO
            target = collapse(match["target"].partition("#")[0]).rstrip("\\").strip()  # "" within its own note
            if target:
                yield _to_found(page, _within(line, match), source, kind, target)
    if "](" in text or "]:" in text:
        found = list(_LINK.finditer(text))
        defined = _DEFINED_LINK.match(text)
        for match in [*found, *([defined] if defined else [])]:
            path = target_path(match["target"], document.path)
            if path:
                yield _to_found(page, _within(line, match), source, LINKS_TO, _stem(path), path=path)
    if "@" in text:
        for match in COMMAND.finditer(text):
            target = name_of(match, {})
            if target:
                kind = EMBEDS if match["kind"] == "Embed" else LINKS_TO
                yield _to_found(page, _within(line, match), source, kind, target)


def _within(line: Line, match: re.Match[str]) -> Span:
    return Span(line.span.start + match.start(), line.span.start + match.end())


def target_path(link: str, path: str) -> str | None:
    """Return the path, within its source, of the file behind a link in the document at `path`.

    None for web addresses, for links within the document and for files outside of the source.
    """
    if _SCHEME.match(link) or link.startswith("#"):
        return None
    target = unquote(link.partition("#")[0].partition("?")[0])
    if not target or "\0" in target or target.startswith("/"):
        return None
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return None if joined.startswith("..") or joined in (".", path) else joined


def _stem(path: str) -> str:
    """Return a file's name as a wikilink would write it."""
    name = posixpath.basename(path)
    stem, suffix = posixpath.splitext(name)
    return stem if suffix.lower() in _NOTES else name


def _headings(given: ExtractorInput) -> Iterator[Found]:
    """Yield each heading as part of the one above it, a topmost one as part of its document."""
    for page in given.pages:
        for heading, above in zip(page.headings, paths_above(page.headings), strict=True):
            parent = [given.document.title, *page.heading_path, *above][-1]
            span = line_at(page.text, heading.start)
            if span is not None:
                yield _to_found(page, span, heading.title, PART_OF, parent, confidence=1.0)


def _to_found(
    page: Page, span: Span, source: str, kind: str, target: str, *, path: str | None = None, confidence: float = 0.95
) -> Found:
    data = {"source": source[:MAX_NAME], "kind": kind, "target": target[:MAX_NAME], "target_document": path}
    return Found(type=ExtractType.RELATION, page_number=page.number, span=span, data=data, confidence=confidence)
