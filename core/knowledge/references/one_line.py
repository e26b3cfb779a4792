"""What a page is about, in one line: how its text begins, past its headings. Pure."""

import re

from core.domain.corpus import Page
from core.text.words import collapse, shorten

LENGTH = 100  # characters of a summary
_READ = 4_000  # characters of a page that are looked at
_TITLE = 60  # characters; a longer line of a PDF is prose
_PARAGRAPHS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d{1,3}[.)])\s)")  # each item of a list is one
_NUMBER = re.compile(r"^\d{1,3}[.)]\s+")  # of a list's item
_SENTENCE = re.compile(r".{20,}?[.!?…][\"'”’)\]]*(?=\s|$)|.+?[。！？]")
_CJK_END = ("。", "！", "？")
_ENDS = (".", "!", "?", "…", ":", ";", ",", *_CJK_END)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_LOOSE = re.compile(r" +(?=[,.;:!?)])")  # where a sign was, before a comma
_BOX = re.compile(r"\[[ xX]\] |\[![a-z]+\][+-]?")  # of tasks and callouts
# Of Markdown's signs.
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
_SIGNS = re.compile(r"^\s*(?:[-*+>]|#{1,6})\s|[*`|]|-{3,}|:?-+:|_{2,}", re.MULTILINE)


def page_summary(page: Page, path: str) -> str:
    """The first paragraph of a page if it fits into LENGTH characters, else its first sentence, cut to that.

    `path` is its document's; "" for a page of nothing but headings.
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
    """Markdown without its signs, for a line of a list; headings go, they stand beside it."""
    markdown = _BOX.sub("", markdown)
    body = _HEADING.sub("", markdown)
    return _SIGNS.sub(" ", _WIKILINK.sub(r"\1", body if body.strip() else markdown))


def preview(text: str, kind: str, length: int) -> str:
    """How a passage of a document of this kind begins, past its headings: they stand beside it.

    Readers write headings as Markdown does, whatever the kind; other signs are the document's own.
    """
    if kind == "markdown":
        return shorten(to_words(text), length)
    body = _HEADING.sub("", text)
    return shorten(body if body.strip() else text.lstrip("# "), length)


def _words(markdown: str) -> str:
    line = collapse(_LINK.sub(r"\1", to_words(markdown)))
    return _NUMBER.sub("", _LOOSE.sub("", line))


def _without_headings(page: Page) -> str:
    """The beginning of the text, without the lines of its headings."""
    starts = {heading.start for heading in page.headings}
    titles = {collapse(page.title), *(collapse(heading.title) for heading in page.headings)}
    kept, place = [], 0
    for line in page.text[:_READ].splitlines(keepends=True):
        if place not in starts and collapse(line).lstrip("# ") not in titles - {""}:
            kept.append(line)
        place += len(line)
    return "".join(kept)


def _without_rules(markdown: str) -> str:
    """Without the lines that part a table's head from its rows."""
    return "\n".join(line for line in markdown.split("\n") if "---" not in line or line.strip(" \t|:-"))


def _without_title_lines(text: str) -> str:
    """A PDF's text from its first line of prose: titles and rows of tables are short and end without a full stop."""
    lines = [line for line in text.splitlines() if line.strip()]
    for place, line in enumerate(lines):
        goes_on = place + 1 < len(lines) and lines[place + 1].lstrip()[:1].islower()
        if len(line) >= _TITLE or line.rstrip().endswith(_ENDS) or goes_on:
            return "\n".join(lines[place:])
    return text
