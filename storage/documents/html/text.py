"""HTML converted to text with headings, without boilerplate."""

import html
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from core.domain.corpus import Heading
from core.text.words import collapse
from storage.documents.texts.encodings import clean, say_hidden

# Never text of a page, in books as little as on the web.
DROPPED = frozenset(
    "script style template noscript svg iframe object embed canvas audio video head nav button select textarea input "
    "datalist dialog frameset map annotation annotation-xml".split()
)
_ROLES = frozenset({"navigation", "search", "banner", "contentinfo", "menu", "menubar", "toolbar"})
# Class names and ids that sites give to repeated elements: whole words, no guesses.
_NAMES = frozenset(
    "breadcrumb breadcrumbs navbar site-nav main-nav nav-menu navbox sidebar-nav pagination pager prev-next skip-link "
    "skip-links skip-to-content skiplink sr-only-focusable mw-jump-link mw-editsection mw-portlet catlinks printfooter "
    "noprint headerlink anchor-link hash-link sphinxsidebar site-footer page-footer site-header back-to-top edit-page "
    "edit-this-page theme-edit-this-page social-share share-buttons sharedaddy newsletter-signup related-posts "
    "dropdown-menu onetrust-consent-sdk CybotCookiebotDialog usercentrics-root".split()
)
_ASKS_FOR_CONSENT = re.compile(
    r"(?:.*[-_])?(?:cookie|cookies|gdpr|consent)[-_]?(?:consent|banner|bar|notice|popup|overlay|dialog|modal|message|law)"
    r"(?:[-_].*)?|cc-(?:window|banner)",
    re.IGNORECASE,
)
# Content of real pages: an element that holds it is kept, because some sites give such names to a whole page.
_CONTENT = "h1, main, article, [role=main]"
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
# Styles that hide text from every eye: size, opacity, a place off the page, white without a background.
_SIZES = re.compile(
    r"(?<![\w-])(font-size|opacity)\s*+:\s*+(\d++(?:\.\d++)?|\.\d++)\s*+(px|pt|em|rem|%)?", re.IGNORECASE
)
_SMALLEST = {"opacity": 0.05, "em": 0.1, "rem": 0.1, "%": 5.0}  # visible from here on; by default in points: 2
_UNSEEN = re.compile(
    r"(?<![\w-])(?:visibility\s*+:\s*+(?:hidden|collapse)|(?:left|top|text-indent|margin-left|margin-top)\s*+:\s*+-\d{3,})",
    re.IGNORECASE,
)
_WHITE = re.compile(
    r"(?<![\w-])color\s*+:\s*+(?:white|transparent|#f{3}(?:f{3})?(?!\w)|rgba?\(\s*+255\s*+,\s*+255\s*+,\s*+255)",
    re.IGNORECASE,
)


def is_invisible(node: Any) -> bool:
    """Return whether an element's own style keeps a reader from seeing its text, though it is on the page."""
    style = node.attributes.get("style") or ""
    if not style:
        return False
    for kind, number, unit in _SIZES.findall(style):
        if float(number) < _SMALLEST.get(kind.lower(), _SMALLEST.get(unit.lower(), 2.0)):
            return True
    if _UNSEEN.search(style):
        return True
    return _WHITE.search(style) is not None and not any(map(_may_have_background, (node, *_parents(node))))


def _invisible(tree: Any) -> Iterator[Any]:
    """Yield the invisible elements that are in no other one."""
    found = set()
    for node in tree.css("[style]"):
        if not any(parent.mem_id in found for parent in _parents(node)) and is_invisible(node):
            found.add(node.mem_id)
            yield node


def _may_have_background(node: Any) -> bool:
    attributes = node.attributes
    named = {"class", "id", "bgcolor", "background"} & attributes.keys()
    return bool(named) or "background" in (attributes.get("style") or "").lower()


