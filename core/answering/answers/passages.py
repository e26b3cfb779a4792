"""The text around a footnote's quote, reread: is the quote still there, and is it readable?"""

import re
from dataclasses import dataclass

from core.answering.answers.quote_location import moved
from core.domain.answer import Citation
from core.domain.corpus import SearchScope
from core.errors import NotFound
from core.ports import CorpusRepository
from core.text.words import collapse

NEIGHBOURS = 300  # characters before a quote, and behind it

_HEADING_MARKS = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)

GONE = "This page was removed, or is no longer readable here. Ask again."
CHANGED = "The page has changed since this answer, and no longer contains this. Ask again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """`quote` is "" where the page may not be read; `note` is "" where all is as it was."""

    quote: str
    before: str = ""  # in one line, like `behind`; “…” if the page continues
    behind: str = ""
    note: str = ""
    now: Citation | None = None  # the footnote at its present place; None if it is lost


async def surroundings(citation: Citation, corpus: CorpusRepository, scope: SearchScope) -> Surroundings:
    """Find a quote within its page as it is now, also if it moved. Text outside the scope isn't shown."""
    try:
        pages = [await corpus.get_page(citation.page_id, scope)]
    except NotFound:
        pages = []
    now = moved(citation, pages)
    if now is None:
        pages = await corpus.list_pages(citation.document_id, scope)
        now = moved(citation, pages)
    if now is None:
        is_readable = bool(pages) and not is_beyond(citation, scope)
        return Surroundings(quote=citation.quote if is_readable else "", note=CHANGED if is_readable else GONE)
    text, span = next(page.text for page in pages if page.id == now.page_id), now.span
    begin, end = max(0, span.start - NEIGHBOURS), span.end + NEIGHBOURS
    before, behind = _in_line(text[begin : span.start]), _in_line(text[span.end : end])
    return Surroundings(
        quote=citation.quote,
        before=f"… {before}" if begin > 0 else before,
        behind=f"{behind} …" if end < len(text) else behind,
        now=now,
    )


def is_beyond(citation: Citation, scope: SearchScope) -> bool:
    """Return whether its page, when it was cited, is unreadable in this scope."""
    last = scope.positions.get(citation.document_id)
    return last is not None and citation.page_number > last


def _in_line(text: str) -> str:
    """Without the marks of headings, which would be read as words in one line."""
    return collapse(_HEADING_MARKS.sub("", text))
