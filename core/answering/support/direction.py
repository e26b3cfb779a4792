"""Checks in code of a sentence against the direction of its quotes: opposites, negations and hedges. Pure.

Each compares the sentence with the part of the quotes about the same matter, and passes it if the words are too
few to tell.
"""

import re
from collections.abc import Iterator, Sequence

from core.answering.support.bindings import sides_of, turned_sides
from core.answering.support.forms import GROUPS_OF
from core.answering.support.opposites import Pole, is_converse, is_kin
from core.answering.support.parts import MOTION, REJECTS, Part, held_share, nearest, parts_of, stems_of
from core.domain.support import Finding, FindingKind
from core.text.quantities import find_quantities

# Shares of a sentence's words that a part must have before code calls it a contradiction:
_SAME = 0.7  # for words that only make a sentence weaker
_HELD = 0.6
_HALF = 0.5  # where two words differ by a prefix only
# Words without a negation that deny something, or bound it.
_DENYING = (
    r"without|refus\w+|fail\w*|immune|lack\w*|free|prohibit\w*|forb\w+|stop\w*|still needs?|still lacks?|yet to|hardly|"
    r"blam\w+|prevent\w*|avoid\w*|ban\w*|closed|missing|against|oppos\w+|exclu\w+|den(?:y|ie[sd])|drop(?:s|ped)?|los(?:es?|t)|discontinu\w+"
)
_BOUNDING = (
    r"unless|except\w*|exempt\w*|only|solely|before|until|instead|rather|other than|despite|although|but|limited|"
    r"minority|few|percent"
)
_NEGATIVE_FORMS = r"un[a-z]{5,}|in(?:valid|accurate|dependent)\w*|[a-z]{3,}less|non-?\w+"
_TURNS = re.compile(rf"\b(?:{_DENYING}|{_BOUNDING}|{_NEGATIVE_FORMS})\b|%", re.IGNORECASE)
_EXCEPTS = re.compile(
    r"\b(?:neither|nor|none|except\w*|only|solely|other than|exempt\w*|immune|nothing but|all but)\b", re.IGNORECASE
)
# A denial with one of these holds under a condition only.
_LIMITS = re.compile(
    r"\b(?:if|unless|until|before|whether|necessarily|just|only|but|except\w*|even|without|between|during|neither|"
    r"instead|or not|or \w+ not)\b",
    re.IGNORECASE,
)
# "No patient who …" denies the words after it.
_SOME = re.compile(r"\bno \w+ (?:who|that|which|with|of|in|from)\b", re.IGNORECASE)
# A sentence with one of these begins where the denial ends.
_RESUMES = re.compile(
    r"\b(?:again|resum\w+|from|since|after|no longer|as of)\b",
    re.IGNORECASE,
)
_ENDED = re.compile(r"\b(?:succe\w+|replac\w+|retire[sd]?|resign\w*|former\w*|until)\b", re.IGNORECASE)
_LIGHT = frozenset("abl allow longer like one yet".split())  # stems between a negation and its word


_READ_WORD_BY_WORD = frozenset({FindingKind.OPPOSITE, FindingKind.NEGATION, FindingKind.ROLE})


def check_foreign(sentence: str, quotes: str, alike: tuple[str, str]) -> Iterator[Finding]:
    """Yield the same for texts in two languages: from their own words, then as far as the glossary reads them."""
    found = list(check_direction(sentence, quotes, is_foreign=True))
    yield from found
    if not any(finding.is_sure for finding in found):
        read = check_direction(*alike, is_foreign=False)
        yield from (finding for finding in read if finding.kind in _READ_WORD_BY_WORD)


