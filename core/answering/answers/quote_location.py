"""The present place of a footnote's quote: the same, another one, or none. Pure.

A quote that its document still has, word for word, is valid at any place.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from core.domain.answer import Citation
from core.domain.corpus import Page, Span
from core.domain.features import Fate, LiveTexts, LostQuote


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
