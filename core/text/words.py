"""Words of a text: as people read them, and as searches compare them. Pure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache

from py_rust_stemmers import SnowballStemmer

from core.domain.passages import Span

_WORD = re.compile(r"\w+(?:[.,']\w+)*", re.UNICODE)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
# A word with the signs inside it, of addresses, versions and handles: "v1.2", "@ann", "a/b".
WORD = re.compile(r"(?<![\w'’./@#+-])[\w'’./@#+-]*\w")
# English function words: they say nothing about a sentence's subject.
STOPWORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but by
    can could did do does doing down during each few for from further had has have having he her here hers him his how i
    if in into is it its itself just me more most my no nor not now of off on once only or other our out over own same
    she should so some such than that the their them then there these they this those through to too under until up
    very was we were what when where which while who whom why will with would you your""".split()
)


def collapse(text: str) -> str:
    """Replace every run of white space by one space, and strip the ends."""
    return " ".join(text.split())


def placed_lines(text: str, end: str = "\n") -> Iterator[tuple[int, str]]:
    """Yield each line with its position."""
    start = 0
    for line in text.split(end):
        yield start, line
        start += len(line) + len(end)


def words(text: str) -> list[str]:
    """Return lower-cased words in order; numbers keep their points and commas."""
    return [match.group().lower() for match in _WORD.finditer(unicodedata.normalize("NFKC", text))]


def content_words(text: str) -> set[str]:
    """Return the words that aren't STOPWORDS."""
    return {word for word in words(text) if word not in STOPWORDS}


def code_spans(text: str) -> list[Span]:
    """Return the places of fenced blocks (an unclosed one runs to the end) and inline code."""
    return [Span(match.start(), match.end()) for match in _CODE.finditer(text)]


def shorten(text: str, limit: int) -> str:
    """Return one line of at most `limit` characters, cut at a word with an ellipsis."""
    line = collapse(text)
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip(" ,;:") + "…"


# ---------------------------------------------------------------------------------------------- tokens of searches

# The index, the query, the sentence ranker and the counts of whole pages share these, so that their words always match.
# Chinese, Japanese, Korean and South-East Asian scripts have no spaces between words: runs of them become overlapping
# pairs of characters.
LONGEST_TOKEN = 60  # characters; longer ones are data (base64, hashes) that people don't type
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
    """Return stemmed, case-folded words in order, with repeats and without stop words; may be empty."""
    return [token for piece in _TOKEN.finditer(_normal(text)) for token in _tokens_of(piece.lastgroup, piece.group())]


def count_tokens(text: str) -> Counter[str]:
    """Count the `tokens` of a text. Faster for a long text, because each form of a word is processed once."""
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
    """Return the stem of a word without its accents; "" for a stop word."""
    lowered = "".join(c for c in unicodedata.normalize("NFD", word.casefold()) if not "\u0300" <= c <= "\u036f")
    if lowered in STOP_WORDS:
        return ""
    return _stemmer().stem_word(lowered) if lowered.isascii() and lowered.isalpha() else lowered


@cache
def _stemmer() -> SnowballStemmer:
    return SnowballStemmer("english")