def check_direction(sentence: str, quotes: str, *, is_foreign: bool) -> Iterator[Finding]:
    """Yield the opposites: a word's other pole, a negation too many, or turned sides of a relation."""
    claim, parts = Part(sentence), parts_of(quotes)
    if not parts or not claim.words:
        return
    part = nearest(claim, parts)
    held = held_share(claim, part)
    if not is_foreign and _names_others(claim, parts):
        return
    if is_foreign:
        turned = list(_turned_poles(claim, parts, is_foreign=True))
    else:
        turned = [
            found for one in claim.clauses for found in _turned_poles(one, [nearest(one, parts)], is_foreign=False)
        ]
    for pole, other in turned:
        is_elsewhere = any(pole.word == one.word for text in parts if text is not part for one in text.poles)
        is_sure = is_foreign or (held >= _HELD and not is_elsewhere)
        yield Finding(FindingKind.OPPOSITE, pole.word, other.word, is_sure=is_sure)
    if not turned and is_foreign:
        yield from _foreign_negation(claim, parts)
    yield from _exceptions(claim, part)
    if turned or is_foreign:
        return
    if held >= _SAME:
        yield from _hedges(claim, part)
    if held >= _HELD:
        yield from _tenses(claim, part)
        yield from _duties(claim, part)
    for clause in claim.clauses:
        near = nearest(clause, parts)
        if held_share(clause, near) >= _HELD or _is_same_deed(clause, near, parts):
            yield from _negation(clause, near)
        if held_share(clause, near) >= _HALF:
            yield from _prefixes(clause, near)
    if held >= _HELD:
        yield from turned_sides(claim, parts, part)


def _is_same_deed(clause: Part, near: Part, parts: Sequence[Part]) -> bool:
    """Whether a part has all of a clause but its names, which are elsewhere in the quotes."""
    known = {stem for part in parts for stem in part.stems}
    deed = {word.stem for word in clause.words if word.stem and not word.is_name and word.start}
    return len(deed) > 1 and deed <= near.stems and clause.stems <= known


def _names_others(claim: Part, parts: Sequence[Part]) -> bool:
    """Whether the sentence is about a name or figure that the quotes don't have."""
    known = {stem for part in parts for stem in part.stems}
    return any(word.is_name and word.stem and word.stem not in known and len(word.text) > 1 for word in claim.words)


_DOUBTS = re.compile(
    r"\b(?:probably|perhaps|possibly|likely|maybe|(?-i:may)|might|could|expect\w*|plan(?:s|ned|ning)?|intends?|propos\w+|"
    r"consider(?:s|ed|ing)?|hop(?:es?|ing|ed)|aims?|seems?|appears?|suggest\w*|believes?|in talks)\b",
    re.IGNORECASE,
)
_WEAK_WORDS = "|".join(
    """
    can cannot able would should if whether according not no never free optional said view about some risk chance idea
    proposal plan suggestion motion opinion evidence heard thought believed yet still open
    """.split()
)
_WEAK_STEMS = (
    r"(?:allow|permit|possib|doubt|estimat|wish|recommend|request|indicat|presum|report|alleg|suppos|hint|tend|rumou?r)"
    r"\w*|wants?|says?|thinks?|ask(?:s|ed)?|signs?|hears?"
)
_WEAK = re.compile(
    rf"\b(?:{_WEAK_WORDS}|{_WEAK_STEMS}|is to|are to|to be|has to|have to|point(?:s|ed)? to|so far)\b|n['’]t\b",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"(?:^|:)[\W_]{0,4}(?!Contrary|According|Thanks|Due|Owing|Prior|Next|Close)[A-Z]\w+ to (?!the\b)[a-z]+\b"
)
_DONE = re.compile(r"\b(?:has|have|had|was|were|did)\b")
_TO_DO = re.compile(r"\b(?:to|will|must|should|shall|going)\b")