def is_dropped(node: Any, *, book: bool = False) -> bool:
    """Return whether an element has no text of the page, ignoring its parents.

    In a book, headers, footers, asides and hidden elements (pop-ups) belong to the text; the page numbers of a printed
    edition don't.
    """
    tag = node.tag
    if tag is None or tag in DROPPED or tag.startswith(("-", "!", "_")):  # None: `<?mso ...?>`
        return True
    attributes = node.attributes
    if is_invisible(node):
        return True
    if book:
        marks = f"{attributes.get('epub:type') or ''} {attributes.get('role') or ''}".split()
        return "pagebreak" in marks or "doc-pagebreak" in marks
    if "hidden" in attributes or attributes.get("role") in _ROLES:
        return True
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".split()
    is_named_so = any(name in _NAMES or _ASKS_FOR_CONSENT.fullmatch(name) for name in names)
    if is_named_so and tag not in ("html", "body", "main") and node.css_first(_CONTENT) is None:
        return True
    if _HIDDEN_STYLE.search(attributes.get("style") or ""):
        return True
    if tag in ("ul", "ol", "menu"):  # in a header: languages, tools, breadcrumbs
        return any(parent.tag == "header" for parent in _parents(node))
    return tag in ("header", "footer", "aside") and _is_boilerplate(node, tag)


def _is_boilerplate(node: Any, tag: str) -> bool:
    content = ("main", "article", "section", "blockquote")
    if any(parent.tag in content or parent.attributes.get("role") == "main" for parent in _parents(node)):
        return False
    return tag != "header" or node.css_first("h1") is None


def _parents(node: Any) -> Iterator[Any]:
    while (node := node.parent) is not None:
        yield node


# Open elements at once from which parsing gets slow and the page is no document: real pages stay under 100.
MAX_DEPTH = 4_000
# Share of the body's text that <main> has to hold to be taken for the content.
MIN_MAIN_SHARE = 0.25

# Elements that need no end tag: they say nothing about depth.
_UNCOUNTED = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead tbody tfoot option "
    "optgroup colgroup rp rt".split()
)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")
_MARKUP = re.compile(r"<(!--)|(--)>|<(/?)([A-Za-z][A-Za-z0-9-]*+)[^<>]*+>")


@dataclass(frozen=True, slots=True)
class HtmlText:
    """The text of a page, its headings, and the positions of ids: of headings and requested ones."""

    text: str
    headings: tuple[Heading, ...] = ()
    anchors: tuple[tuple[str, int], ...] = ()
    title: str = ""  # of the <title> element
    url: str | None = None  # the canonical address
    warnings: tuple[str, ...] = ()
    unseen: int = 0  # characters that a reader of the page can't see

    @property
    def hidden(self) -> tuple[str, ...]:
        """A sentence about text that a reader of the page can't see."""
        return say_hidden(self.unseen)


def html_to_text(source: str, *, book: bool = False, ids: Collection[str] = ()) -> HtmlText:
    """Convert a page or a fragment of HTML to text.

    Blocks end lines, the cells of a row are separated by tabs (a cell over several columns or rows keeps the others
    aligned), inline elements add nothing, runs of white space are one space outside of <pre>, entities are decoded.
    Left out: scripts, styles, hidden elements, navigation, and headers, footers and asides outside of the content (a
    header with the h1 stays). In a `book`, only scripts and navigation are left out. `ids` are more
    elements to locate.
    """
    if _depth(source) > MAX_DEPTH:
        return HtmlText(_without_markup(source), warnings=("nested too deeply: read without headings and tables",))
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(clean(source))
    writer = HtmlWriter(frozenset(ids))
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
        unseen=sum(len(collapse(node.text())) for node in _invisible(tree)),
    )


def has_markup(text: str) -> bool:
    """Return whether a possibly plain string has tags or entities."""
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
    """Return the text between tags, without comments, scripts and styles."""
    pieces = []
    place = 0
    hidden = ""  # the end of ignored text: "--", "script" or "style"
    for match in _MARKUP.finditer(source):
        name = (match[4] or "").lower()
        if not hidden:
            pieces.append(source[place : match.start()])
            hidden = "--" if match[1] else name if name in ("script", "style") and not match[3] else ""
        elif hidden == match[2] or (hidden == name and match[3]):
            hidden = ""
        place = match.end()
    pieces.append("" if hidden else source[place:])
    lines = (collapse(line) for line in html.unescape(clean(" ".join(pieces))).splitlines())
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


