"""Follow-up questions that the library can answer: from headings near what was cited, each checked to have hits."""

from collections.abc import Iterable, Sequence

from core.domain.answer import Citation
from core.domain.corpus import Page, SearchQuery, SearchScope
from core.library import Library
from core.ports import CorpusRepository
from core.texts import content_words, shorten

MAX_SUGGESTIONS = 3
# Buttons on chat platforms hold 75 to 80 characters.
SUGGESTION_LENGTH = 75


async def suggest(
    question: str, citations: Sequence[Citation], corpus: CorpusRepository, library: Library, scope: SearchScope
) -> tuple[str, ...]:
    """Up to three questions about other sections of the cited documents; each finds its section when searched."""
    suggestions: list[str] = []
    for citation in _first_by_document(citations):
        pages = await corpus.list_pages(citation.document_id, scope)
        for page, heading in _headings_near(pages, citation, question):
            text = f"What does “{shorten(citation.document_title, 30)}” say about “{shorten(heading, 30)}”?"
            if len(text) > SUGGESTION_LENGTH or text in suggestions:
                continue
            query = SearchQuery(text=heading, limit=3, document_ids=frozenset({citation.document_id}))
            if any(hit.page_id == page.id for hit in await library.search(query, scope)):
                suggestions.append(text)
            if len(suggestions) == MAX_SUGGESTIONS:
                return tuple(suggestions)
    return tuple(suggestions)


def _first_by_document(citations: Sequence[Citation]) -> Iterable[Citation]:
    return {citation.document_id: citation for citation in reversed(citations)}.values()


def _headings_near(pages: Sequence[Page], citation: Citation, question: str) -> list[tuple[Page, str]]:
    """Up to MAX_SUGGESTIONS headings, nearest to the cited place first, none that the question or citation names."""
    known = content_words(question) | content_words(" ".join(citation.heading_path))
    found = [
        (abs(page.number - citation.page_number), page, title)
        for page in pages
        for title in dict.fromkeys([page.title, *(heading.title for heading in page.headings)])
        if title and content_words(title) and not content_words(title) <= known
    ]
    found.sort(key=lambda item: item[0])
    return [(page, title) for _, page, title in found[:MAX_SUGGESTIONS]]
