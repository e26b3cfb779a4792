"""HTML to text with headings: what a reader of the page sees, in the order it stands, without the page's furniture."""

import html
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from core.domain.corpus import Heading
from core.ingestion.encodings import clean
from core.ingestion.html_furniture import is_dropped

# Open elements at once from which parsing gets slow and the page is no document: real pages stay under 100.
MAX_DEPTH = 4_000
# Share of the body's text that <main> has to hold to be taken for the content.
MIN_MAIN_SHARE = 0.25

_PARAGRAPHS = frozenset(
    "p h1 h2 h3 h4 h5 h6 table ul ol dl blockquote pre hr figure article section details fieldset".split()
)
_LINES = frozenset(
    "div li dt dd tr caption address main header footer aside nav body form figcaption summary legend thead tbody "
    "tfoot center dir menu hgroup search br".split()
)
_BLOCKS = _PARAGRAPHS | _LINES
_CELLS = frozenset({"td", "th"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_IN_CELL_BLOCKS = "h1,h2,h3,h4,h5,h6,table,pre,ul,ol,dl"
# Elements that need no end tag: they say nothing about depth.
_UNCOUNTED = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead tbody tfoot option "
    "optgroup colgroup rp rt".split()
)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")
_MARKUP = re.compile(r"<(!--)|(--)>|<(/?)([A-Za-z][A-Za-z0-9-]*)[^<>]*>")
_SPACE = re.compile(r"[ \t\n\r\f]+")


@dataclass(frozen=True, slots=True)
class HtmlText:
    """The text of a page, its headings, and ids with their places: of headings, and those that were asked for."""

    text: str
    headings: tuple[Heading, ...] = ()
    anchors: tuple[tuple[str, int], ...] = ()
    title: str = ""  # of the <title> element
    url: str | None = None  # the canonical address
    warnings: tuple[str, ...] = ()


def html_to_text(source: str, *, book: bool = False, ids: Collection[str] = ()) -> HtmlText:
    """Text of a page or a fragment of HTML.

    Blocks end lines, the cells of a row are separated by tabs, inline elements add nothing, runs of white space are
    one space outside of <pre>, entities are decoded. Left out: scripts, styles, hidden elements, navigation, and a
    header, footer or aside that stands outside of the content (a header that holds the h1 stays). A `book` has no such
    furniture: all but scripts and navigation stays. `ids` are those of further elements whose places are wanted.
    """
    if _depth(source) > MAX_DEPTH:
        return HtmlText(_without_markup(source), warnings=("nested too deeply: read without headings and tables",))
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(clean(source))
    writer = _Writer(frozenset(ids))
    for root in [tree.body] if book and tree.body is not None else _roots(tree):
        _write(root, writer, book=book)
    text, headings, anchors = writer.finish()
    title = tree.css_first("head title")
    return HtmlText(
        text=text,
        headings=headings,
        anchors=anchors,
        title=" ".join(title.text().split()) if title else "",
        url=_canonical(tree),
    )


def has_markup(text: str) -> bool:
    """Whether a string that may be plain holds tags or entities."""
    return bool(_TAG.search(text)) or html.unescape(text) != text


def _depth(source: str) -> int:
    depth = deepest = 0
    for match in _TAG.finditer(source):
        if match[2].lower() in _UNCOUNTED:
            continue
        depth = max(0, depth - 1) if match[1] else depth + 1
        deepest = max(deepest, depth)
    return deepest


def _without_markup(source: str) -> str:
    """The text between tags, one pass: neither comments nor scripts and styles, closed or not."""
    pieces = []
    place = 0
    hidden = ""  # what has to end before text counts again: "--", "script" or "style"
    for match in _MARKUP.finditer(source):
        name = (match[4] or "").lower()
        if not hidden:
            pieces.append(source[place : match.start()])
            hidden = "--" if match[1] else name if name in ("script", "style") and not match[3] else ""
        elif hidden == match[2] or (hidden == name and match[3]):
            hidden = ""
        place = match.end()
    pieces.append("" if hidden else source[place:])
    lines = (" ".join(line.split()) for line in html.unescape(clean(" ".join(pieces))).splitlines())
    return clean("\n".join(line for line in lines if line))


def _canonical(tree: Any) -> str | None:
    for selector, attribute in (('link[rel="canonical"]', "href"), ('meta[property="og:url"]', "content")):
        node = tree.css_first(selector)
        address = (node.attributes.get(attribute) or "").strip() if node else ""
        if address.startswith(("http://", "https://")):
            return address
    return None


def _roots(tree: Any) -> list[Any]:
    body = tree.body
    if body is None:
        return [tree.root] if tree.root is not None else []
    main = tree.css("main, [role=main]")[:1]
    if main and len(main[0].text()) >= len(body.text()) * MIN_MAIN_SHARE:
        return list(main)
    return [body]


def _write(root: Any, writer: "_Writer", *, book: bool) -> None:
    for node, is_start in _walk(root, book=book):
        tag = node.tag
        if tag == "-text":
            writer.add_text(node.text_content or "")
        elif is_start:
            writer.open(tag, node)
        else:
            writer.close(tag, node)


def _walk(root: Any, *, book: bool) -> Iterator[tuple[Any, bool]]:
    """Starts and ends of elements in document order, without recursion; what is dropped is not entered."""
    node, open_nodes = root, []
    while True:
        if node.tag == "-text":
            yield node, True
        elif not is_dropped(node, book=book):
            yield node, True
            if node.child is not None:
                open_nodes.append(node)
                node = node.child
                continue
            yield node, False
        while open_nodes and node.next is None:
            node = open_nodes.pop()
            yield node, False
        if not open_nodes:
            return
        node = node.next


def _note_reference(node: Any) -> bool:
    """Whether a link is the number of a footnote that stands bare in the text."""
    attributes = node.attributes
    marks = f"{attributes.get('role') or ''} {attributes.get('epub:type') or ''}".split()
    return bool({"noteref", "doc-noteref"} & set(marks)) and node.text().strip()[:1].isalnum()


class _Writer:
    """Text as it grows. What separates two texts waits until the second follows, so none stands at the ends."""

    def __init__(self, ids: frozenset[str] = frozenset()) -> None:
        self._ids = ids
        self._waiting_ids: list[str] = []  # of open elements whose text has not begun
        self._pieces: list[str] = []
        self._length = 0
        self._gap = _Gap()
        self._preformatted = 0
        self._cells: list[bool] = []  # open cells: does its text stay on the row's line
        self._headings: list[Heading] = []
        self._anchors: list[tuple[str, int]] = []
        self._open_heading: tuple[int, int] | None = None  # its level, and how many pieces stand before it
        self._heading_ids: list[str] = []

    def open(self, tag: str, node: Any) -> None:
        if self._ids and node.attributes.get("id") in self._ids:
            self._waiting_ids.append(node.attributes["id"])
        if tag in _CELLS:
            self._cells.append(node.css_first(_IN_CELL_BLOCKS) is None)
        elif tag in _BLOCKS:
            self._end_block(tag)
        if tag == "pre":
            self._preformatted += 1
        if tag in _HEADINGS and self._open_heading is None:
            self._open_heading = (_HEADINGS[tag], len(self._pieces))
            self._heading_ids = []
        if self._open_heading is not None:
            self._heading_ids.extend(filter(None, [node.attributes.get("id")]))
        if tag == "a" and _note_reference(node):
            self._append("[")

    def close(self, tag: str, node: Any) -> None:
        if tag == "a" and _note_reference(node):
            self._append("]")
        if self._open_heading is not None and _HEADINGS.get(tag) == self._open_heading[0]:
            self._end_heading(*self._open_heading)
        if tag in _CELLS:
            self._cells.pop()
            self._gap.tabs += 1
        elif tag in _BLOCKS:
            self._end_block(tag)
        if tag == "pre":
            self._preformatted -= 1

    def add_text(self, text: str) -> None:
        if self._preformatted:
            self._append(text)
            return
        text = _SPACE.sub(" ", text)
        self._gap.space |= text.startswith(" ")
        inner = text.strip(" ")
        if inner:
            self._append(inner)
            self._gap.space = text.endswith(" ")

    def finish(self) -> tuple[str, tuple[Heading, ...], tuple[tuple[str, int], ...]]:
        text = "".join(self._pieces).rstrip()
        anchors = dict.fromkeys(sorted(self._anchors, key=lambda anchor: anchor[1]))  # a heading's id may be asked for
        return text, tuple(self._headings), tuple(anchor for anchor in anchors if anchor[1] < len(text))

    def _append(self, text: str) -> None:
        if self._length:
            self._put(self._gap.text())
        self._gap = _Gap()
        self._anchors.extend((name, self._length) for name in self._waiting_ids)
        self._waiting_ids.clear()
        self._put(text)

    def _put(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)

    def _end_block(self, tag: str) -> None:
        on_one_line = self._open_heading is not None or (bool(self._cells) and self._cells[-1])
        if on_one_line and tag != "tr":
            self._gap.space = True
        else:
            self._gap.lines = max(self._gap.lines, 2 if tag in _PARAGRAPHS else 1)
            self._gap.tabs = 0

    def _end_heading(self, level: int, before: int) -> None:
        pieces = self._pieces[before:]
        if before:
            pieces = pieces[1:]  # what separates it from the text above
        title = " ".join("".join(pieces).split())
        self._open_heading = None
        if title:
            start = self._length - sum(map(len, pieces))
            self._headings.append(Heading(level=level, title=title, start=start))
            self._anchors.extend((name, start) for name in self._heading_ids)


@dataclass(slots=True)
class _Gap:
    """What separates two texts: line ends, tabs between cells (an empty cell keeps its tab), or a space."""

    lines: int = 0
    tabs: int = 0
    space: bool = False

    def text(self) -> str:
        return "\n" * self.lines + "\t" * self.tabs or " " * self.space
