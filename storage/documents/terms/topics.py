"""The topics of a text: its key phrases, found by counting, the same every time. Pure.

Candidates are runs of up to three words between function words, punctuation and line ends. One counts as often as it
stands there, more the longer it is (1, 1.8, 2.4 for one, two, three words), and thrice where it stands in a heading.
Single words and phrases that stand but once, outside of headings, are none, save in short texts. Of phrases that hold
each other the better one stays. Ties go to what stands first.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from core.text.words import STOPWORDS

MAX_TOPICS = 8
MAX_WORDS = 3
# Words of a text up to which a phrase need not be said twice.
SHORT_TEXT = 120
# Letters of the longest word that is one: longer ones are addresses, ids, or scripts without spaces.
MAX_LETTERS = 30

_LENGTH = {1: 1.0, 2: 1.8, 3: 2.4}
_HEADING = 3.0
_TOKEN = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*|[^\s\w]|_")
_FURTHER_STOPWORDS = frozenset(
    """also always another around away back based best better can't cannot don't doesn't done e.g either else etc even
    ever every example examples first following get gets getting give given go goes going good however i.e instead it's
    keep kind know last least less let like likely look lot made make makes making many may maybe mean means might much
    must need needed needs never new next nothing now often one ones per please possible put rather really said say says
    second see seem set several shall simply since something sometimes still sure take taken takes that's thing things
    think third though three thus too two type unless upon use used useful uses using usually various via want wants way
    ways well whether whose within without work works yes yet you'll you're able allow allows already among available
    become comes come came went got asked old little long great came man day time times year years thou thee mr mrs miss
    dr sir left right upon never people part number note section page""".split()
)


def find_topics(prose: Sequence[str], titles: Sequence[str]) -> tuple[str, ...]:
    """At most MAX_TOPICS, best first, as they are written first; `prose` are lines or sentences without marks."""
    scores: Counter[tuple[str, ...]] = Counter()
    counts: Counter[tuple[str, ...]] = Counter()
    shown: dict[tuple[str, ...], str] = {}
    headed: set[tuple[str, ...]] = set()
    size = 0
    for line, weight in [*((title, _HEADING) for title in titles), *((line, 1.0) for line in prose)]:
        for words in _runs(line):
            size += len(words)
            for phrase in _phrases(words):
                key = tuple(map(_key, phrase))
                shown.setdefault(key, " ".join(phrase))
                counts[key] += 1
                scores[key] += int(100 * weight * _LENGTH[len(key)])
                if weight > 1:
                    headed.add(key)
    least = 1 if size < SHORT_TEXT else 2
    able = [key for key in scores if counts[key] >= least or key in headed]
    ranked = sorted(able, key=lambda key: -scores[key])  # stable: what stands first goes first
    return tuple(shown[key] for key in _apart(ranked))


def _apart(ranked: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    chosen: list[tuple[str, ...]] = []
    for key in ranked:
        if len(chosen) == MAX_TOPICS:
            break
        if not any(set(key) <= set(other) or set(other) <= set(key) for other in chosen):
            chosen.append(key)
    return chosen


def _runs(line: str) -> Iterator[list[str]]:
    """Words that stand side by side with no function word or mark between them."""
    run: list[str] = []
    for token in _TOKEN.findall(line):
        if _is_content(token):
            run.append(token)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _is_content(token: str) -> bool:
    lower = token.lower().replace("’", "'")
    if lower.endswith(("n't", "'re", "'ve", "'ll")) or (len(lower) > 5 and lower.endswith("ly")):
        return False
    if lower in STOPWORDS or lower in _FURTHER_STOPWORDS or len(token) > MAX_LETTERS:
        return False
    return len(token) > 2 and sum(map(str.isalpha, token)) * 2 > len(token)


def _phrases(words: Sequence[str]) -> Iterator[Sequence[str]]:
    for length in range(1, MAX_WORDS + 1):
        for start in range(len(words) - length + 1):
            yield words[start : start + length]


def _key(word: str) -> str:
    """One key for a word, its plural and its possessive."""
    lower = word.lower().replace("’", "'").removesuffix("'s")
    if len(lower) > 4 and lower.endswith("ies"):
        return lower[:-3] + "y"
    return lower[:-1] if len(lower) > 3 and lower.endswith("s") and not lower.endswith(("ss", "us", "is")) else lower
