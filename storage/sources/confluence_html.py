"""Confluence's storage format as HTML that the HTML reader knows: its macros become what they show. Pure.

The format is XHTML with elements of its own (`ac:`, `ri:`). What only an interactive page could show is left out.
"""

import re
from html import escape

from lxml import html as lxml_html
from lxml.html import HtmlElement

# Macros whose text is shown as it stands, in lines.
_CODE = frozenset({"code", "noformat"})
# Macros that stand for something which is made when the page is shown: nothing of it is in the page.
_MADE = frozenset(
    {"toc", "children", "pagetree", "recently-updated", "contentbylabel", "attachments", "jira", "livesearch"}
)
_BOXES = frozenset({"info", "note", "warning", "tip", "panel", "expand", "excerpt", "details"})
# What XML can't hold.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def to_html(title: str, storage: str) -> str:
    """A whole HTML document; `title` is its h1."""
    root = lxml_html.fragment_fromstring(_without_cdata(_CONTROL.sub("", storage)), create_parent="div")
    for element in list(root.iter()):
        if isinstance(element.tag, str) and ":" in element.tag:
            _replace(element)
    body = lxml_html.tostring(root, encoding="unicode")
    name = escape(title)
    return (
        f"<!DOCTYPE html><html><head><title>{name}</title></head><body><main><h1>{name}</h1>{body}</main></body></html>"
    )


def _without_cdata(storage: str) -> str:
    """HTML parsers know no CDATA: its text is escaped instead."""
    parts = storage.split("<![CDATA[")
    found = [parts[0]]
    for part in parts[1:]:
        inside, end, after = part.partition("]]>")
        found += [escape(inside), after if end else ""]
    return "".join(found)


def _replace(element: HtmlElement) -> None:
    """In place: the element becomes one of HTML, or only what is in it stays."""
    match element.tag:
        case "ac:structured-macro" | "ac:macro":
            _replace_macro(element)
        case "ac:parameter" | "ac:placeholder" | "ac:emoticon" | "ac:image":
            _drop(element)
        case "ac:link":
            _replace_link(element)
        case "ac:task":
            element.tag = "li"
        case "ac:task-list":
            element.tag = "ul"
        case "ac:task-id" | "ac:task-uuid":
            _drop(element)
        case "ac:task-status":
            done = (element.text or "").strip() == "complete"
            element.text, element.tag = ("[x] " if done else "[ ] "), "span"
        case "ac:plain-text-body":
            element.tag = "pre"
        case "ac:rich-text-body" | "ac:layout" | "ac:layout-section" | "ac:layout-cell":
            element.tag = "div"
        case _:
            element.tag = "span"


def _replace_macro(element: HtmlElement) -> None:
    name = element.get("ac:name", "")
    if name in _MADE:
        _drop(element)
        return
    title = next(
        (child.text for child in element if child.tag == "ac:parameter" and child.get("ac:name") == "title"), None
    )
    element.tag = "div"
    if title and (name in _BOXES or name in _CODE):
        heading = lxml_html.Element("p")
        heading.text = title
        element.insert(0, heading)
    if name == "status" and title:
        element.tag, element.text = "span", title


def _replace_link(element: HtmlElement) -> None:
    """A link inside Confluence shows its text, else the title of the page it leads to."""
    shown = " ".join("".join(element.itertext()).split())
    target = next((child.get("ri:content-title") for child in element.iter() if child.get("ri:content-title")), None)
    for child in list(element):
        element.remove(child)
    element.tag, element.text = "span", shown or target or ""


def _drop(element: HtmlElement) -> None:
    """With all that is in it; the text behind it stays."""
    if element.getparent() is not None:
        element.drop_tree()
