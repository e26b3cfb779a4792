"""What stands around a footnote's quote, read anew: whether it still stands there, and whether it may be read."""

from dataclasses import dataclass

from core.domain.answer import Citation
from core.domain.corpus import SearchScope
from core.errors import NotFound
from core.ports import CorpusRepository
from core.texts import collapse

NEIGHBOURS = 300  # characters before a quote, and behind it

GONE = "This page was taken out, or can't be read here any more: ask again."
CHANGED = "The page has changed since this answer, and does not say this any more: ask again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """`quote` is "" where the page may not be read; `note` is "" where all is as it was."""

    quote: str
    before: str = ""  # in one line, as `behind`
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
    return Surroundings(
        quote=citation.quote,
        before=collapse(page.text[max(0, span.start - NEIGHBOURS) : span.start]),
        behind=collapse(page.text[span.end : span.end + NEIGHBOURS]),
    )
