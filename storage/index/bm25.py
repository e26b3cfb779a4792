"""A text as BM25 weights of its tokens (core/text/words.py), as the index stores them. Pure.

BM25 is Robertson and Zaragoza's, "The Probabilistic Relevance Framework" (2009); its IDF half is the engine's part.
"""

import zlib
from dataclasses import dataclass

from core.text.words import count_tokens, tokens

# BM25's usual constants: how fast repeats of a word stop counting, and how much length is held against a text.
SATURATION = 1.2
LENGTH_PENALTY = 0.75
# Tokens (stop words left out) of an average passage. Fixed, because stored weights are computed with it: passages are
# packed to 128-256 model tokens, of which 60-110 are such words. On 142 questions, values from 75 to 256 moved the
# hybrid's nDCG@10 by .005 (BM25's own by .02): fitting it to each corpus is not worth recomputing what is stored.
AVERAGE_LENGTH = 110.0


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Weights of words: parallel, sorted by index, no index twice. May be empty."""

    indices: tuple[int, ...] = ()  # unsigned, 32 bits
    values: tuple[float, ...] = ()


def weigh_passage(text: str) -> SparseVector:
    """BM25 term weights of a passage, without the IDF."""
    words = count_tokens(text)
    penalty = SATURATION * (1 - LENGTH_PENALTY + LENGTH_PENALTY * words.total() / AVERAGE_LENGTH)
    return _sparse({word: n * (SATURATION + 1) / (n + penalty) for word, n in words.items()})


def weigh_query(text: str) -> SparseVector:
    """Each word of a query once, at weight 1. Empty when it has stop words only."""
    return _sparse(dict.fromkeys(tokens(text), 1.0))


def _sparse(weights: dict[str, float]) -> SparseVector:
    hashed: dict[int, float] = {}
    for word, weight in weights.items():
        index = zlib.crc32(word.encode())
        hashed[index] = max(weight, hashed.get(index, 0.0))  # two words on one index are as one: rarer than 1 in 10,000
    ordered = sorted(hashed)
    return SparseVector(tuple(ordered), tuple(hashed[index] for index in ordered))
