"""Text of documents without its markup, for display: quotes, previews, one-line summaries. Pure."""

import re

from core.domain.corpus import Page
from core.text.words import collapse, shorten

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


def is_row(raw: str) -> bool:
    """Return whether a line of a page is a row of a table."""
    return "\t" in raw or raw.lstrip().startswith("|") or raw.count(" | ") > 1


# ------------------------------------------------------------------------------------------- summaries and previews

LENGTH = 100  # characters of a summary
_READ = 4_000  # characters of a page that it is made from
_TITLE = 60  # characters; a longer line of a PDF is prose
_PARAGRAPHS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d{1,3}[.)])\s)")  # each item of a list is one
_NUMBER = re.compile(r"^\d{1,3}[.)]\s+")  # of a list's item
_SENTENCE = re.compile(r".{20,}?[.!?…][\"'”’)\]]*(?=\s|$)|.+?[。！？]")
_CJK_END = ("。", "！", "？")
_ENDS = (".", "!", "?", "…", ":", ";", ",", *_CJK_END)
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_LOOSE = re.compile(r" +(?=[,.;:!?)])")  # where a sign was, before a comma
_BOX = re.compile(r"\[[ xX]\] |\[![a-z]+\][+-]?")  # of tasks and callouts
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_LABELLED_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
_SIGNS = re.compile(r"^\s*(?:[-*+>]|#{1,6})\s|[*`|]|-{3,}|:?-+:|_{2,}", re.MULTILINE)


def page_summary(page: Page, path: str) -> str:
    """Return the first paragraph of a page if it fits into LENGTH characters, else its first sentence, cut to that.

    `path` is the document's. The summary of a page of headings is "".
    """
    text = _without_headings(page)
    if path.lower().endswith(".pdf"):
        text = _without_title_lines(text)
    is_markdown = path.lower().endswith((".md", ".markdown"))
    paragraphs = _PARAGRAPHS.split(_without_rules(text) if is_markdown else text)
    paragraph = next(filter(None, map(_words if is_markdown else collapse, paragraphs)), "")
    if len(paragraph) <= LENGTH:
        return paragraph
    sentence = _SENTENCE.match(paragraph)
    return shorten(sentence[0] if sentence else paragraph, LENGTH)


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


def _words(markdown: str) -> str:
    line = collapse(_MARKDOWN_LINK.sub(r"\1", to_words(markdown)))
    return _NUMBER.sub("", _LOOSE.sub("", line))


def _without_headings(page: Page) -> str:
    """Return the beginning of the text without headings."""
    starts = {heading.start for heading in page.headings}
    titles = {collapse(page.title), *(collapse(heading.title) for heading in page.headings)}
    kept, place = [], 0
    for line in page.text[:_READ].splitlines(keepends=True):
        if place not in starts and collapse(line).lstrip("# ") not in titles - {""}:
            kept.append(line)
        place += len(line)
    return "".join(kept)


def _without_rules(markdown: str) -> str:
    """Remove the lines between a table's header and its rows."""
    return "\n".join(line for line in markdown.split("\n") if "---" not in line or line.strip(" \t|:-"))


def _without_title_lines(text: str) -> str:
    """Cut a PDF's text before its first line of prose: titles and table rows are short and have no full stop."""
    lines = [line for line in text.splitlines() if line.strip()]
    for place, line in enumerate(lines):
        goes_on = place + 1 < len(lines) and lines[place + 1].lstrip()[:1].islower()
        if len(line) >= _TITLE or line.rstrip().endswith(_ENDS) or goes_on:
            return "\n".join(lines[place:])
    return text
