"""Words of a text as searches compare them: stems, and pairs of characters where a script has no spaces. Pure.

One tokeniser serves the index, the query side, the sentence ranker and the words of whole pages, so that their words
always meet. Chinese, Japanese, Korean and South-East Asian scripts write no spaces between words: their runs become
overlapping pairs of characters.
"""

import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py_rust_stemmers import SnowballStemmer

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

STOP_WORDS = frozenset(
    "a about above after again against all am an and any are as at be because been before being below between "
    "both but by can could did do does doing down during each few for from further had has have having he her "
    "here hers him his how i if in into is it its itself just ll me more most my no nor not now of off on "
    "once only or other our ours out over own re s same she should so some such t than that the their theirs "
    "them then there these they this those through to too under until up ve very was we were what when where "
    "which while who whom why will with would you your yours".split()
)


def tokens(text: str) -> list[str]:
    """Stemmed, case-folded words of `text` in order, repeats kept, stop words left out; may be empty."""
    return [token for piece in _TOKEN.finditer(_normal(text)) for token in _tokens_of(piece.lastgroup, piece.group())]


def count_tokens(text: str) -> Counter[str]:
    """How often each of the `tokens` stands in `text`. Of a long text faster: each form of a word is looked at once."""
    counts: Counter[str] = Counter()
    for (kind, piece), times in Counter((m.lastgroup, m.group()) for m in _TOKEN.finditer(_normal(text))).items():
        for token in _tokens_of(kind, piece):
            counts[token] += times
    return counts


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _tokens_of(kind: str | None, piece: str) -> list[str]:
    if kind == "unspaced":
        return _pairs(piece)
    if kind == "number":
        return [piece.replace(",", "")[:LONGEST_TOKEN]]
    stem = _stem(piece) if len(piece) <= LONGEST_TOKEN else ""
    return [stem] if stem else []


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


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
