"""HTML converted to text with headings, without boilerplate."""

import html
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from core.domain.corpus import Heading
from core.text.words import collapse
from storage.documents.html.writer import HtmlWriter
from storage.documents.texts.encodings import clean

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


def is_dropped(node: Any, *, book: bool = False) -> bool:
    """Return whether an element has no text of the page, ignoring its parents.

    In a book, headers, footers, asides and hidden elements (pop-ups) belong to the text; the page numbers of a printed
    edition don't.
    """
    tag = node.tag
    if tag is None or tag in DROPPED or tag.startswith(("-", "!", "_")):  # None: `<?mso ...?>`
        return True
    attributes = node.attributes
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
_MARKUP = re.compile(r"<(!--)|(--)>|<(/?)([A-Za-z][A-Za-z0-9-]*)[^<>]*>")


@dataclass(frozen=True, slots=True)
class HtmlText:
    """The text of a page, its headings, and the positions of ids: of headings and requested ones."""

    text: str
    headings: tuple[Heading, ...] = ()
    anchors: tuple[tuple[str, int], ...] = ()
    title: str = ""  # of the <title> element
    url: str | None = None  # the canonical address
    warnings: tuple[str, ...] = ()


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


def _write(root: Any, writer: HtmlWriter, *, book: bool) -> None:
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
