"""Text of documents without its markup, for display. Pure."""

import re

from core.text.words import collapse, shorten

_IMAGE = re.compile(r"!\[([^\[\]]*+)\]\([^)]{0,500}\)")
_LINK = re.compile(r"\[([^\[\]]*+)\]\([^)\s]{0,500}(?:\s{1,9}\"[^\"]{0,300}\")?\)")
_WIKILINK = re.compile(r"\[\[(?:[^\[\]|]*+\|)?+([^\[\]|]*+)\]\]")
_STRONG = re.compile(r"(\*\*\*|\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_MARKS = re.compile(r"^\s*(?:#{1,6}\s+|>\s?|\|)|\|\s*$")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_CELLS = re.compile(r"(?<!\s)(?:[^\S\t]*+\t\s*+|\s++\|\s++)")
_ITEM_MARK = re.compile(r"(?:\d{1,3}[.)]|[-*+•])\s")
_LABEL = re.compile(r"[^.:!?]{1,40}: ?")
_SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？")
_RULE = re.compile(r"^[\s|:=*_-]+$")
_MARKER = re.compile(r"(?<!\[)\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\](?![(\]])")


# Marks of the writing direction: embeddings, overrides, isolates, single marks, and the deprecated U+206A to U+206F.
_DIRECTION_MARKS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
_CONTROLLING = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_DIRECTION_MARKS}]")
_DIRECTIONS = re.compile(f"[{_DIRECTION_MARKS}]")
_UNSEEN = re.compile(f"[\x7f-\x9f{_DIRECTION_MARKS}]")  # JSON may hold them unescaped


def without_controls(text: str) -> str:
    """Return the text without control characters, except line feeds and tabs, and without direction marks."""
    return text if text.isprintable() else _CONTROLLING.sub("", text)


def without_directions(text: str) -> str:
    """Return the text without direction marks, with which "gpj.exe" can be shown as "exe.jpg"; for display only."""
    return text if text.isascii() else _DIRECTIONS.sub("", text)


_CONTROLS = [*range(9), 11, 12, *range(14, 32)]
# Replacements of the same width: pictures of control characters (from U+2400), else U+FFFD.
_PICTURES = (
    {code: 0x2400 + code for code in _CONTROLS}
    | {127: 0x2421}
    | dict.fromkeys([*range(128, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)
)


def printable(text: str) -> str:
    """Return the text for a terminal: with pictures of control characters and of overrides of the direction."""
    return text if text.isprintable() else without_directions(text.translate(_PICTURES))


def shown_in_json(text: str) -> str:
    """Return JSON that holds the same values, with direction marks and control characters escaped."""
    return _UNSEEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def is_item(raw: str) -> bool:
    """Return whether a line begins with a list mark: "2. ", "- "."""
    return _ITEM_MARK.match(raw) is not None


def is_field(text: str) -> bool:
    """Return whether a readable line is a label with its value, and no sentence: "Author: Ada Quill"."""
    return _LABEL.match(text) is not None and not text.endswith(_SENTENCE_ENDS)


def readable(raw: str) -> str:
    """Return one line without link targets, emphasis and table pipes, cells divided by ` | `; empty for rules.

    Reference numbers of the source ("[3]") get round brackets, because they would look like footnotes of the answer.
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


def without_targets(raw: str) -> str:
    """Return Markdown without images and the targets of links."""
    return _LINK.sub(r"\1", _IMAGE.sub("", raw))


def is_row(raw: str) -> bool:
    """Return whether a line of a page is a row of a table."""
    return "\t" in raw or raw.lstrip().startswith("|") or raw.count(" | ") > 1


FIGURES = 3  # of a row, at least
_NO_FIGURE = frozenset("-–—")


def is_figures(line: str) -> bool:
    """Return whether a line is the row of a table whose columns got lost: "Linden 412 4.50 1,204"."""
    pieces = line.split()
    figures = sum(piece in _NO_FIGURE or any(map(str.isdigit, piece)) for piece in pieces)
    return figures >= FIGURES and figures * 2 >= len(pieces)


_BOX = re.compile(r"\[[ xX]\] |\[![a-z]+\][+-]?")  # of tasks and callouts
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_LABELLED_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
_SIGNS = re.compile(r"^[^\S\n]*+(?:[-*+>]|#{1,6})\s|[*`|]|-{3,}|:?-+:|_{2,}", re.MULTILINE)


def to_words(markdown: str) -> str:
    """Remove Markdown signs and headings, for a line of a list with the headings next to it."""
    markdown = _BOX.sub("", markdown)
    body = _HEADING.sub("", markdown)
    return _SIGNS.sub(" ", _LABELLED_WIKILINK.sub(r"\1", body if body.strip() else markdown))


def preview(text: str, kind: str, length: int) -> str:
    """Return the beginning of a passage without its headings, which are shown next to it.

    Readers write headings as Markdown for every kind of document; other signs are the document's own.
    """
    if kind == "markdown":
        return shorten(to_words(text), length)
    body = _HEADING.sub("", text)
    return shorten(body if body.strip() else text.lstrip("# "), length)
