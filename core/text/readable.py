"""How a quote is shown in chat: the words of the source without its markup. Pure; a citation keeps the raw text."""

import re

from core.text.words import collapse

_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_WIKILINK = re.compile(r"\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]")
_STRONG = re.compile(r"(\*\*\*|\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_MARKS = re.compile(r"^\s*(?:#{1,6}\s+|>\s?|\|)|\|\s*$")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_CELLS = re.compile(r"\s*\t\s*|\s+\|\s+")
_RULE = re.compile(r"^[\s|:=*_-]+$")
_MARKER = re.compile(r"(?<!\[)\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\](?![(\]])")


def readable(raw: str) -> str:
    """One line: link targets, emphasis and table pipes left out, cells apart by ` | `. Empty for rules and images.

    Reference numbers of the source ("[3]") lose their brackets: they would be taken for footnotes of the answer.
    """
    if _RULE.match(raw):
        return ""
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", raw))
    text = _TAG.sub("", _WIKILINK.sub(r"\1", text))
    text = _STRONG.sub(r"\2", text)
    text = _MARKER.sub(r"(\1)", text)
    previous = ""
    while text != previous:
        previous, text = text, _MARKS.sub("", text)
    return collapse(" | ".join(cell for cell in _CELLS.split(text.strip()) if cell.strip()))


def is_row(raw: str) -> bool:
    """Whether a unit of a page is a row of a table."""
    return "\t" in raw or raw.lstrip().startswith("|") or raw.count(" | ") > 1
