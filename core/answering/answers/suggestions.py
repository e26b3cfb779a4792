"""Follow-up questions that the library can answer: from headings near the citations, each checked to have hits.

Sections that the quotes mention come first, and exclude others. Without any, neighbouring sections are suggested for
an answer of one or two passages; below a list of rows from many places, they would be about something else. One search
checks all headings of a document, because a suggestion must not cost as much as an answer.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from core.domain.answer import Citation
from core.domain.corpus import Page, SearchQuery, SearchScope
from core.knowledge.library import Library
from core.ports import CorpusRepository
from core.text.words import content_words, shorten

MAX_SUGGESTIONS = 3
# Headings tried: one in four finds nothing, as its section is a stub or says it in other words.
CANDIDATES = 4
# Pages before and after the cited one from which headings are suggested.
NEAR_PAGES = 2
DOCUMENTS = 3  # looked into
FEW_PLACES = 2  # an answer that cites more sections than these is a list
# Buttons on chat platforms hold 75 characters: two names and the words around them. What the section leaves is the
# document's.
NAMES_LENGTH, DOCUMENT_LENGTH = 49, 24
_NUMBER = re.compile(r"(?:\d+(?:\.\d+)*[.)]|\d+(?:\.\d+)+)\s+(?=\S)")  # "3. ", "3) ", "3.1 " before a heading


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    heading: str
    page: Page
    shared: int  # words that its heading and the quotes have in common


async def suggest(
    question: str, citations: Sequence[Citation], corpus: CorpusRepository, library: Library, scope: SearchScope
) -> tuple[str, ...]:
    """Up to three questions about other sections near those cited, whose pages a search for their headings finds."""
    cited = {citation.document_id: citation for citation in reversed(citations)}
    seen, told = _words_of_places(citations) | content_words(question), _words_of_quotes(citations)
    found: list[_Candidate] = []
    for citation in list(cited.values())[:DOCUMENTS]:
        candidates = _candidates(await _pages_near(citation, corpus, scope), citation, seen, told)
        candidates = sorted(candidates, key=lambda item: -item.shared)[:CANDIDATES]
        if candidates:
            pages = await _pages_found(candidates, library, scope)
            found += [item for item in candidates if item.page.id in pages]
    spoken_of = sorted((item for item in found if item.shared), key=lambda item: -item.shared)
    is_list = len({(item.document_id, item.page_number, item.heading_path) for item in citations}) > FEW_PLACES
    chosen = spoken_of or ([] if is_list else found)
    return tuple(dict.fromkeys(item.text for item in chosen))[:MAX_SUGGESTIONS]


def question_about(document: str, section: str) -> str:
    """Return a question about a section of a document, short enough for a button."""
    number = _NUMBER.match(section)
    section = shorten(
        section[number.end() :] if number else section, NAMES_LENGTH - min(len(document), DOCUMENT_LENGTH)
    )
    document = shorten(document, NAMES_LENGTH - len(section))
    return f"What does “{document}” say about “{section}”?"


def _words_of_places(citations: Iterable[Citation]) -> set[str]:
    return set().union(*(content_words(" ".join(citation.heading_path)) for citation in citations))


def _words_of_quotes(citations: Iterable[Citation]) -> set[str]:
    return {word for citation in citations for word in content_words(citation.quote) if not word.isdecimal()}


async def _pages_near(citation: Citation, corpus: CorpusRepository, scope: SearchScope) -> list[Page]:
    """The cited page, those behind it, those before it: in this order, within scope."""
    here = citation.page_number
    numbers = [here, *range(here + 1, here + NEAR_PAGES + 1), *range(max(1, here - NEAR_PAGES), here)]
    return await corpus.find_pages(citation.document_id, numbers, scope)


def _candidates(
    pages: Sequence[Page], citation: Citation, seen: Collection[str], told: Collection[str]
) -> list[_Candidate]:
    """Return questions about headings that neither the question nor a footnote named; `told` are the quotes."""
    found = []
    for page in pages:
        for title in dict.fromkeys([page.title, *(heading.title for heading in page.headings)]):
            fresh = {word for word in content_words(title) if word not in seen}
            if fresh:
                text = question_about(citation.document_title, title)
                found.append(_Candidate(text=text, heading=title, page=page, shared=len(fresh.intersection(told))))
    return found


async def _pages_found(candidates: Sequence[_Candidate], library: Library, scope: SearchScope) -> set[str]:
    """Ids of the pages that a search for all the headings finds in their document."""
    query = SearchQuery(
        text=" ".join(item.heading for item in candidates),
        limit=2 * CANDIDATES,
        document_ids=frozenset({candidates[0].page.document_id}),
    )
    return {hit.page_id for hit in await library.search(query, scope)}