def _hedges(claim: Part, part: Part) -> Iterator[Finding]:
    """An expectation or a task of the quotes, told as a fact."""
    if _DOUBTS.search(claim.text) or _WEAK.search(claim.text):
        return
    match = _DOUBTS.search(part.text)
    is_rule = part.negations or "only" in part.texts  # "neither may": a ban
    if match and not (is_rule and match.group() in ("may", "can", "could")):
        words = Part(part.clause_at(match.start())).stems
        if len(words & claim.stems) > 1 and len(words & claim.stems) >= _HELD * len(claim.stems):
            yield Finding(FindingKind.HEDGE, "", match.group(), is_sure=True)
    elif (
        not match and (match := _TASK.search(part.text)) and _DONE.search(claim.text) and not _TO_DO.search(claim.text)
    ):
        yield Finding(FindingKind.HEDGE, "", match.group().strip(": *"), is_sure=True)


_FUTURE = re.compile(r"\b(?:will|shall|going to|is to|are to|plans? to|intends? to|wants? to|means? to) (?:be )?(\w+)")
_PAST = re.compile(r"\b(?:was|were|has|have|had) (?:been |already )*(\w+)|\b(\w+ed)\b")


def _tenses(claim: Part, part: Part) -> Iterator[Finding]:
    """Plans of the quotes, told as done."""
    if _FUTURE.search(claim.text) or _DOUBTS.search(claim.text) or part.negations or claim.negations:
        return
    coming = {stem for match in _FUTURE.finditer(part.text) for stem in stems_of(Part(f"- {match[1]}").words)}
    done = {stem for match in _PAST.finditer(claim.text) for stem in stems_of(Part(f"- {match[1] or match[2]}").words)}
    already = {
        stem
        for match in _PAST.finditer(_FUTURE.sub(" ", part.text))
        for stem in stems_of(Part(f"- {match[1] or match[2]}").words)
    }
    for stem in sorted(coming & done - already):
        yield Finding(FindingKind.HEDGE, "", stem, is_sure=True)
        return


_MUST = re.compile(r"\b(?:must|(?:has|have) to|(?:is|are) (?:required|obliged) to)\b (?:be )?(\w+)", re.IGNORECASE)
_CAN = re.compile(r"\b(?:should|(?-i:may)|can|might|could)\b (?:be )?(\w+)", re.IGNORECASE)


def _duties(claim: Part, part: Part) -> Iterator[Finding]:
    """A leave or a recommendation of the quotes, told as a duty."""
    if claim.negations or part.negations:
        return
    duties = {stem for match in _MUST.finditer(claim.text) for stem in stems_of(Part(f"- {match[1]}").words)}
    known = {stem for match in _MUST.finditer(part.text) for stem in stems_of(Part(f"- {match[1]}").words)}
    free = {match.group(): stems_of(Part(f"- {match[1]}").words) for match in _CAN.finditer(part.text)}
    for leave, stems in free.items():
        if stems & duties - known:
            yield Finding(FindingKind.HEDGE, "must", leave, is_sure=True)
            return


def _foreign_negation(claim: Part, parts: Sequence[Part]) -> Iterator[Finding]:
    """A negation on one side only, of a sentence in another language than the quotes', which have one clause."""
    if len(parts) > 1 or len(parts[0].clauses) > 1 or _TURNS.search(f"{claim.text} {parts[0].text}"):
        return
    if claim.negations + parts[0].negations == 1:
        yield Finding(FindingKind.NEGATION, "not" if claim.negations else "", parts[0].text, is_sure=True)


def _prefixes(claim: Part, part: Part) -> Iterator[Finding]:
    """A word for one that a prefix turns over: "valid" for "invalid"."""
    if claim.negations or part.negations:
        return
    for stem in sorted(claim.stems - part.stems):
        for prefix in ("un", "in", "im", "dis", "non", "ir", "il"):
            others = {prefix + stem, stem.removeprefix(prefix)} - {stem}
            other = next(
                (one for one in others if one in part.stems - claim.stems and len(min(one, stem, key=len)) > 3), ""
            )
            rest = [word.text for text in (claim, part) for word in text.words if word.stem not in (stem, other)]
            if other and not _TURNS.search(" ".join(rest)):
                yield Finding(FindingKind.OPPOSITE, stem, other, is_sure=True)
                return


