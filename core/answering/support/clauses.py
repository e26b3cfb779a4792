"""Clauses of English sentences with their subjects and actions, compared with the quotes' own. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.answering.support.forms import GROUPS_OF, PRESENT_OF
from core.answering.support.parts import Part, stems_of
from core.domain.support import Finding, FindingKind

_JOINTS = "and|but|while|whereas|who|which|that|although|though|when|because|if|so|then|where"
_PIECE = re.compile(rf"(?<=[.!?;:])\s+|\n+|,\s+|\s(?=(?:{_JOINTS})\s)")
_ASIDE = re.compile(r"\([^()]*\)")
_LEADING = re.compile(rf"^(?:(?:{_JOINTS}|also|later|there|however|nonetheless|yet|both)\b[\s,]*)+", re.IGNORECASE)
_ADVERBIAL = re.compile(
    r"^(?:in|on|at|after|before|by|during|since|until|from|with|for|unlike|like|near|under)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_AUXILIARIES = frozenset(
    "is are was were has have had will can could may might must shall should does did do cannot would".split()
)
_BE = frozenset("is are was were be been being".split())
_COUNTS = frozenset("Fewer More Most Less Unless Both All Many Some".split())
_PRONOUNS = frozenset("he she it they who which that this these i we you there".split())
_ARTICLES = frozenset("the a an his her its their our my your each every some no any".split())
_TITLES = frozenset("mr mrs ms dr old young king queen".split())
_REACH = 7  # words in which a verb is looked for
_SAME_DEED = 0.75  # share of a predicate's words
_LEAST = 2
_BESIDE = 4  # words between two names of one person: "Oswin, the priest"


@dataclass(frozen=True, slots=True)
class Clause:
    subject: frozenset[str]  # stems; empty if unknown
    verb: str  # stem; "" after "is" or "has" alone
    predicate: frozenset[str]
    is_passive: bool
    is_named: bool  # its own words say who, in a name or with an article
    text: str


def clauses_of(text: str) -> list[Clause]:
    """Return the clauses that have a verb; nothing before it stands for the subject before.

    A pronoun may stand for any name of the clause before.
    """
    found: list[Clause] = []
    subject: frozenset[str] = frozenset()
    is_waiting = False  # for the verb of a subject
    for piece in _PIECE.split(_ASIDE.sub(" ", text)):
        bare = _LEADING.sub("", piece.strip())
        words = [match.group() for match in _WORD.finditer(bare)]
        verb = _verb(words)
        stems = frozenset(stems_of(Part(f"- {bare}").words)) - _TITLES
        if verb is None:
            if not _ADVERBIAL.match(bare) and bare[:1].isupper():
                subject, is_waiting = stems, True
            elif found and not is_waiting:
                found[-1] = replace(found[-1], predicate=found[-1].predicate | stems)
            continue
        subject, is_named = _subject(words[:verb], bare, subject, found)
        found.append(_clause(words, verb, subject, is_named=is_named))
        is_waiting = False
    return found


def _subject(
    before: Sequence[str], bare: str, last: frozenset[str], found: Sequence[Clause]
) -> tuple[frozenset[str], bool]:
    pronoun = next((word for word in before if word.lower() in _PRONOUNS), "")
    if pronoun:
        others = _names(found[-1].text) if found and pronoun.lower() not in ("who", "which") else frozenset()
        return last | others, False
    if not before:
        return last, False
    if _ADVERBIAL.match(bare):
        return frozenset(), False
    is_named = before[0][:1].isupper() or before[0].lower() in _ARTICLES
    return frozenset(stems_of(Part("- " + " ".join(before)).words)) - _TITLES, is_named and before[0] not in _COUNTS


def _names(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in Part(f"- {text}").words if word.is_name and word.stem)


def _clause(words: Sequence[str], verb: int, subject: frozenset[str], *, is_named: bool) -> Clause:
    behind = [word.lower() for word in words[verb:]]
    place = 0
    while place < len(behind) and behind[place] in _AUXILIARIES | _BE | {"not", "also", "already", "to"}:
        place += 1
    is_passive = bool(_BE & set(behind[:place])) and place < len(behind) and _is_participle(behind[place])
    is_state = place > 0 and not is_passive and bool(_BE & set(behind[:place]))
    stems = stems_of(Part("- " + " ".join(behind[place : place + 1])).words)
    return Clause(
        subject=subject,
        verb="" if is_state else next(iter(stems), ""),
        predicate=frozenset(stems_of(Part("- " + " ".join(words[verb:])).words)),
        is_passive=is_passive,
        is_named=is_named,
        text=" ".join(words),
    )


def _is_participle(word: str) -> bool:
    return word.endswith("ed") or word in PRESENT_OF


def _verb(words: Sequence[str]) -> int | None:
    for place, word in enumerate(words[:_REACH]):
        lowered, before = word.lower(), words[place - 1] if place else ""
        if word[:1].isupper() and place:
            continue
        if lowered in _AUXILIARIES:
            return place
        if before.lower() in _ARTICLES:
            continue
        if lowered in PRESENT_OF or (lowered.endswith("ed") and len(lowered) > 4):
            return place
        is_third = lowered.endswith("s") and not lowered.endswith(("ss", "us", "is")) and len(lowered) > 3
        has_subject = before[:1].isupper() or (place > 1 and words[place - 2].lower() in _ARTICLES)
        if is_third and (has_subject or before.lower() in ("he", "she", "it")):
            return place
    return None


def check_subjects(sentence: str, quotes: str) -> Iterator[Finding]:
    """Yield a deed that the quotes tell of another of their people or things."""
    theirs = [clause for clause in clauses_of(quotes) if clause.predicate]
    known = stems_of(Part(quotes).words)
    for clause in clauses_of(sentence):
        if len(clause.predicate) < _LEAST or not clause.is_named or not clause.subject & known:
            continue
        shares = [(len(_held(clause.predicate, other.predicate)) / len(clause.predicate), other) for other in theirs]
        best = max((share for share, _ in shares), default=0.0)
        if best < _SAME_DEED or best * len(clause.predicate) < _LEAST:
            continue
        nearest = [other for share, other in shares if share >= best - 1 / len(clause.predicate)]
        if all(_is_another(clause, other, quotes) for other in nearest):
            yield Finding(FindingKind.ROLE, " ".join(sorted(clause.subject)), nearest[0].text, is_sure=True)
            return


def _is_another(clause: Clause, other: Clause, quotes: str) -> bool:
    if not other.subject or clause.is_passive != other.is_passive or bool(clause.verb) != bool(other.verb):
        return False
    if clause.verb and not _held(frozenset((clause.verb,)), other.predicate):
        return False
    if _held(clause.subject, other.subject):
        return False
    return not _are_beside(clause.subject, other.subject, quotes)


def _held(stems: frozenset[str], theirs: frozenset[str]) -> set[str]:
    groups: set[int] = set().union(*(GROUPS_OF.get(stem, set()) for stem in theirs))
    return {stem for stem in stems if stem in theirs or GROUPS_OF.get(stem, set()) & groups}


def _are_beside(one: frozenset[str], other: frozenset[str], quotes: str) -> bool:
    """Whether the quotes have both next to each other, as two names of one thing."""
    words = Part(quotes).words
    places = [[place for place, word in enumerate(words) if word.stem in stems] for stems in (one, other)]
    return any(abs(a - b) < _BESIDE for a in places[0] for b in places[1])
