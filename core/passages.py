"""What stands around a footnote's quote, read anew: whether it still stands there, and whether it may be read."""

import re
from dataclasses import dataclass

from core.domain.answer import Citation
from core.domain.corpus import SearchScope
from core.errors import NotFound
from core.ports import CorpusRepository
from core.texts import collapse

NEIGHBOURS = 300  # characters before a quote, and behind it

_HEADING_MARKS = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)

GONE = "This page was taken out, or can't be read here any more: ask again."
CHANGED = "The page has changed since this answer, and does not say this any more: ask again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """`quote` is "" where the page may not be read; `note` is "" where all is as it was."""

    quote: str
    before: str = ""  # in one line, as `behind`; “…” where the page goes on
    behind: str = ""
    note: str = ""


async def surroundings(citation: Citation, corpus: CorpusRepository, scope: SearchScope) -> Surroundings:
    """A quote within its page as it is now. What the scope does not hold is not shown, the quote neither."""
    try:
        page = await corpus.get_page(citation.page_id, scope)
    except NotFound:
        return Surroundings(quote="", note=GONE)
    span = citation.span
    if page.text[span.start : span.end] != citation.quote:
        return Surroundings(quote=citation.quote, note=CHANGED)
    begin, end = max(0, span.start - NEIGHBOURS), span.end + NEIGHBOURS
    before, behind = _in_line(page.text[begin : span.start]), _in_line(page.text[span.end : end])
    return Surroundings(
        quote=citation.quote,
        before=f"… {before}" if begin > 0 else before,
        behind=f"{behind} …" if end < len(page.text) else behind,
    )


def _in_line(text: str) -> str:
    """Without the marks of headings, which would be read as words in one line."""
    return collapse(_HEADING_MARKS.sub("", text))