def _write(root: Any, writer: "HtmlWriter", *, book: bool) -> None:
    for node, is_start in _walk(root, book=book):
        tag = node.tag
        if tag == "-text":
            writer.add_text(node.text_content or "")
        elif is_start:
            writer.open(tag, node)
        else:
            writer.close(tag, node)


def _walk(root: Any, *, book: bool) -> Iterator[tuple[Any, bool]]:
    """Yield starts and ends of elements in document order, without recursion and without dropped elements."""
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


# Rows or columns one cell may cover, and columns of a table: a file may claim any number.
MAX_SPAN = 100
MAX_COLUMNS = 500
# Maximum characters of a cell to repeat in the rows it covers, so that each row is readable.
MAX_REPEATED = 80


@dataclass(slots=True)
class _Cover:
    rows: int  # still to come
    text: str


class TableGrid:
    """An open table, row by row, which adds tabs and the text of cells that span rows."""

    def __init__(self) -> None:
        self._column = 0
        self._covers: dict[int, _Cover] = {}

    def start_group(self) -> None:
        """Start a head, body or foot: cells don't span groups."""
        self._covers.clear()

    def start_row(self) -> None:
        self._column = 0

    def before_cell(self) -> str:
        """Return the text of cells from rows above, each with a tab, before the row's next own cell."""
        text = ""
        while self._column in self._covers:
            text += f"{self._take(self._column)}\t"
            self._column += 1
        return text

    def end_cell(self, text: str, *, columns: int = 1, rows: int = 1) -> str:
        """Return the tabs after a cell with `text` that covers so many columns and rows."""
        columns = max(1, min(columns, MAX_SPAN, MAX_COLUMNS - self._column))
        if rows > 1 and self._column < MAX_COLUMNS:
            repeated = text if len(text) <= MAX_REPEATED and not any(sign in text for sign in "\n\t") else ""
            for place in range(self._column, self._column + columns):
                says = repeated if place == self._column else ""
                self._covers[place] = _Cover(min(rows, MAX_SPAN) - 1, says)
        self._column += columns
        return "\t" * columns

    def end_row(self) -> str:
        """Return the text of cells from rows above, separated by tabs, after the row's last own cell."""
        cells = []
        for place in range(self._column, max(self._covers, default=-1) + 1):
            cells.append(self._take(place) if place in self._covers else "")
        while cells and not cells[-1]:
            cells.pop()
        return "\t".join(cells)

    def _take(self, place: int) -> str:
        cover = self._covers[place]
        cover.rows -= 1
        if cover.rows <= 0:
            del self._covers[place]
        return cover.text


def to_span(value: str | None) -> int:
    """Return the value of a colspan or rowspan, 1 if it is unreadable."""
    text = (value or "").strip()
    return max(int(text), 1) if text.isdecimal() and len(text) < 9 else 1


_PARAGRAPHS = frozenset(
    "p h1 h2 h3 h4 h5 h6 table ul ol dl blockquote pre hr figure article section details fieldset".split()
)
_LINES = frozenset(
    "div li dt dd tr caption address main header footer aside nav body form figcaption summary legend thead tbody "
    "tfoot center dir menu hgroup search br".split()
)
_BLOCKS = _PARAGRAPHS | _LINES
_CELLS = frozenset({"td", "th"})
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_IN_CELL_BLOCKS = "h1,h2,h3,h4,h5,h6,table,pre,ul,ol,dl"
# Prefix of each line of a definition in a definition list.
MEANING_INDENT = "    "
_SPACE = re.compile(r"[ \t\n\r\f]+")