def _turned_poles(claim: Part, parts: Sequence[Part], *, is_foreign: bool) -> Iterator[tuple[Pole, Pole]]:
    counts_others = claim.negations and _figures(claim.text) - _figures(" ".join(part.text for part in parts))
    for pole in claim.poles:
        here = claim.place_of(pole)
        if claim.words[here].is_name or claim.is_open_at(here) or counts_others:
            continue
        if is_kin(pole.axis) and any((pole.axis, pole.pole) == (o.axis, o.pole) for part in parts for o in part.poles):
            continue
        said = [(part, other) for part in parts for other in part.poles if other.axis == pole.axis]
        said = [(part, other) for part, other in said if not part.words[part.place_of(other)].is_name]
        signs = [_sign(claim, pole, part, other) for part, other in said]
        if -1 not in signs or (1 in signs and is_foreign):
            continue
        if 1 in signs:
            scores = [len(claim.around(here) & part.around(part.place_of(other))) for part, other in said]
            same = max(score for score, sign in zip(scores, signs, strict=True) if sign == 1)
            if same + 1 >= max(score for score, sign in zip(scores, signs, strict=True) if sign == -1):
                continue
        yield pole, said[signs.index(-1)][1]


_EVEN = re.compile(
    r"\b(?:even (?!though\b)|regardless of|no matter|whether or not|auch wenn|selbst|sogar|incluso|aunque)",
    re.IGNORECASE,
)
_LIMITED = re.compile(
    r"\b(?:unless|except\w*|as long as|only if|only when|es sei denn|außer|nur wenn|salvo|excepto|a menos que)\b",
    re.IGNORECASE,
)


def _exceptions(claim: Part, part: Part) -> Iterator[Finding]:
    """Yield "even if it rains" for "unless it rains"."""
    even, limit = _EVEN.search(claim.text), _LIMITED.search(part.text)
    if even and limit and not _LIMITED.search(claim.text):
        case = Part(f"- {claim.text[even.end() :]}").stems
        if case & Part(f"- {part.text[limit.end() :]}").stems and not _EVEN.search(part.text):
            yield Finding(FindingKind.OPPOSITE, even.group().strip(), limit.group(), is_sure=True)


def agreements(claim: Part, parts: Sequence[Part]) -> set[str]:
    """Return the stems that the quotes say in the other pole's words, denied: "not large" for "small"."""
    return {
        claim.words[claim.place_of(pole)].stem
        for pole in claim.poles
        for part in parts
        for other in part.poles
        if other.axis == pole.axis and pole.word != other.word and _sign(claim, pole, part, other) == 1
    } - {""}


# Words next to a verb for people who are named before: "Oskar gave me two", "I lent him one".
_PEOPLE_MEANT = frozenset("i me we us he him she her they them you".split())
# Nouns, whose sides say nothing about who does it.
_PEOPLE = frozenset("teacher pupil leader follower buyer seller lender borrower winner loser".split())


def _sign(claim: Part, pole: Pole, part: Part, other: Pole) -> int:
    """1: they say the same; -1: the opposite; 0: the words are too few to tell."""
    here, there = claim.place_of(pole), part.place_of(other)
    if (
        part.is_open_at(there)
        or part.is_choice_at(there)
        or (
            claim.words[here].stem == part.words[there].stem
            and pole.pole == other.pole
            and claim.words[here].is_negated != part.words[there].is_negated
        )
    ):
        return 0
    if is_converse(pole.axis) and {pole.word, other.word} & _PEOPLE and pole.word != other.word:
        return 0
    agrees = (pole.pole == other.pole) is (claim.words[here].is_negated == part.words[there].is_negated)
    if not is_converse(pole.axis):
        return 1 if agrees else -1
    compared = claim.compared_at(here), part.compared_at(there)
    if all(compared):
        mine, theirs = stems_of(claim.words[:here]), stems_of(part.words[:there])
        are_turned = bool((compared[0] - compared[1]) & theirs and (compared[1] - compared[0]) & mine)
        are_same = not are_turned and bool(compared[0] & compared[1])
        if not are_same and not are_turned:
            return 0
        return 1 if agrees is are_same else -1
    if compared[0] and _is_attribute(part, there):  # "his younger brother Silas"
        of_it = stems_of(part.words[there + 1 : there + _ATTRIBUTE])
        subject = stems_of(claim.words[:here])
        return (1 if agrees else -1) if subject & of_it and not compared[0] & of_it else 0
    straight, crossed, are_both = sides_of(claim, here, part, there)
    if agrees:
        return -1 if are_both and (not straight or crossed > straight) else 1
    if _PEOPLE_MEANT & set(part.texts[max(0, there - 1) : there + 2]):
        return 0
    return -1 if straight > crossed + (crossed > 0) else 1


