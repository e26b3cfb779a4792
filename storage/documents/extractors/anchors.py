"""Anchors, the named places of a text: figures and tables with captions, block ids, definitions, headings."""

import re
from collections.abc import Iterable, Iterator, Sequence

from core.domain.corpus import Document, Page
from core.domain.extracts import ExtractorInput, ExtractType, Found
from core.domain.passages import Span
from core.text.words import shorten
from storage.documents.markup.definitions import define
from storage.documents.markup.marked_text import Line, MarkedText, line_at, plain

MAX_CAPTION = 300
MAX_NAME = 200

_NUMBER = r"(?:[A-Z]{1,2}[-.]?)?\d{1,4}(?:[.\-–]\d{1,3}){0,3}[a-z]?|[IVXL]{1,6}"
_CAPTION = re.compile(
    rf"(?P<word>Fig(?:ure|\.)?|Table|Tab\.|Exhibit|Chart|Diagram|Map|Plate|Illustration|Listing|Abbildung|Abb\.|Tabelle|"
    rf"Tableau|Figura|Tabla)\s(?P<number>{_NUMBER})(?P<mark>\s?[.:—–|]|\s-\s|\))?(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_TABLE_WORDS = frozenset({"table", "tab.", "tabelle", "tableau", "tabla"})
_FULL_WORDS = {"fig": "Figure", "fig.": "Figure", "tab.": "Table", "abb.": "Abbildung"}
# "Table 2 shows ...": a sentence about the table, not its caption.
_SENTENCE = re.compile(r"\s*(?:[a-z(]|and\b|or\b)")
_IMAGE = re.compile(r"!\[(?P<alt>(?:[^\[\]\n\\]|\\.){1,300})\]\([^()\s]{1,500}(?:\s+\"[^\"\n]{0,200}\")?\)")
_FILE_NAME = re.compile(
    r"[\w./-]+\.(?:png|jpe?g|gif|svg|webp)|(?:image|img|screenshot|picture|alt)[\s\d_-]*", re.IGNORECASE
)
_BLOCK_ID = re.compile(r"(?:^|\s)\^(?P<id>[A-Za-z0-9-]{1,100})$")


class AnchorsExtractor:
    """Every anchor of a document, in text order."""

    name = "anchors"
    version = 2
    types = frozenset({ExtractType.ANCHOR})

    def reads(self, document: Document) -> bool:
        return True

    def extract(self, given: ExtractorInput) -> Iterable[Found]:
        found = [item for page in given.pages for item in _in_page(MarkedText(page))]
        found += [
            _to_found(page, item.span, item.name, "definition", item.text, item.confidence)
            for page, item in define(given)
        ]
        return sorted(found, key=lambda item: (item.page_number, item.span, str(item.data["kind"])))


def _in_page(text: MarkedText) -> Iterator[Found]:
    above = " > ".join(text.page.heading_path)
    for line, title in text.titles():
        yield _to_found(text.page, line.span, title, "heading", above, 1.0)
    yield from _captions(text)
    yield from _images(text)
    yield from _named_places(text)


def _captions(text: MarkedText) -> Iterator[Found]:
    seen: set[str] = set()
    for at, line in enumerate(text.lines):
        if line.in_code or line.is_row or not line.text[:8].strip("*_ >#").lower().startswith(_STARTS):
            continue
        match = _CAPTION.fullmatch(plain(line.text))
        if match is None or not _is_caption(match, line):
            continue
        word = match["word"].lower()
        name = f"{_FULL_WORDS.get(word, match['word'].capitalize())} {match['number']}"
        if name not in seen:
            seen.add(name)
            caption, span = _whole_caption(text.lines, at, match["rest"])
            near_table = any(other.is_row for other in text.lines[max(0, at - 1) : at + 2])
            kind = "table" if word in _TABLE_WORDS or near_table else "figure"
            yield _to_found(text.page, span, name, kind, caption, 0.9 if match["mark"] else 0.75)


_STARTS = ("fig", "tab", "exh", "cha", "dia", "map", "pla", "ill", "lis", "abb")


def _is_caption(match: re.Match[str], line: Line) -> bool:
    rest = match["rest"]
    if not match["word"][0].isupper():
        return False
    if match["mark"]:
        return True
    return not rest.strip() or (rest[:1].isspace() and not _SENTENCE.match(rest) and len(line.text) < MAX_CAPTION)


def _whole_caption(lines: Sequence[Line], at: int, rest: str) -> tuple[str, Span]:
    """Return the caption, with the line after it if it is only a number."""
    line = lines[at]
    said = rest.lstrip(" .:—–|-)").rstrip()
    following = lines[at + 1] if at + 1 < len(lines) else None
    if not said and following is not None and not (following.is_row or following.heading or following.in_code):
        return plain(following.text), Span(line.span.start, following.span.end)
    return said, line.span


def _images(text: MarkedText) -> Iterator[Found]:
    """Yield pictures with a descriptive text."""
    for line in text.lines:
        if line.in_code or "![" not in line.text:
            continue
        for match in _IMAGE.finditer(line.text):
            alt = plain(match["alt"])
            if alt and not _FILE_NAME.fullmatch(alt):
                span = Span(line.span.start + match.start(), line.span.start + match.end())
                yield _to_found(text.page, span, alt, "figure", alt, 0.7)


def _named_places(text: MarkedText) -> Iterator[Found]:
    """Yield block ids and the document's own ids of places; a heading's id is the heading itself."""
    headings = {heading.start for heading in text.page.headings}
    blocks = {match["id"] for line in text.lines if (match := _BLOCK_ID.search(line.text[-110:]))}
    for name, place in text.page.anchors:
        if place in headings or not name.strip():
            continue
        span = line_at(text.text, place)
        if span is not None:
            said = plain(span.of(text.text))
            yield _to_found(text.page, span, f"^{name}" if name in blocks else name, "block", said, 1.0)


def _to_found(page: Page, span: Span, name: str, kind: str, caption: str, confidence: float) -> Found:
    data = {"name": shorten(name, MAX_NAME), "kind": kind, "caption": shorten(caption, MAX_CAPTION)}
    return Found(type=ExtractType.ANCHOR, page_number=page.number, span=span, data=data, confidence=confidence)