class HtmlWriter:
    """Text from HTML elements. Separators are written before the next text, so that none is at the ends."""

    def __init__(self, ids: frozenset[str] = frozenset()) -> None:
        self._ids = ids
        self._waiting_ids: list[str] = []  # of open elements whose text has not begun
        self._pieces: list[str] = []
        self._length = 0
        self._gap = _Gap()
        self._preformatted = 0
        self._meanings = 0  # open <dd>
        self._cells: list[_Cell] = []
        self._tables: list[TableGrid] = []
        self._row_start = 0
        self._headings: list[Heading] = []
        self._anchors: list[tuple[str, int]] = []
        self._open_heading: tuple[int, int] | None = None  # its level, and the number of pieces before it
        self._heading_ids: list[str] = []

    def open(self, tag: str, node: Any) -> None:
        if self._ids and node.attributes.get("id") in self._ids:
            self._waiting_ids.append(node.attributes["id"])
        if tag in _CELLS:
            self._cells.append(_Cell(node.css_first(_IN_CELL_BLOCKS) is None, len(self._pieces), self._length))
            if self._tables:
                self._gap.tail += self._tables[-1].before_cell()
        elif tag in _BLOCKS:
            self._end_block(tag)
        if tag == "dd":
            self._meanings += 1
        if tag == "table":
            self._tables.append(TableGrid())
        elif tag == "tr" and self._tables:
            self._row_start = self._length
            self._tables[-1].start_row()
        elif tag in _ROW_GROUPS and self._tables:
            self._tables[-1].start_group()
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
            self._close_cell(node)
        elif tag == "tr" and self._tables:
            behind = self._tables[-1].end_row()
            if behind and self._length > self._row_start:
                self._append(behind)
            self._end_block(tag)
        elif tag in _BLOCKS:
            self._end_block(tag)
        if tag == "table" and self._tables:
            self._tables.pop()
        if tag == "pre":
            self._preformatted -= 1
        if tag == "dd":
            self._meanings -= 1

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

    def _close_cell(self, node: Any) -> None:
        cell = self._cells.pop()
        if not self._tables:
            self._gap.tail += "\t"
            return
        gap = 1 if cell.place else 0  # without the separator from the text above
        text = "".join(self._pieces[cell.pieces + gap :]) if cell.is_on_line else ""
        spans = {name: to_span(node.attributes.get(name)) for name in ("colspan", "rowspan")}
        self._gap.tail += self._tables[-1].end_cell(text, columns=spans["colspan"], rows=spans["rowspan"])

    def _append(self, text: str) -> None:
        if self._length:
            indent = MEANING_INDENT if self._meanings and self._gap.lines and not self._cells else ""
            self._put(self._gap.text() + indent)
        self._gap = _Gap()
        self._anchors.extend((name, self._length) for name in self._waiting_ids)
        self._waiting_ids.clear()
        self._put(text)

    def _put(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)

    def _end_block(self, tag: str) -> None:
        on_one_line = self._open_heading is not None or (bool(self._cells) and self._cells[-1].is_on_line)
        if on_one_line and tag != "tr":
            self._gap.space = True
        else:
            self._gap.lines = max(self._gap.lines, 2 if tag in _PARAGRAPHS else 1)
            self._gap.tail = ""

    def _end_heading(self, level: int, before: int) -> None:
        pieces = self._pieces[before:]
        if before:
            pieces = pieces[1:]  # without the separator from the text above
        title = " ".join("".join(pieces).split())
        self._open_heading = None
        if title:
            start = self._length - sum(map(len, pieces))
            self._headings.append(Heading(level=level, title=title, start=start))
            self._anchors.extend((name, start) for name in self._heading_ids)


@dataclass(frozen=True, slots=True)
class _Cell:
    """An open cell: whether its text stays on the row's line, and the length of the text before it."""

    is_on_line: bool
    pieces: int
    place: int


@dataclass(slots=True)
class _Gap:
    """A separator of two texts: line ends, tabs between cells (an empty cell keeps its tab), or a space."""

    lines: int = 0
    tail: str = ""  # tabs, and the words of cells that reach down from a row above
    space: bool = False

    def text(self) -> str:
        return "\n" * self.lines + self.tail or " " * self.space


def _note_reference(node: Any) -> bool:
    """Return whether a link is the bare number of a footnote."""
    marks = f"{node.attributes.get('role') or ''} {node.attributes.get('epub:type') or ''}".split()
    return bool({"noteref", "doc-noteref"} & set(marks)) and node.text().strip()[:1].isalnum()
