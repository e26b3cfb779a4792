"""Words of long documents: names that are common inside them, and BM25 over their whole pages.

A novel's people are rare in the library, so their names lead a search to the right book. Inside the book they are
everywhere, and drown the words that distinguish passages ("how much rent did Tapio pay?").

The subject of a question is spread over a chapter: one passage of some 100 words holds one word of the question, the
next one another. And only the book's own counts tell how rare a word is in it. BM25 is Robertson and Zaragoza's, "The
Probabilistic Relevance Framework" (2009).
"""

import asyncio
import math
import re
import zlib
from array import array
from bisect import bisect_left
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from core.domain.corpus import Document, Page, SearchQuery, SearchScope, SourcedPassage
from core.ports import CorpusRepository
from core.text.words import collapse, content_words, count_tokens

KEPT = 64  # documents whose words stay in memory: reading a novel for them takes about 50 ms of a core
# Passages of the longest document whose pages are counted, about 700,000 words: it takes more than a second of a core,
# and 5 MB. In longer ones, mostly manuals, a page has only a passage or two, and says little more than those do.
MOST_COUNTED = 5_000

# Weight of the best page by its words, inside a long document, where scores of passages are 0 to 2. Anything from .5 to
# 3 was better than none.
_PAGE_WEIGHT = 1.5


@dataclass(frozen=True, slots=True)
class DocumentWords:
    """Counts of words of a long document, as far as it may be read."""

    common: frozenset[str]  # names
    page_ids: tuple[str, ...]  # empty for a document of more than MOST_COUNTED passages
    by_page: "PageWords"  # in the order of `page_ids`


class LongDocuments:
    """Reads the words of documents, and keeps them for the last KEPT ones."""

    def __init__(self, corpus: CorpusRepository) -> None:
        self._corpus = corpus
        self._words: OrderedDict[tuple[str, str | None, int | None], DocumentWords] = OrderedDict()
        self._counting = asyncio.Lock()  # simultaneous questions about a book share one count

    async def words_of(self, document: Document, scope: SearchScope) -> DocumentWords:
        key = (document.id, document.revision, scope.positions.get(document.id))
        if key not in self._words:
            async with self._counting:
                if key not in self._words:
                    pages = await self._corpus.list_pages(document.id, scope)
                    self._words[key] = await asyncio.to_thread(_count, pages, document.passages)
        self._words.move_to_end(key)
        while len(self._words) > KEPT:
            self._words.popitem(last=False)
        return self._words[key]

    async def reorder(
        self,
        query: SearchQuery,
        found: Sequence[SourcedPassage],
        document: Document,
        scope: SearchScope,
        search: Callable[[SearchQuery, SearchScope], Awaitable[list[SourcedPassage]]],
    ) -> list[SourcedPassage]:
        """Reorder the passages of a document in `found`, within the places that they have.

        Their scores are the mean of two searches, with and without the names that are common in the document: only the
        second search found as many right chapters among the first five, but fewer at the top. Their pages' use of the
        query's words is added.
        """
        words = await self.words_of(document, scope)
        inside = [item for item in found if item.document.id == document.id]
        rest = without_common(query.text, words.common)
        if rest is not None:
            narrow = replace(query, text=rest, document_ids=frozenset({document.id}))
            inside = _mean(inside, await search(narrow, scope))
        scores = await asyncio.to_thread(words.by_page.shares, query.text)  # slow for a long question
        shares = dict(zip(words.page_ids, scores, strict=True))
        order = best_first([_raised(item, shares.get(item.passage.page_id, 0.0)) for item in inside])
        return best_first([*_in_places_of(found, order, document), *(i for i in found if i.document.id != document.id)])


def _mean(first: Sequence[SourcedPassage], second: Sequence[SourcedPassage]) -> list[SourcedPassage]:
    """Return the passages of either search with their mean scores; a passage missing in one has 0 there."""
    sums: dict[str, SourcedPassage] = {}
    for item in (*first, *second):
        before = sums[item.passage.id].score if item.passage.id in sums else 0.0
        sums[item.passage.id] = replace(item, score=before + item.score / 2)
    return list(sums.values())


def _raised(found: SourcedPassage, share: float) -> SourcedPassage:
    return replace(found, score=found.score + _PAGE_WEIGHT * share)


def _in_places_of(
    found: Sequence[SourcedPassage], order: Sequence[SourcedPassage], document: Document
) -> list[SourcedPassage]:
    """Give `order` the scores of the document's passages in `found`, best first; passages left over get the last one.

    So a look inside one document doesn't move it relative to others.
    """
    scores = sorted((item.score for item in found if item.document.id == document.id), reverse=True)
    return [replace(item, score=scores[min(place, len(scores) - 1)]) for place, item in enumerate(order)]


