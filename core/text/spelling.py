"""Misspelt words, read as words of the library. Pure.

A word is misspelt if neither the library nor the list of common words has it or another form of it.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rapidfuzz import process
from rapidfuzz.distance import OSA, JaroWinkler

from core.text.words import STOPWORDS, tokens

# Words of questions, which a library may lack.
_ASKING = frozenset(
    """what's who's where's when's how's whats does did doesn't didn't isn't aren't can't won't please tell show list
    give find many much long often old new let's may might must shall us per via without within
    cant dont wont isnt arent didnt doesnt havent hasnt ill im ive youre theyre weve thats theres lets""".split()
)
_TYPED = re.compile(r"(?<![\w'’./@#+:-])[^\W\d_]++(?:['’][^\W\d_]++)?+(?!://|[\w./@#+-]*[\w/@#+])")
_QUESTION = frozenset("what when where which who whose why how".split())
_KNOWN = STOPWORDS | _ASKING
_SUFFIXES = ("s", "es", "ed", "d", "ing", "ly", "'s", "est", "iest", "ier")
# British spellings, and American ones, which the list of common words has.
_SPELT = (("is", "iz"), ("ys", "yz"), ("our", "or"), ("tre", "ter"), ("ll", "l"), ("ogue", "og"), ("nne", "n"))
SHORTEST = 3  # letters of a word that is corrected; of these, only to words of questions
LONG = 7  # letters from which a word may have two mistakes
_SLIP = 0.5  # of a mistake: two letters in the other order, or a doubled one
_CONFUSED = {"dose": "does"}  # that no list of words tells
# How people shorten words in chats; read without a word about it, unless a document has the short form.
_SHORTENED = {
    "ppl": "people", "u": "you", "ur": "your", "r": "are", "bc": "because", "cuz": "because", "tmrw": "tomorrow",
    "tmr": "tomorrow", "2day": "today", "2nite": "tonight", "smth": "something", "sth": "something", "smn": "someone",
    "abt": "about", "rn": "right now", "yr": "year", "yrs": "years", "hr": "hour", "hrs": "hours", "mins": "minutes",
    "wk": "week", "wks": "weeks", "pls": "please", "plz": "please", "thx": "thanks", "msg": "message",
    "msgs": "messages", "pw": "password", "wld": "would", "shld": "should", "cld": "could", "gonna": "going to",
    "wanna": "want to", "gotta": "have to", "dunno": "don't know", "w/o": "without", "w/": "with", "govt": "government",
    "dept": "department", "btw": "by the way", "approx": "approximately", "qty": "quantity",
}  # fmt: skip
_SHORT_WORD = re.compile(r"(?<![\w'’./@#+:-])(?:w/o?(?=\s)|[^\W_]+(?![\w'’/@#+-]))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    typed: str
    read: str


@dataclass(frozen=True, kw_only=True)
class LibraryWords:
    """The words of the documents that may be read, in lower case, with the number of documents that have each.

    `common`: words of English that are spelt right although no document has them.
    """

    counts: Mapping[str, int]
    common: Collection[str] = field(default=frozenset())

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(stem for word in self.counts for stem in tokens(word))

    @cached_property
    def _by_length(self) -> Mapping[int, list[str]]:
        groups: dict[int, list[str]] = {}
        for word in {*(each for each in self.counts if each.isalpha()), *_KNOWN}:
            groups.setdefault(len(word), []).append(word)
        return groups

    def has(self, word: str) -> bool:
        """Whether a document has this word, or another form of it."""
        lowered = word.casefold()
        return lowered in self.counts or any(stem in self.stems for stem in tokens(lowered))

    def is_spelt(self, word: str) -> bool:
        """Whether a word is spelt right, as far as the library and the common words tell."""
        lowered = word.casefold().replace("’", "'")
        return any(form in self.counts or form in self.common or form in _KNOWN for form in _forms(lowered))

    def near(self, word: str, mistakes: int) -> list[tuple[str, int]]:
        """Return the words within so many mistakes, with their number."""
        lengths = range(len(word) - mistakes, len(word) + mistakes + 1)
        known = [each for length in lengths for each in self._by_length.get(length, ())]
        found = process.extract(word, known, scorer=OSA.distance, score_cutoff=mistakes, limit=None)
        return [(each, int(distance)) for each, distance, _ in found]


def correct(text: str, library: LibraryWords) -> tuple[str, list[Correction]]:
    """Return a question with its misspelt words corrected, and the corrections in order.

    A text with more strange words than others is of no language that is known here, and stays. Short forms of chats are
    written out.
    """
    text = _SHORT_WORD.sub(lambda found: _written_out(found.group(), library), text)
    typed = [match.group() for match in _TYPED.finditer(text)]
    if 2 * sum(
        not library.is_spelt(word) and _corrected(word, library, is_first=False) is None for word in typed
    ) > len(typed):
        return text, []
    made: list[Correction] = []
    pieces, last = [], 0
    for match in _TYPED.finditer(text):
        is_first = not any(map(str.isalpha, text[: match.start()]))
        read = _corrected(match.group(), library, is_first=is_first)
        if read is not None:
            made.append(Correction(typed=match.group(), read=read))
            pieces += [text[last : match.start()], read]
            last = match.end()
    return "".join([*pieces, text[last:]]), made


def _written_out(word: str, library: LibraryWords) -> str:
    lowered = word.casefold()
    return word if word.isupper() or lowered in library.counts else _SHORTENED.get(lowered, word)


def _corrected(typed: str, library: LibraryWords, *, is_first: bool) -> str | None:
    word = typed.casefold().replace("’", "'")
    if len(word) < SHORTEST or "'" in word or word in _KNOWN or word in library.counts:
        return None
    if word in _CONFUSED:
        return _CONFUSED[word]
    if is_first and (asking := [each for each in _QUESTION if OSA.distance(word, each) == 1]):
        return _like(typed, max(asking, key=lambda each: (_is_slip(word, each), len(each))))
    if library.is_spelt(word):
        # Spelt right, but of no document: read as one of the library's words only for a letter that is to be doubled.
        near = [] if library.has(word) or len(word) <= SHORTEST else library.near(word, 1)
        may = [
            (each, 1) for each, _ in near if each in library.counts and len(each) > len(word) and _is_slip(word, each)
        ]
    else:
        near = library.near(word, 2 if len(word) >= LONG else 1)
        may = [(each, distance) for each, distance in near if _may_be(word, each, distance)]
    best = sorted(may, key=lambda item: _rank(word, item, library))[:2]
    if not best or (len(best) == 2 and _rank(word, best[0], library)[:2] == _rank(word, best[1], library)[:2]):
        return None
    return _like(typed, best[0][0])


def _rank(word: str, near: tuple[str, int], library: LibraryWords) -> tuple[float, float, int]:
    meant, distance = near
    nearness = distance - _SLIP * _is_slip(word, meant)
    return nearness, -round(JaroWinkler.similarity(word, meant), 2), -library.counts.get(meant, 0)


def _may_be(word: str, meant: str, distance: int) -> bool:
    """Return whether a misspelt word may be this one; short words and first letters are seldom mistyped."""
    if len(word) <= SHORTEST:
        return meant in _KNOWN and _is_slip(word, meant)
    if len(word) == SHORTEST + 1 and len(meant) == len(word) and not _is_slip(word, meant):
        return False
    if word[0] != meant[0] and len(word) == len(meant) and not _is_slip(word, meant):
        return False
    return distance == 1 or word[0] == meant[0]


def _is_slip(word: str, meant: str) -> bool:
    """Return whether two words differ by a doubled letter, or by two letters in the other order."""
    if len(word) == len(meant):
        return sorted(word) == sorted(meant)
    longer, shorter = sorted((word, meant), key=len, reverse=True)
    return len(longer) == len(shorter) + 1 and any(
        longer[place] == longer[place - 1] and longer[:place] + longer[place + 1 :] == shorter
        for place in range(1, len(longer))
    )


def _forms(word: str) -> list[str]:
    """Return a word with and without the endings of its forms."""
    cut = [word.removesuffix(ending) for ending in _SUFFIXES if word.endswith(ending) and len(word) > len(ending) + 2]
    forms = [
        word,
        *cut,
        *(f"{each}{end}" for each in cut for end in "ey"),
        *(word + end for end in ("s", "ed", "d", "ing")),
    ]
    return [*forms, *(form.replace(*pair) for form in forms for pair in _SPELT if pair[0] in form)]


def _like(typed: str, read: str) -> str:
    return read.capitalize() if typed[0].isupper() and not typed.isupper() else read
