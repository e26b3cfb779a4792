"""Which pages of a long document use a query's words: BM25 over whole pages, rare words by that document alone. Pure.

What is asked about in a chapter is spread over it: a passage of some 100 words holds one word of the question, the
next the other. And a word that is rare in the library may stand all over its own book, so that only the book's own
count says what it is worth there. BM25 is Robertson and Zaragoza's, "The Probabilistic Relevance Framework" (2009).
"""

import math
import zlib
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from core.text.tokens import count_tokens

# Repeats of a word say more in a chapter than in a passage, where 1.2 is usual. From 1.2 to 5 it is all one.
SATURATION = 3.0
LENGTH_PENALTY = 0.75
# The best score of a document is at least this: that of one use of a word which half of the pages have. Of pages that
# only share a name with all the others, none stands out.
LEAST = math.log(2) / (1 + SATURATION)


@dataclass(frozen=True, slots=True)
class PageWords:
    """Counts of words by page: some 150 kB for a novel, which is why they stand in arrays.

    The word with the id `ids[i]` stands on the pages `pages[starts[i] : starts[i + 1]]`, `counts` times each.
    """

    ids: "array[int]"  # ascending; checksums of stems: two words on one id are as one
    starts: "array[int]"
    pages: "array[int]"  # places in the sequence that was counted
    counts: "array[int]"
    lengths: "array[int]"  # words of each page, without stop words

    def shares(self, query: str) -> list[float]:
        """A score for each page, in their order, as a share of the best one's: 0 to 1, all 0 where no word is found."""
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
        """Where the pages and counts of a word stand; empty where no page has it."""
        place = bisect_left(self.ids, word)
        if place == len(self.ids) or self.ids[place] != word:
            return range(0)
        return range(self.starts[place], self.starts[place + 1])


def count_words(texts: Sequence[str]) -> PageWords:
    """The words of these pages; stop words are left out, and the forms of a word are one."""
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
    """IDF, never below zero: of a word that every page has it is next to nothing."""
    return math.log(1 + (pages - pages_with_it + 0.5) / (pages_with_it + 0.5))


def _id(stem: str) -> int:
    return zlib.crc32(stem.encode())