def best_first(found: Sequence[SourcedPassage]) -> list[SourcedPassage]:
    """Return passages by score, the highest first."""
    return sorted(found, key=lambda item: -item.score)


def _count(pages: Sequence[Page], passages: int) -> DocumentWords:
    counted = pages if passages <= MOST_COUNTED else ()
    return DocumentWords(
        common=common_names([page.text for page in pages], passages),
        page_ids=tuple(page.id for page in counted),
        by_page=count_words([page.text for page in counted]),
    )


# ------------------------------------------------------------------------------------------------------- common names

# Uses of a common name for each passage of the document. Anything from .08 to .15 gave the same.
COMMON = 0.12
FEWEST_LEFT = 2  # content words: fewer say too little to search for

_NAME = re.compile(r"\b[^\W\d_a-z][^\W\d_]+")
_WORD = re.compile(r"\S+")
_ENDING = re.compile(r"['’]s?$")
_TITLES = frozenset({"mr", "mrs", "ms", "miss", "dr", "sir", "lady", "lord"})


def common_names(texts: Iterable[str], passages: int) -> frozenset[str]:
    """Return the capitalised words that are common in a document of so many passages."""
    counts = Counter(name for text in texts for name in _NAME.findall(text))
    return frozenset(name for name, count in counts.items() if count >= passages * COMMON)


def without_common(query: str, common: frozenset[str]) -> str | None:
    """Remove common names from the query; None if it has none, or little else."""
    kept = [match.group() for match in _WORD.finditer(query) if not _is_common(match, common)]
    rest = " ".join(kept)
    return rest if rest != collapse(query) and len(content_words(rest)) >= FEWEST_LEFT else None


def _is_common(match: re.Match[str], common: frozenset[str]) -> bool:
    if match.start() == 0 or _NAME.search(match.group()) is None:
        return False
    bare = _ENDING.sub("", match.group().strip('"“”‘().,;:!?*_'))
    return bare in common or bare.lower() in _TITLES


# -------------------------------------------------------------------------------------------------------- page words

SATURATION = 3.0  # repeats count more in a chapter than in a passage (usually 1.2); 1.2 to 5 gave the same
LENGTH_PENALTY = 0.75
# Minimum of a document's best score: one use of a word that half of its pages have. If pages share only a name with all
# others, none of them is lifted.
LEAST = math.log(2) / (1 + SATURATION)


@dataclass(frozen=True, slots=True)
class PageWords:
    """Counts of words by page, in arrays: about 150 kB for a novel.

    The word with the id `ids[i]` is on the pages `pages[starts[i] : starts[i + 1]]`, `counts` times each.
    """

    ids: "array[int]"  # ascending checksums of stems; two words with the same id count as one
    starts: "array[int]"
    pages: "array[int]"  # places in the sequence that was counted
    counts: "array[int]"
    lengths: "array[int]"  # words of each page, without stop words

    def shares(self, query: str) -> list[float]:
        """Score each page as a share of the best one's score: 0 to 1, all 0 if no page has a word of the query."""
        scores = [0.0] * len(self.lengths)
        average = sum(self.lengths) / len(self.lengths) if self.lengths else 0.0
        for word in {_id(stem) for stem in count_tokens(query)}:
            found = self._places(word)
            rarity = _rarity(len(found), len(scores))
            for at in found:
                penalty = 1 - LENGTH_PENALTY + LENGTH_PENALTY * self.lengths[self.pages[at]] / average
                scores[self.pages[at]] += rarity * self.counts[at] / (self.counts[at] + SATURATION * penalty)
        best = max([LEAST, *scores])
        return [score / best for score in scores]

    def _places(self, word: int) -> range:
        place = bisect_left(self.ids, word)
        if place == len(self.ids) or self.ids[place] != word:
            return range(0)
        return range(self.starts[place], self.starts[place + 1])


def count_words(texts: Sequence[str]) -> PageWords:
    """Count the words of pages by stem, without stop words."""
    lengths = array("I")
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for page, text in enumerate(texts):
        counted = count_tokens(text)
        lengths.append(counted.total())
        for stem, count in counted.items():
            postings[stem].append((page, count))
    by_id: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for stem, found in postings.items():
        by_id[_id(stem)] += found
    words = PageWords(array("I"), array("I", [0]), array("I"), array("I"), lengths)
    for word in sorted(by_id):
        words.ids.append(word)
        words.pages.extend(page for page, _ in by_id[word])
        words.counts.extend(count for _, count in by_id[word])
        words.starts.append(len(words.pages))
    return words


def _rarity(pages_with_it: int, pages: int) -> float:
    """Return the IDF, never below zero: next to nothing for a word on every page."""
    return math.log(1 + (pages - pages_with_it + 0.5) / (pages_with_it + 0.5))


def _id(stem: str) -> int:
    return zlib.crc32(stem.encode())
