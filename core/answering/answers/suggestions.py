"""Questions that the library can answer, offered after an answer and to people who have not asked yet.

They come from headings that are questions and from extracts, and a search has to find the page they come from. No
question is better than a bad one: a heading that only names a subject gives none.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import chain, zip_longest

from core.domain.answer import Citation
from core.domain.corpus import Document, Page, SearchQuery, SearchScope
from core.domain.extracts import Extract, ExtractQuery, ExtractType
from core.knowledge.library import Library
from core.ports import CorpusRepository
from core.ports.documents import ExtractRepository
from core.text.words import collapse, content_words

MAX_SUGGESTIONS = 2  # after an answer
LONGEST = 60  # characters; a longer question is left out, because a truncated one can't be read
NEAR_PAGES = 2  # before and after the cited one
FEW_PLACES = 2  # an answer that cites more sections than these is a list
DOCUMENTS_TRIED = 40  # until there are enough questions about the library
_DOCUMENTS = 3  # cited ones that are looked into
_SEARCHES = 4  # for each answer or document: a suggestion must not cost as much as an answer
_FOUND_AMONG = 3  # hits of the search that checks a question
_EXTRACTS = 40  # read of a document
_KEPT_PLACES = 64  # whose questions about the library are kept: finding them takes up to 160 searches
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
# A heading asks if one of these is its first word, or its second or third after one of those: "How many may board".
_VERBS = frozenset("is are was were do does did can could may must should will would has have".split())
_QUESTION_WORDS = frozenset("what who whose which when where why how".split())
_FEWEST_WORDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    text: str
    page_id: str


class SuggestedQuestions:
    def __init__(self, corpus: CorpusRepository, library: Library, extracts: ExtractRepository) -> None:
        self._corpus = corpus
        self._library = library
        self._extracts = extracts
        self._about: OrderedDict[tuple[object, ...], asyncio.Task[dict[str, str]]] = OrderedDict()

    async def after(self, asked: str, citations: Sequence[Citation], scope: SearchScope) -> tuple[str, ...]:
        """Return up to two questions about pages near the cited ones; first those with words of the quotes.

        Below a list of rows from many places only those are offered: others would be about something else.
        """
        places = [" ".join(citation.heading_path) for citation in citations]
        seen = content_words(" ".join([asked, *places]))
        told = {word for citation in citations for word in content_words(citation.quote) if not word.isdecimal()} - seen
        cited = {citation.document_id: citation for citation in reversed(citations)}
        ranked: list[tuple[int, str, _Candidate]] = []
        for citation in list(cited.values())[:_DOCUMENTS]:
            here = citation.page_number
            numbers = [here, *range(here + 1, here + NEAR_PAGES + 1), *range(max(1, here - NEAR_PAGES), here)]
            pages = await self._corpus.find_pages(citation.document_id, numbers, scope)
            for item in await self._candidates(citation.document_id, pages, scope):
                words = content_words(item.text)
                if words - seen:
                    ranked.append((len(words & told), citation.document_id, item))
        is_list = len({(item.document_id, item.page_number, item.heading_path) for item in citations}) > FEW_PLACES
        if is_list or any(shared for shared, _, _ in ranked):
            ranked = [item for item in ranked if item[0]]
        ranked.sort(key=lambda item: -item[0])
        return tuple(await self._found([item for _, _, item in ranked], scope, MAX_SUGGESTIONS))

    async def about(self, documents: Iterable[Document], scope: SearchScope, most: int) -> dict[str, str]:
        """Return at most `most` questions, each about another document in the scope: newest first, sources in turn.

        They map to the ids of their documents.

        They are looked for once for each scope, until a document changes. A caller that stops waiting doesn't stop the
        search.
        """
        readable = [item for item in documents if item.revision is not None and scope.allows(item)]
        library = hash(frozenset((item.id, item.revision, item.extracted_at) for item in readable))
        key = (scope.workspace, scope.digest, most, library)
        task = self._about.pop(key, None)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = asyncio.create_task(self._find_about(readable, scope, most))
        self._about[key] = task
        while len(self._about) > _KEPT_PLACES:
            self._about.popitem(last=False)
        return dict(await asyncio.shield(task))

    async def _find_about(self, readable: Sequence[Document], scope: SearchScope, most: int) -> dict[str, str]:
        by_source: dict[str, list[Document]] = {}
        for item in sorted(readable, key=lambda one: one.crawled_at or _LONG_AGO, reverse=True):
            by_source.setdefault(item.source, []).append(item)
        in_turn = [item for item in chain.from_iterable(zip_longest(*by_source.values())) if item is not None]
        found: dict[str, str] = {}
        for document in in_turn[:DOCUMENTS_TRIED]:
            pages = await self._corpus.find_pages(document.id, range(1, NEAR_PAGES + 2), scope)
            candidates = await self._candidates(document.id, pages, scope)
            for text in await self._found(candidates, scope, 1):
                found.setdefault(text, document.id)
            if len(found) == most:
                break
        return found

    async def _candidates(self, document_id: str, pages: Sequence[Page], scope: SearchScope) -> list[_Candidate]:
        """Return the questions of these pages, page by page; headings before extracts."""
        if not pages:
            return []
        query = ExtractQuery(
            document_ids=frozenset({document_id}), page_ids=frozenset(page.id for page in pages), limit=_EXTRACTS
        )
        extracts = await self._extracts.list_extracts(query, scope)
        found = []
        for page in pages:
            texts = [*_headings(page), *chain.from_iterable(_of(item) for item in extracts if item.page_id == page.id)]
            found += [_Candidate(text=text, page_id=page.id) for text in dict.fromkeys(texts)]
        return [item for item in found if len(item.text) <= LONGEST]

    async def _found(self, candidates: Sequence[_Candidate], scope: SearchScope, most: int) -> list[str]:
        """Return the first questions for which a search finds the page they come from."""
        found: list[str] = []
        for item in candidates[:_SEARCHES]:
            hits = await self._library.search(SearchQuery(text=item.text, limit=_FOUND_AMONG), scope)
            if any(hit.page_id == item.page_id for hit in hits) and item.text not in found:
                found.append(item.text)
            if len(found) == most:
                break
        return found


def _headings(page: Page) -> Iterator[str]:
    """Yield the headings that ask, each with its question mark."""
    for title in (page.title, *(heading.title for heading in page.headings)):
        text = collapse(title)
        first, *others = text.casefold().split() or [""]
        asks = first in _VERBS or (first in _QUESTION_WORDS and not _VERBS.isdisjoint(others[:2]))
        if len(others) + 1 >= _FEWEST_WORDS and (asks or text.endswith("?")):
            yield text if text.endswith("?") else f"{text.rstrip('.:!')}?"


def _of(extract: Extract) -> Iterator[str]:
    """Yield the questions that an extract answers."""
    data = extract.data
    match extract.type:
        case ExtractType.MEETING:
            if data.get("date") and data.get("decisions"):
                yield f"What was decided on {_written(str(data['date']))}?"
            owners = [str(item["owner"]) for item in _rows(data.get("action_items")) if item.get("owner")]
            yield from (f"What are the action items of {owner}?" for owner in dict.fromkeys(owners))
        case ExtractType.API:
            for endpoint in _rows(data.get("endpoints")):
                yield f"What does {endpoint['method']} {endpoint['path']} do?"
        case ExtractType.ENTITY:
            if data.get("definition"):
                yield f"{'Who' if data.get('kind') == 'person' else 'What'} is {data['name']}?"
        case _:
            return


def _rows(value: object) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list | tuple) else []


def _written(day: str) -> str:
    """Return "2026-06-09" as "9 June 2026"."""
    found = date.fromisoformat(day)
    return f"{found.day} {found:%B %Y}"
