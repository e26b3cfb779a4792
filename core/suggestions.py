"""Follow-up questions that the library can answer: from headings near what was cited, each checked to have hits."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.answer import Citation
from core.domain.corpus import Page, SearchQuery, SearchScope
from core.library import Library
from core.ports import CorpusRepository
from core.texts import content_words, shorten

MAX_SUGGESTIONS = 3
# Headings tried: one in four finds nothing, as its section is a stub or says it in other words.
CANDIDATES = 4
# Pages looked at before and behind the cited one; a suggestion is about what comes next, not about the whole book.
NEAR_PAGES = 2
# Buttons on chat platforms hold 75 to 80 characters.
SUGGESTION_LENGTH = 75
NAME_LENGTH = 30


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    heading: str
    page: Page


async def suggest(
    question: str, citations: Sequence[Citation], corpus: CorpusRepository, library: Library, scope: SearchScope
) -> tuple[str, ...]:
    """Up to three questions about other sections near those cited; each finds its section when it is searched for."""
    candidates: list[_Candidate] = []
    for citation in {citation.document_id: citation for citation in reversed(citations)}.values():
        if len(candidates) < CANDIDATES:
            candidates += _candidates(await _pages_near(citation, corpus, scope), citation, question)
    found = await asyncio.gather(*(_is_found(item, library, scope) for item in candidates[:CANDIDATES]))
    suggested = [item.text for item, hit in zip(candidates, found, strict=False) if hit]
    return tuple(dict.fromkeys(suggested))[:MAX_SUGGESTIONS]


async def _pages_near(citation: Citation, corpus: CorpusRepository, scope: SearchScope) -> list[Page]:
    """The cited page, those behind it, those before it: in this order, within scope."""
    here = citation.page_number
    numbers = [here, *range(here + 1, here + NEAR_PAGES + 1), *range(max(1, here - NEAR_PAGES), here)]
    pages = await asyncio.gather(*(corpus.find_page(citation.document_id, number, scope) for number in numbers))
    return [page for page in pages if page is not None]


def _candidates(pages: Sequence[Page], citation: Citation, question: str) -> list[_Candidate]:
    """Questions about headings that neither the question nor the footnote named."""
    known = content_words(question) | content_words(" ".join(citation.heading_path))
    found = []
    for page in pages:
        for title in dict.fromkeys([page.title, *(heading.title for heading in page.headings)]):
            document, section = shorten(citation.document_title, NAME_LENGTH), shorten(title, NAME_LENGTH)
            text = f"What does “{document}” say about “{section}”?"
            if content_words(title) and not content_words(title) <= known and len(text) <= SUGGESTION_LENGTH:
                found.append(_Candidate(text=text, heading=title, page=page))
    return found


async def _is_found(candidate: _Candidate, library: Library, scope: SearchScope) -> bool:
    document_ids = frozenset({candidate.page.document_id})
    hits = await library.search(SearchQuery(text=candidate.heading, limit=3, document_ids=document_ids), scope)
    return any(hit.page_id == candidate.page.id for hit in hits)
