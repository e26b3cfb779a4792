"""Parts of a text for comparisons: words with their stems, negations, clauses and poles. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.answering.support.forms import PRESENT_OF
from core.answering.support.opposites import Pole, find_poles
from core.text.words import STOPWORDS, tokens

_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
_PART = re.compile(r"(?<=[.!?;])\s+|\n+")
_CLAUSE = re.compile(
    r"[,;:](?=\s)|\b(?:but|while|whereas|if|unless|until|although|because|without|"
    r"and (?:will|can|has|had|may|must|is|are))\b"
)
_PRONOUN = re.compile(r"^(?:he|she|it|they|his|her|its|their)\b", re.IGNORECASE)
_CAPITALS = re.compile(r"(?<![\w'’-])[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
_NEGATIONS = frozenset(
    "no not never none nobody nothing neither nor without cannot kein keine keinen keiner keinem nicht nie niemals "
    "niemand nichts ohne ningún ninguna ningun ninguno nunca nadie nada sin tampoco no-one".split()
)
_AVOIDS = frozenset("refuse refuses refused fail fails failed unable forbidden declined".split())
MOTION = re.compile(r"\b(?:motion|proposal|plan|idea|request|bid|call|appeal)s?\b", re.IGNORECASE)
# "Rejected the motion to close the street" denies the words after it.
REJECTS = re.compile(
    r"\b(?:reject\w*|dismiss\w*|abandon\w*|dropp?\w*|shelv\w*|oppos\w*|vot\w+ (?:down|against)|turn\w* down) "
    r"(?:[\w’'-]+ ){0,3}?(?:motion|proposal|plan|idea|request|bid|call|appeal)s? (?:[\w’'-]+ ){0,2}?to\b",
    re.IGNORECASE,
)
_AFTERWARDS = frozenset("nicht nie niemals nunca".split())  # German and Spanish deny words before them, too
_STOPS = frozenset(
    "and but or while whereas und aber sondern y pero sino although though because that than who which whose".split()
)
_SCOPE = 5  # words that a negation reaches
_NEAR = 6  # words around a word that tell its subject
_BY = 7  # words from a participle to its "by"
_THAN = 9  # words from a comparative to its "than"
_JOINTS = frozenset("and or but that which who und oder y o que".split())
THANS = frozenset(("than", "als", "que"))
_AUXILIARIES = frozenset("wurde wurden wird fue fueron es son".split())
_OPEN = frozenset("whether if unless or whichever need needs still refused".split())
_NAMES_COUNT = 0.7  # of another word: many parts have the same names


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    stem: str  # "" for a stop word
    start: int
    is_negated: bool
    is_name: bool


class Part:
    """A sentence, or a part of the quotes, as words with their negations."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> list[Word]:
        matches = list(_WORD.finditer(self.text))
        denied = self._denied(matches)
        found = []
        for place, match in enumerate(matches):
            word = re.sub(r"['’]s?$", "", match.group())
            stems = tokens(word)
            is_name = word[:1].isupper() and word.lower() not in STOPWORDS and place > 0
            is_letter = place > 0 and len(word) == 1 and word.isupper() and word != "I"  # "Site A"
            stem = PRESENT_OF.get(word.lower()) or (stems[0] if stems else word.lower() if is_letter else "")
            found.append(Word(word.lower(), stem, match.start(), place in denied, is_name or is_letter))
        return found

    def _denied(self, matches: Sequence[re.Match[str]]) -> set[int]:
        """Return the places that an odd number of negations reaches."""
        denied: set[int] = set()
        for rejected in REJECTS.finditer(self.text):
            start = next((place for place, match in enumerate(matches) if match.end() == rejected.end()), None)
            denied ^= set(self._reached(matches, start)) if start is not None else set()
        for place, match in enumerate(matches):
            following = matches[place + 1].group().lower() if place + 1 < len(matches) else ""
            if not _denies(match.group()) and not (match.group().lower() in _AVOIDS and following == "to"):
                continue
            if following in ("only", "necessarily", "nur"):
                continue
            denied ^= set(self._reached(matches, place))
            if match.group().lower() in _AFTERWARDS:
                denied ^= set(range(max(0, place - 3), place))
        return denied

    def _reached(self, matches: Sequence[re.Match[str]], place: int) -> Iterator[int]:
        for following in range(place + 1, min(len(matches), place + 1 + _SCOPE)):
            between = self.text[matches[following - 1].end() : matches[following].start()]
            if re.search(r"[.,;:|(]", between) or matches[following].group().lower() in _STOPS:
                return
            yield following

    @cached_property
    def texts(self) -> list[str]:
        return [word.text for word in self.words]

    @cached_property
    def stems(self) -> set[str]:
        return stems_of(self.words)

    @cached_property
    def poles(self) -> list[Pole]:
        return list(find_poles(self.text))

    @cached_property
    def negations(self) -> int:
        return sum(_denies(word.text) for word in self.words)

    @cached_property
    def negations_but_without(self) -> int:
        return self.negations - sum(word.text in ("without", "ohne", "sin") for word in self.words)

    def is_open_at(self, place: int) -> bool:
        """Whether the words before leave open whether a word holds."""
        return any(word.text in _OPEN for word in self.words[max(0, place - 4) : place])

    def is_choice_at(self, place: int) -> bool:
        """Whether a word is one side of "must … or …"."""
        before = {word.text for word in self.words[max(0, place - 4) : place]}
        return bool(before & {"must", "either"}) and any(word.text == "or" for word in self.words[place + 1 :])

    def compared_at(self, place: int) -> set[str]:
        """Return the first words behind "than" after a comparative; empty without one."""
        for than in range(place + 1, min(len(self.words), place + _THAN)):
            if self.words[than].text in THANS:
                return stems_of(self.words[than + 1 : than + 5])
        return set()

    def is_noun_at(self, place: int) -> bool:
        """Whether an article makes a word a noun, whose sides are no doer and deed: "X was the miller of Y"."""
        return place > 0 and self.words[place - 1].text in ("the", "a", "an", "his", "her", "its", "their")

    def is_passive_at(self, place: int) -> bool:
        following = [word.text for word in self.words[place + 1 : place + 1 + _BY]]
        before = {word.text for word in self.words[max(0, place - 4) : place]}
        return "by" in following or bool({"von", "por"} & {*following, *before} and _AUXILIARIES & before)

    def place_of(self, pole: Pole) -> int:
        """Return the number of the word at a pole."""
        return next((place for place, word in enumerate(self.words) if word.start >= pole.start), len(self.words) - 1)

    def ends_clause(self, place: int) -> bool:
        if place + 1 >= len(self.words):
            return True
        between = self.text[self.words[place].start : self.words[place + 1].start]
        return any(sign in ".,;:|)" for sign in between) or self.words[place + 1].text in _JOINTS

    @cached_property
    def clauses(self) -> "list[Part]":
        """The clauses with at least two words of meaning; a shorter one belongs to the next."""
        ends = [0, *(match.start() for match in _CLAUSE.finditer(self.text)), len(self.text)]
        found, start = [], 0
        for end in ends[1:]:
            if len(stems_of(Part(self.text[start:end]).words)) > 1 and len(stems_of(Part(self.text[end:]).words)) != 1:
                found.append(Part(self.text[start:end]))
                start = end
        return found or [self]

    def clause_of(self, stem: str) -> str:
        """Return the clause that has a stem first."""
        return self.clause_at(next((word.start for word in self.words if word.stem == stem), 0))

    def clause_at(self, start: int) -> str:
        ends = [match.start() for match in _CLAUSE.finditer(self.text)]
        left = max((end for end in ends if end <= start), default=0)
        return self.text[left : min((end for end in ends if end > start), default=len(self.text))]

    def around(self, place: int) -> set[str]:
        return stems_of(self.words[max(0, place - _NEAR) : place] + self.words[place + 1 : place + 1 + _NEAR])


