"""The text around a footnote's quote, reread: is the quote still there, and is it readable?"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.domain.answer import Citation
from core.domain.corpus import Page, SearchScope
from core.domain.features import Fate, LiveTexts, LostQuote
from core.domain.passages import Span
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


def lost_quotes(citations: Sequence[Citation], live: LiveTexts | None) -> tuple[LostQuote, ...]:
    """Return the footnotes of one document whose quotes it lacks, by number; all of them if it was removed (None)."""
    if live is None:
        return tuple(LostQuote(number=number, fate=Fate.GONE) for number in sorted({c.number for c in citations}))
    gone = {
        citation.number
        for citation in citations
        if citation.revision != live.revision and place_of(citation, live.texts) is None
    }
    return tuple(LostQuote(number=number, fate=Fate.CHANGED) for number in sorted(gone))


def place_of(citation: Citation, texts: Mapping[int, str]) -> tuple[int, Span] | None:
    """Page number and span of the quote: its own page before others, there its own place before the nearest one."""
    if not citation.quote:
        return None
    at = citation.page_number
    for number in sorted(texts, key=lambda number: (abs(number - at), number)):
        start = _nearest(texts[number], citation.quote, citation.span.start)
        if start is not None:
            return number, Span(start, start + len(citation.quote))
    return None


def moved(citation: Citation, pages: Iterable[Page]) -> Citation | None:
    """Return the footnote at its place on one of these live pages of its document; None if none has its quote."""
    by_number = {page.number: page for page in pages}
    found = place_of(citation, {number: page.text for number, page in by_number.items()})
    if found is None:
        return None
    page, span = by_number[found[0]], found[1]
    if page.id == citation.page_id and span == citation.span:
        return citation
    return replace(citation, page_id=page.id, page_number=page.number, span=span, revision=page.revision, passage_id="")


def _nearest(text: str, quote: str, start: int) -> int | None:
    """Return the place of the quote in a text that is nearest to the old one; the first of two."""
    behind = text.find(quote, start)
    before = text.rfind(quote, 0, start + len(quote) - 1) if start > 0 else -1
    found = [place for place in (before, behind) if place >= 0]
    return min(found, key=lambda place: abs(place - start), default=None)