_ATTRIBUTE = 4  # words from an attribute to the name of its owner
_OWNERS = frozenset("his her its their my our the a an ihr sein seine ihre su sus".split())


def _is_attribute(part: Part, place: int) -> bool:
    """Whether a comparative comes before its noun, without "than"."""
    before = part.words[place - 1].text if place else ""
    return not part.compared_at(place) and before in _OWNERS


def _negation(claim: Part, part: Part) -> Iterator[Finding]:
    """A negation of shared words on one side only."""
    here, there = _denied_first(claim, part), _denied_first(part, claim)
    if bool(here) == bool(there) or _figures(claim.text) - _figures(part.text):
        return
    denying, affirming = (claim, part) if here else (part, claim)
    if _EXCEPTS.search(affirming.text) or _SOME.search(denying.text):
        return
    if _denies_another(denying, affirming) or _denied(denying) & _denied(affirming):
        return
    if REJECTS.search(denying.text) and MOTION.search(affirming.text):
        return
    for stem in sorted(here or there):
        said, denied = Part(affirming.clause_of(stem)), Part(denying.clause_of(stem))
        around = " ".join(word.text for word in said.words if word.stem != stem and word.text not in denied.texts)
        if (
            said.negations_but_without
            or _TURNS.search(around)
            or _ENDED.search(around)
            or (affirming is claim and _RESUMES.search(around))
            or _LIMITS.search(denied.text.removeprefix("but "))
            or denied.negations_but_without > 1
        ):
            continue
        yield Finding(FindingKind.NEGATION, "not" if here else "", part.text, is_sure=True)
        return


def _denied(part: Part) -> set[str]:
    return {word.stem for word in part.words if word.stem and word.is_negated}


_BUT = re.compile(
    r"\b(?:not|nicht|no)\b(?P<denied>[^.;]{0,120}?),? (?:but|sondern|sino)\b(?P<told>[^.;]{0,120})", re.IGNORECASE
)


def _denies_another(denying: Part, affirming: Part) -> bool:
    """Whether a part says "not by the sea, but by rain", and the other is about the rain."""
    match = _BUT.search(denying.text)
    if match is None:
        return False
    denied, told = (Part(f"- {match[name]}").stems & affirming.stems for name in ("denied", "told"))
    return len(told) > len(denied)


def _figures(text: str) -> set[float]:
    return {value for quantity in find_quantities(text) for value in quantity.values}


def _denied_first(part: Part, other: Part) -> set[str]:
    """The first word of meaning that each negation reaches, where the other part has it and doesn't deny it."""
    plain = {word.stem for word in other.words if word.stem and not word.is_negated}
    plain -= {word.stem for word in other.words if word.is_negated}
    groups = {group for stem in plain for group in GROUPS_OF.get(stem, ())}
    found = set()
    is_first = True
    for word, after in zip(part.words, (*part.words[1:], None), strict=True):
        is_light = word.stem in _LIGHT or (word.text == "free" and after is not None and after.text == "to")
        if not word.is_negated:
            is_first = True
        elif word.stem and not is_light:
            if is_first and not word.is_name and (word.stem in plain or groups & GROUPS_OF.get(word.stem, set())):
                found.add(word.stem)
            is_first = False
    return found
