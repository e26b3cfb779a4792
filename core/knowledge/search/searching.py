"""Searches as people ask: pages by their best passages, with a second look inside the document that is meant.

A second look is taken in the documents that a query names ("in Treasure Island, ..."), and in a long document that
leads the first search: without the names which stand all over it (common_names.py), and by the words of its
whole pages (core/knowledge/search/page_words.py).
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.access.positions.reading_asides import without_reading
from core.domain.corpus import Document, Page, PageHit, SearchQuery, SearchScope, SourcedPassage
from core.errors import InvalidState
from core.knowledge.search.common_names import common_names, leading_document, without_common
from core.knowledge.search.named_documents import find_named
from core.knowledge.search.page_words import PageWords, count_words
from core.ports import CorpusRepository, SearchIndex

# Passages asked of the index for each page wanted: several of one page often match.
_PASSAGES_PER_PAGE = 4
# Passages asked for at first, at least, and in the end, at most: when hits of one page crowd out the rest, more are
# fetched, three times as many each time.
_FEWEST_PASSAGES = 40
_MOST_PASSAGES = 1_000
# A page of a document that the query names stays ahead of a page elsewhere that stands out up to this factor more.
_NAMED_WEIGHT = 1.25
# What the best page by its words is worth inside a long document, where scores of passages are 0 to 2. Anything from .5
# to 3 was better than none.
_PAGE_WEIGHT = 1.5
# Long documents whose words are kept at hand: reading a novel for them takes some 50 ms of a core.
_KEPT = 64
# Passages of the longest document whose pages are counted, some 700,000 words: it takes more than a second of a core,
# and 5 MB. In longer ones, manuals mostly, a page is a passage or two, and says little more than those do.
MOST_COUNTED = 5_000


@dataclass(frozen=True, slots=True)
class _Words:
    """What is known of the words of a long document, as far as it may be read."""

    common: frozenset[str]  # names
    page_ids: tuple[str, ...]  # none where the document has more than MOST_COUNTED passages
    by_page: PageWords  # in the order of `page_ids`


class PassageSearch:
    """The one search behind the library: texts and scope in, pages out."""

    def __init__(self, corpus: CorpusRepository, index: SearchIndex) -> None:
        self._corpus = corpus
        self._index = index
        self._words: OrderedDict[tuple[str, str | None, int | None], _Words] = OrderedDict()
        self._counting = asyncio.Lock()  # many may ask about a book at once: it is counted for all of them

    async def pages(self, query: SearchQuery, scope: SearchScope) -> list[PageHit]:
        """Pages with a passage that matches, best first by their best passage, at most `query.limit`."""
        query = replace(query, text=without_reading(query.text))
        found = await self._passages(query, scope)
        named = find_named(query.text, {item.document.id: item.document for item in found}.values())
        if named is None:
            return _grouped(await self._looked_into(query, found, scope))[: query.limit]
        inside = replace(query, text=named.rest, document_ids=named.document_ids)
        meant = await self._looked_into(inside, await self._passages(inside, scope), scope)
        elsewhere = [item for item in found if item.document.id not in named.document_ids]
        return _grouped(_best_first([*map(_weighed, meant), *elsewhere]))[: query.limit]

    async def _passages(self, query: SearchQuery, scope: SearchScope) -> list[SourcedPassage]:
        """Live passages, best first, of as many pages as are wanted where there are as many."""
        asked = max(query.limit * _PASSAGES_PER_PAGE, _FEWEST_PASSAGES)
        while True:
            hits = await self._index.search(replace(query, limit=asked), scope)
            if not hits:
                await self._require_index()
                return []
            scores = {hit.passage_id: hit.score for hit in hits}
            live = await self._corpus.list_passages(list(scores), scope)
            pages = {sourced.passage.page_id for sourced in live}
            if len(pages) >= query.limit or len(hits) < asked or asked >= _MOST_PASSAGES:
                return [replace(sourced, score=scores[sourced.passage.id]) for sourced in live]
            asked = min(asked * 3, _MOST_PASSAGES)

    async def _require_index(self) -> None:
        """Raises InvalidState when the index is empty and should not be: "nothing found" would not be true."""
        if await self._index.count() == 0 and any((await self._corpus.live_revisions()).values()):
            raise InvalidState(
                "The search index is empty, but the library is not: build it again from the database with "
                "`footnote db reindex`; a service does so when it starts."
            )

    async def _looked_into(
        self, query: SearchQuery, found: list[SourcedPassage], scope: SearchScope
    ) -> list[SourcedPassage]:
        """`found`, with the passages of a long document that leads it in another order, on the places they hold there.

        Their scores are the mean of two searches, with and without the names that stand all over the document: the
        second alone found as many right chapters among the first five, but fewer at the top. To these comes what
        their pages use of the query's words.
        """
        leading = leading_document(found)
        if leading is None or query.rerank:
            return found
        words = await self._words_of(leading, scope)
        inside = [item for item in found if item.document.id == leading.id]
        rest = without_common(query.text, words.common)
        if rest is not None:
            alone = replace(query, text=rest, document_ids=frozenset({leading.id}))
            inside = _mean(inside, await self._passages(alone, scope))
        scores = await asyncio.to_thread(words.by_page.shares, query.text)  # of a long question it takes a while
        shares = dict(zip(words.page_ids, scores, strict=True))
        order = _best_first([_raised(item, shares.get(item.passage.page_id, 0.0)) for item in inside])
        return _best_first([*_on_places_of(found, order, leading), *(i for i in found if i.document.id != leading.id)])

    async def _words_of(self, document: Document, scope: SearchScope) -> _Words:
        key = (document.id, document.revision, scope.positions.get(document.id))
        if key not in self._words:
            async with self._counting:
                if key not in self._words:
                    pages = await self._corpus.list_pages(document.id, scope)
                    self._words[key] = await asyncio.to_thread(_count, pages, document.passages)
        self._words.move_to_end(key)
        while len(self._words) > _KEPT:
            self._words.popitem(last=False)
        return self._words[key]


def _count(pages: Sequence[Page], passages: int) -> _Words:
    counted = pages if passages <= MOST_COUNTED else ()
    return _Words(
        common=common_names([page.text for page in pages], passages),
        page_ids=tuple(page.id for page in counted),
        by_page=count_words([page.text for page in counted]),
    )


def _mean(first: Sequence[SourcedPassage], second: Sequence[SourcedPassage]) -> list[SourcedPassage]:
    """The passages of either, with the mean of their scores; what one did not find has 0 there."""
    sums: dict[str, SourcedPassage] = {}
    for item in (*first, *second):
        before = sums[item.passage.id].score if item.passage.id in sums else 0.0
        sums[item.passage.id] = replace(item, score=before + item.score / 2)
    return list(sums.values())


def _raised(found: SourcedPassage, share: float) -> SourcedPassage:
    return replace(found, score=found.score + _PAGE_WEIGHT * share)


def _on_places_of(
    found: Sequence[SourcedPassage], order: Sequence[SourcedPassage], document: Document
) -> list[SourcedPassage]:
    """`order` with the scores that passages of `document` have in `found`, best first; those left over get the last.

    So a look into one document changes nothing between it and others, whose passages nobody looked into.
    """
    scores = sorted((item.score for item in found if item.document.id == document.id), reverse=True)
    return [replace(item, score=scores[min(place, len(scores) - 1)]) for place, item in enumerate(order)]


def _weighed(found: SourcedPassage) -> SourcedPassage:
    """A score below zero grows by division; the weight must never push a passage down."""
    return replace(found, score=found.score * _NAMED_WEIGHT if found.score >= 0 else found.score / _NAMED_WEIGHT)


def _best_first(found: Sequence[SourcedPassage]) -> list[SourcedPassage]:
    return sorted(found, key=lambda item: -item.score)


def _grouped(passages: Sequence[SourcedPassage]) -> list[PageHit]:
    """One hit a page, in the order of each page's first (best) passage."""
    by_page: dict[str, list[SourcedPassage]] = {}
    for sourced in passages:
        by_page.setdefault(sourced.passage.page_id, []).append(sourced)
    return [
        PageHit(
            document=group[0].document,
            page_id=page_id,
            page_number=group[0].passage.page_number,
            heading_path=group[0].passage.titles,
            passages=tuple(group),
            score=group[0].score,
        )
        for page_id, group in by_page.items()
    ]