def _denies(word: str) -> bool:
    return word.lower() in _NEGATIONS or word.replace("’", "'").endswith("n't")


def stems_of(words: Iterable[Word]) -> set[str]:
    return {word.stem for word in words if word.stem}


def parts_of(text: str) -> list[Part]:
    """Return the sentences and lines of quotes; a pronoun that begins one becomes the name before it."""
    found: list[Part] = []
    name = ""
    for piece in _PART.split(text):
        bare = piece.strip()
        if not bare:
            continue
        if name and _PRONOUN.match(bare):
            bare = _PRONOUN.sub(name, bare, count=1)
        elif names := _CAPITALS.findall(bare):
            name = re.sub(r"['’]s?$", "", names[0])
        found.append(Part(bare))
    return found


def nearest(claim: Part, parts: Sequence[Part]) -> Part:
    """The part with most of the claim's words; names, which many parts have, count less."""
    names = {word.stem for word in claim.words if word.is_name}
    return max(parts, key=lambda part: sum(_NAMES_COUNT if stem in names else 1.0 for stem in part.stems & claim.stems))


def held_share(claim: Part, part: Part) -> float:
    """The share of the sentence's words that the part has, or has the axis of."""
    axes = {pole.axis for pole in part.poles}
    known = {claim.words[claim.place_of(pole)].stem for pole in claim.poles if pole.axis in axes}
    return len(claim.stems & part.stems | known & claim.stems) / max(1, len(claim.stems))
