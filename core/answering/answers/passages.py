"""What stands around a footnote's quote, read anew: whether it still stands there, and whether it may be read."""

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

GONE = "This page was taken out, or can't be read here any more: ask again."
CHANGED = "The page has changed since this answer, and does not say this any more: ask again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """`quote` is "" where the page may not be read; `note` is "" where all is as it was."""

    quote: str
    before: str = ""  # in one line, as `behind`; “…” where the page goes on
    behind: str = ""
    note: str = ""
    now: Citation | None = None  # the footnote where it stands now; None where it does not any more


async def surroundings(citation: Citation, corpus: CorpusRepository, scope: SearchScope) -> Surroundings:
    """A quote within its page as it is now, wherever it moved. What the scope does not hold is not shown."""
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
    """Whether it stood, when it was cited, on a page that this scope may not read."""
    last = scope.positions.get(citation.document_id)
    return last is not None and citation.page_number > last


def _in_line(text: str) -> str:
    """Without the marks of headings, which would be read as words in one line."""
    return collapse(_HEADING_MARKS.sub("", text))
