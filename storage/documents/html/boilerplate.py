"""Which elements of a web page are the site's furniture and no part of what the page says."""

import re
from collections.abc import Iterator
from typing import Any

# Never text of a page, in books as little as on the web.
DROPPED = frozenset(
    "script style template noscript svg iframe object embed canvas audio video head nav button select textarea input "
    "datalist dialog frameset map annotation annotation-xml".split()
)
_ROLES = frozenset({"navigation", "search", "banner", "contentinfo", "menu", "menubar", "toolbar"})
# Names that sites give, as a class or an id, to what is on every page of theirs: whole words, no guesses.
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
# What such a thing never holds: a name may be that of a whole page, too.
_CONTENT = "h1, main, article, [role=main]"
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none", re.IGNORECASE)


def is_dropped(node: Any, *, book: bool = False) -> bool:
    """Whether nothing of an element is text of the page; its parents are not asked.

    In a book there is no site: headers, footers and asides are the author's, and what is hidden pops up when asked for;
    but the numbers of a printed edition's pages stand in the middle of sentences.
    """
    tag = node.tag
    if tag in DROPPED or tag.startswith(("-", "!", "_")):
        return True
    attributes = node.attributes
    if book:
        marks = f"{attributes.get('epub:type') or ''} {attributes.get('role') or ''}".split()
        return "pagebreak" in marks or "doc-pagebreak" in marks
    if "hidden" in attributes or attributes.get("role") in _ROLES:
        return True
    if _is_named_so(attributes) and tag not in ("html", "body", "main") and node.css_first(_CONTENT) is None:
        return True
    if _HIDDEN_STYLE.search(attributes.get("style") or ""):
        return True
    if tag in ("ul", "ol", "menu"):  # in a header: languages, tools, breadcrumbs
        return any(parent.tag == "header" for parent in _parents(node))
    return tag in ("header", "footer", "aside") and _is_furniture(node, tag)


def _is_named_so(attributes: Any) -> bool:
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".split()
    return any(name in _NAMES or _ASKS_FOR_CONSENT.fullmatch(name) for name in names)


def _is_furniture(node: Any, tag: str) -> bool:
    content = ("main", "article", "section", "blockquote")
    if any(parent.tag in content or parent.attributes.get("role") == "main" for parent in _parents(node)):
        return False
    return tag != "header" or node.css_first("h1") is None


def _parents(node: Any) -> Iterator[Any]:
    while (node := node.parent) is not None:
        yield node
