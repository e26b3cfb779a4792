"""What a table in a page is called: its caption, the line that leads to it, or the heading above. Pure."""

import re

from core.domain.corpus import Page, Span
from core.text.words import collapse

# Characters of a title: a longer line is a sentence about something.
MAX_TITLE = 200
# Lines above a table, blank ones left out, among which its caption is looked for.
_CAPTION_LINES = 3

_CAPTION = re.compile(
    r"(?:table|tab\.|exhibit|schedule|tabelle|tableau|tabla)\s+[\dIVXLA-Z][\w.–-]{0,8}(?:\b|(?=[.:]))", re.IGNORECASE
)
_MARKS = re.compile(r"^(?:#{1,6}\s+|[*_]{1,3}|:\s+|>\s*)|(?:[*_]{1,3}|\s+#+)$")


def find_title(page: Page, table: Span, *, nearest: str = "") -> str:
    """The title of the table at `table`; "" where the page says none.

    `nearest` is the line that is known to stand right above it.
    """
    above = _lines(page.text[max(table.start - 2_000, 0) : table.start], newest_first=True)
    below = _lines(page.text[table.end : table.end + 500], newest_first=False)
    for place, line in enumerate(above[:_CAPTION_LINES]):
        if _CAPTION.match(line) and len(line) <= MAX_TITLE * 2:
            return collapse(" ".join(above[place::-1]))[:MAX_TITLE]
    if below and _CAPTION.match(below[0]) and len(below[0]) <= MAX_TITLE * 2:
        return below[0][:MAX_TITLE]
    if nearest or (above and above[0].endswith(":") and len(above[0]) <= MAX_TITLE):
        return (nearest or above[0]).rstrip(": ")[:MAX_TITLE]
    titles = [heading.title for heading in page.headings if heading.start < table.start]
    return (titles[-1] if titles else page.title or (page.heading_path[-1] if page.heading_path else ""))[:MAX_TITLE]


def _lines(text: str, *, newest_first: bool) -> list[str]:
    """Lines with words in them, without Markdown's marks."""
    lines = [collapse(_MARKS.sub("", collapse(line))) for line in text.split("\n")]
    filled = [line for line in lines if line and not line.startswith("|")]
    return filled[::-1] if newest_first else filled
