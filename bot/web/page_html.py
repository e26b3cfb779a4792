"""Pages of documents as safe HTML, with the cited part marked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from bot.web.page_markup import Marker, heading_id, heading_tag, is_prose, render_markdown
from bot.web.table_html import delimited_table, pipe_table, pipe_tables_in, tab_table
from core.domain.corpus import Heading, Page
from core.domain.passages import Span

# Characters shown at once, about 40 printed pages; more makes phones slow.
MOST_CHARACTERS = 120_000
# Characters before the cited passage, if a page is longer than that.
_BEFORE = MOST_CHARACTERS // 4

# Longest line of a hard-wrapped text, and the share of it that a full line fills.
_NARROWEST, _WIDEST = 55, 160
_FULL = 0.8
_ITEM = re.compile(r"\s*(?:[-–—*•‣▪·]|\(?\w{1,3}[.)])\s|\s{2,}")
_ROW_BREAK = "\t"
# Kinds of documents that readers write as Markdown; mail and chats are too, but their line breaks count.
MARKDOWN = frozenset({"markdown", "openapi", "notebook", "rst", "org", "canvas", "kept"})
_HASHES = re.compile(r"#{1,6} +")
CONTEXT = 2  # sentences shown around a citation
# Ends of sentences, paragraphs and items, and the characters around a citation to look for them in.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+\s++|[。！？]|\n\s*\n|\n(?=\s*(?:[-–—*•‣▪·]|\d{1,3}[.)])\s)")
_FAR = 600
_RULE = re.compile(r"\|(?: ?:?-+:? ?\|)+")


@dataclass(frozen=True, slots=True)
class PageHtml:
    """The HTML of a page, or of a part; `cut_before` and `cut_after` mark omitted text."""

    body: str
    cut_before: bool = False
    cut_after: bool = False


def to_html(
    page: Page, kind: str, cited: Span | None = None, *, internal_links: bool = True, part: Span | None = None
) -> PageHtml:
    """Return the page, or only `part` of it, as HTML. `kind` is the document's.

    `internal_links` makes [[wikilinks]] link to the library. Takes up to a second for a long page: call it in a thread.
    """
    window = part or _window(page.text, cited)
    text = window.of(page.text)
    headings = [heading for heading in page.headings if window.start <= heading.start < window.end]
    marker = Marker(cited)
    body = ""
    if kind in MARKDOWN and is_prose(text):
        body = render_markdown(text, window.start, headings, marker, internal_links=internal_links)
    elif kind == "csv":
        body = delimited_table(page.text, window, marker)
    if not body:
        body = "\n".join(_blocks(page.text, window, headings, marker))
    if cited is not None and not marker.has_marked:
        # the citation isn't rendered text (a link's address, say): show the source
        marker = Marker(cited)
        body = "\n".join(_blocks(page.text, window, headings, marker, as_written=True))
    return PageHtml(marker.clean(body), window.start > 0, window.end < len(page.text))


def context_of(page: Page, cited: Span) -> Span:
    """Return the citation with its whole sentences and two around them, or with its rows if it is part of a table.

    Stops at headings. The two sentences are one on each side, if both sides have one.
    """
    text, starts = page.text, [heading.start for heading in page.headings]
    if any(sign in cited.of(text) for sign in "|\t"):
        return _rows_around(text, cited)
    above = max((start for start in starts if start <= cited.start), default=None)
    low = max(0 if above is None else _line_end(text, above), cited.start - _FAR)
    high = min(cited.end + _FAR, len(text), *(start for start in starts if start >= cited.end))
    low, high = min(low, cited.start), max(high, cited.end)
    ends = {low, *(found.end() for found in _END.finditer(text, low, high)), *_unwrapped_ends(text, low, high), high}
    sentences = [Span(start, end) for start, end in pairwise(sorted(ends)) if text[start:end].strip()]
    own = [place for place, item in enumerate(sentences) if item.start < cited.end and item.end > cited.start]
    if not own:
        return cited
    after = len(sentences) - 1 - own[-1]
    back = min(own[0], CONTEXT - min(after, 1))
    first, last = sentences[own[0] - back], sentences[own[-1] + min(after, CONTEXT - back)]
    return Span(min(first.start, cited.start), max(last.end, cited.end))  # blanks at its edges are in no sentence


def _unwrapped_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the ends of lines that aren't broken inside a sentence: titles, rows and short lines."""
    lines = text[start:end].split("\n")
    width = max(map(len, lines))
    for line, following in pairwise(lines):
        start += len(line) + 1
        if not _is_full(line, following, width):
            yield start


