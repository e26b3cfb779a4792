"""Follow-up questions that the library can answer: from headings near what was cited, each checked to have hits.

One search looks for all headings of a document at once: a suggestion must not cost as much as an answer.
"""

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
# Buttons on chat platforms hold 75 characters: two names and the words around them.
NAME_LENGTH = 24


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    heading: str
    page: Page


async def suggest(
    question: str, citations: Sequence[Citation], corpus: CorpusRepository, library: Library, scope: SearchScope
) -> tuple[str, ...]:
    """Up to three questions about other sections near those cited, whose pages a search for their headings finds."""
    suggested: list[str] = []
    for citation in {citation.document_id: citation for citation in reversed(citations)}.values():
        candidates = _candidates(await _pages_near(citation, corpus, scope), citation, question)[:CANDIDATES]
        if candidates:
            found = await _pages_found(candidates, library, scope)
            suggested += [item.text for item in candidates if item.page.id in found and item.text not in suggested]
        if len(suggested) >= MAX_SUGGESTIONS:
            break
    return tuple(suggested[:MAX_SUGGESTIONS])


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
            if content_words(title) and not content_words(title) <= known:
                found.append(_Candidate(text=text, heading=title, page=page))
    return found


async def _pages_found(candidates: Sequence[_Candidate], library: Library, scope: SearchScope) -> set[str]:
    """Ids of the pages that a search for all the headings finds in their document."""
    query = SearchQuery(
        text=" ".join(item.heading for item in candidates),
        limit=2 * CANDIDATES,
        document_ids=frozenset({candidates[0].page.document_id}),
    )
    return {hit.page_id for hit in await library.search(query, scope)}
