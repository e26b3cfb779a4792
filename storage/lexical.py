"""Words of a text as the search sees them: plain text, tokens, and BM25 weights. Pure.

One tokeniser serves every engine, the query side and the sentence ranker, so that their words always meet. Chinese,
Japanese, Korean and South-East Asian scripts write no spaces between words: their runs become overlapping pairs of
characters.
BM25 is Robertson and Zaragoza's, "The Probabilistic Relevance Framework" (2009); its IDF half is the engine's part.
"""

import re
import unicodedata
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py_rust_stemmers import SnowballStemmer

# BM25's usual constants: how fast repeats of a word stop counting, and how much length is held against a text.
SATURATION = 1.2
LENGTH_PENALTY = 0.75
# Tokens (stop words left out) of an average passage. Fixed, because stored weights are computed with it: passages are
# packed to 128-256 model tokens, of which 60-110 are such words. On 142 questions, values from 75 to 256 moved the
# hybrid's nDCG@10 by .005 (BM25's own by .02): fitting it to each corpus is not worth recomputing what is stored.
AVERAGE_LENGTH = 110.0
LONGEST_TOKEN = 60  # characters; what is longer is data (base64, hashes) that nobody types
STEM_CACHE = 50_000  # words

# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, kana, Han, Hangul.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Marks that belong to the letter before them, which \w leaves out: accents, Hebrew and Arabic points, Indic vowels.
_MARKS = r"\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_TOKEN = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)|(?P<number>\d+(?:[.,]\d+)*(?![^\W_]))|(?P<word>(?:[^\W_{_UNSPACED}][{_MARKS}]*)+)"
)
_ANY_WORD = re.compile(r"[^\W_]")

STOP_WORDS = frozenset(
    "a about above after again against all am an and any are as at be because been before being below between "
    "both but by can could did do does doing down during each few for from further had has have having he her "
    "here hers him his how i if in into is it its itself just ll me more most my no nor not now of off on "
    "once only or other our ours out over own re s same she should so some such t than that the their theirs "
    "them then there these they this those through to too under until up ve very was we were what when where "
    "which while who whom why will with would you your yours".split()
)

_PLAIN_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"<!--.{0,2000}?-->", re.DOTALL), " "),
    (re.compile(r"</?[A-Za-z][^<>]{0,500}>"), " "),
    (re.compile(r"@\w{1,20}\[[^\[\]]{0,300}\]\{([^{}]{0,300})\}"), r"\1"),  # @UUID[...]{label}
    (re.compile(r"!?\[\[([^\[\]|]{1,300})\|([^\[\]]{1,300})\]\]"), r"\2"),  # [[note|label]]
    (re.compile(r"!?\[\[([^\[\]]{1,300})\]\]"), r"\1"),
    (re.compile(r"\[\^[^\[\]\s]{1,50}\]:?"), " "),  # footnote marks
    (re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,1000}(?:\s[^()]{0,300})?\)"), r"\1"),  # [label](target)
    (re.compile(r"^[ \t]*(?:[-*_][ \t]*){3,200}$", re.MULTILINE), " "),  # rules
    (re.compile(r"^[ \t>]*(?:#{1,6}[ \t]+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|>[ \t]*)", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*(?=[|:-])[ \t|:-]{3,2000}$", re.MULTILINE), " "),  # the line under a table's head
    (re.compile(r"\\(?=[^\w\s])"), ""),
    (re.compile(r"[*`~|]+|(?<![^\W_])_+|_+(?![^\W_])"), " "),
    (re.compile(r"\s+"), " "),
)


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Weights of words: parallel, sorted by index, no index twice. May be empty."""

    indices: tuple[int, ...] = ()  # unsigned, 32 bits
    values: tuple[float, ...] = ()


def plain(text: str) -> str:
    """`text` without Markdown and HTML marks, white space made single: for embedding, never for quoting."""
    for pattern, replacement in _PLAIN_STEPS:
        text = pattern.sub(replacement, text)
    return text.strip()


def has_words(text: str) -> bool:
    """Whether there is any letter or digit to search for."""
    return _ANY_WORD.search(text) is not None


def tokens(text: str) -> list[str]:
    """Stemmed, case-folded words of `text` in order, repeats kept, stop words left out; may be empty."""
    found: list[str] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        piece = match.group()
        if match.lastgroup == "unspaced":
            found += _pairs(piece)
        elif match.lastgroup == "number":
            found.append(piece.replace(",", "")[:LONGEST_TOKEN])
        elif len(piece) <= LONGEST_TOKEN and (stem := _stem(piece)):
            found.append(stem)
    return found


def weigh_passage(text: str) -> SparseVector:
    """BM25 term weights of a passage, without the IDF."""
    words = tokens(text)
    penalty = SATURATION * (1 - LENGTH_PENALTY + LENGTH_PENALTY * len(words) / AVERAGE_LENGTH)
    return _sparse({word: n * (SATURATION + 1) / (n + penalty) for word, n in Counter(words).items()})


def weigh_query(text: str) -> SparseVector:
    """Each word of a query once, at weight 1. Empty when it has stop words only."""
    return _sparse(dict.fromkeys(tokens(text), 1.0))


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _sparse(weights: dict[str, float]) -> SparseVector:
    hashed: dict[int, float] = {}
    for word, weight in weights.items():
        index = zlib.crc32(word.encode())
        hashed[index] = max(weight, hashed.get(index, 0.0))  # two words on one index are as one: rarer than 1 in 10,000
    ordered = sorted(hashed)
    return SparseVector(tuple(ordered), tuple(hashed[index] for index in ordered))


@lru_cache(maxsize=STEM_CACHE)
def _stem(word: str) -> str:
    """The stem of one word without its accents; "" for a stop word."""
    lowered = "".join(c for c in unicodedata.normalize("NFD", word.casefold()) if not "\u0300" <= c <= "\u036f")
    if lowered in STOP_WORDS:
        return ""
    return _stemmer().stem_word(lowered) if lowered.isascii() and lowered.isalpha() else lowered


@cache
def _stemmer() -> "SnowballStemmer":
    from py_rust_stemmers import SnowballStemmer

    return SnowballStemmer("english")