def _rows_around(text: str, cited: Span) -> Span:
    """Return the rows of a citation, and one on each side."""
    start, end = text.rfind("\n", 0, cited.start) + 1, _line_end(text, cited.end)
    before = text.rfind("\n", 0, max(start - 1, 0)) + 1
    if start and _RULE.fullmatch(text[before : start - 1].strip()):
        before = text.rfind("\n", 0, max(before - 1, 0)) + 1
    after = _line_end(text, min(end + 1, len(text)))
    return Span(
        before if "|" in text[before:start] or "\t" in text[before:start] else start,
        after if "|" in text[end:after] or "\t" in text[end:after] else end,
    )


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _window(text: str, cited: Span | None) -> Span:
    """Return a whole page, or whole lines around the citation if it is very long."""
    if len(text) <= MOST_CHARACTERS:
        return Span(0, len(text))
    start = max(0, (cited.start if cited else 0) - _BEFORE)
    start = text.rfind("\n", 0, start) + 1 if start and text.rfind("\n", 0, start) > start - 2_000 else start
    return Span(start, min(len(text), start + MOST_CHARACTERS))


def _blocks(
    page_text: str, window: Span, headings: list[Heading], marker: Marker, *, as_written: bool = False
) -> Iterator[str]:
    """Render plain text as headings, tables (Markdown or tab-separated) and paragraphs that keep their lines.

    `as_written` leaves Markdown tables as text.
    """
    text, base = window.of(page_text), window.start
    titles = {heading.start: heading for heading in headings}
    found = [] if as_written else pipe_tables_in(page_text, window)
    tables = {table.span.start: table for table in found}
    behind = base  # end of the last Markdown table
    width = max(map(len, text.split("\n")))
    paragraph: list[tuple[str, int]] = []
    rows: list[tuple[str, int]] = []
    start = base
    for line in text.split("\n"):
        heading, table = titles.get(start), tables.get(start)
        is_row = heading is None and table is None and _ROW_BREAK in line.strip()
        if rows and not is_row:
            yield tab_table(rows, marker)
            rows = []
        if paragraph and (heading is not None or table is not None or is_row or not line.strip()):
            yield _paragraph(paragraph, width, marker)
            paragraph = []
        if start < behind:
            pass
        elif table is not None:
            yield pipe_table(table, page_text, marker)
            behind = table.span.end
        elif heading is not None:
            tag = heading_tag(heading.level, headings)
            hashes = _HASHES.match(line)
            begin = hashes.end() if hashes and not heading.title.startswith("#") else 0
            yield f'<{tag} id="{marker.own}{heading_id(heading)}">{marker.html(line[begin:], start + begin)}</{tag}>'
        elif is_row:
            rows.append((line, start))
        elif line.strip():
            paragraph.append((line, start))
        start += len(line) + 1
    if rows:
        yield tab_table(rows, marker)
    if paragraph:
        yield _paragraph(paragraph, width, marker)


def _paragraph(lines: list[tuple[str, int]], width: int, marker: Marker) -> str:
    """Render lines as one piece, so that a citation has one mark. A wrapped line break becomes a space."""
    text = lines[0][0]
    for (line, _), (following, _) in pairwise(lines):
        text += (" " if _wraps(line, following, width) else "\n") + following
    return f'<p class="{marker.own}lines">{marker.html(text, lines[0][1])}</p>'


def _wraps(line: str, following: str, width: int) -> bool:
    """Return whether a line of prose was hard-wrapped because it is full."""
    return _NARROWEST <= width <= _WIDEST and _is_full(line, following, width)


def _is_full(line: str, following: str, width: int) -> bool:
    if len(line) < _FULL * width or _ITEM.match(following):
        return False
    return not (_is_row(line) or _is_row(following))


def _is_row(line: str) -> bool:
    words = line.split()
    return 3 * sum(1 for word in words if any(map(str.isdigit, word))) > len(words)
