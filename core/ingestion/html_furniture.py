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
    if _HIDDEN_STYLE.search(attributes.get("style") or ""):
        return True
    if tag in ("ul", "ol", "menu"):  # in a header: languages, tools, breadcrumbs
        return any(parent.tag == "header" for parent in _parents(node))
    return tag in ("header", "footer", "aside") and _is_furniture(node, tag)


def _is_furniture(node: Any, tag: str) -> bool:
    content = ("main", "article", "section", "blockquote")
    if any(parent.tag in content or parent.attributes.get("role") == "main" for parent in _parents(node)):
        return False
    return tag != "header" or node.css_first("h1") is None


def _parents(node: Any) -> Iterator[Any]:
    while (node := node.parent) is not None:
        yield node
