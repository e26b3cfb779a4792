"""The ladder: checks in code of a sentence against the quotes that it cites. Pure.

Each check finds one kind of fault, or nothing. Faults that words don't show are left
to a model (`SupportModel`).
"""

import re
from collections.abc import Callable, Iterable

from rapidfuzz import fuzz

from core.answering.support.bindings import check_bindings, check_cells, check_pairs, check_posts, check_slots
from core.answering.support.comparisons import check_comparisons
from core.answering.support.dates import DAY_NAMES, MONTH_NAMES, check_dates
from core.answering.support.direction import agreements, check_direction, check_foreign
from core.answering.support.figures import check_quantities, check_rates
from core.answering.support.parts import Part, parts_of
from core.answering.support.texts import NAME, Text, in_one_language
from core.domain.support import Finding, FindingKind
from core.text.quantities import measure_of
from core.text.words import tokens

_HEDGES = frozenset(
    "may might could can possibly perhaps probably likely unlikely maybe suggest suggests suggested suggestive appear "
    "appears appeared seem seems seemed expected expects expect believe believes plan plans planned planning proposed "
    "proposes propose proposal intends intend consider considering considered estimate estimated potential potentially "
    "would should hope hopes aim aims doubt doubts risk if unless".split()
)
_UNIVERSALS = frozenset(
    "all every always everyone everybody everything any entire whole only solely exclusively never none "
    "no-one alle alles jede jeder jedes immer nur todos todas todo cada siempre solo sólo".split()
)
_ONLY = frozenset("only solely exclusively nur solo sólo".split())
_WHOLES = frozenset(
    "all every always everyone everybody everything entire whole alle alles jede jeder immer todos".split()
)
_CAUSES = re.compile(
    r"\b(?:because|since|due to|owing to|caused?|thanks to|led to|leads to|result(?:s|ed)? (?:in|from|of)|reason|"
    r"therefore|so that|as a result|thus|hence|why|after|to (?:avoid|ensure|prevent|allow|make)|for|weil|wegen|dadurch|"
    r"aufgrund|durch|porque|debido|por|a causa)\b",
    re.IGNORECASE,
)
_CLAIMS_CAUSE = re.compile(
    r"\b(?:because|due to|owing to|caused by|thanks to|as a result of|the reason|weil|wegen|aufgrund|porque|"
    r"debido a)\b",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(
    r"\b(?:the (?:most|least|best|worst|first|last|only|(?!(?:harv|for|inter|gu|requ|cont|prot|qu|ch|"
    r"pri|conqu|arr|temp|inv|n|w|r|t|"
    r"bequ|cr|rainfor|dig|man)est\b)[a-z]{2,}est)|most \w+ of all|ever)\b",
    re.IGNORECASE,
)


def find_faults(claim: Text, evidence: Text, context: Text) -> list[Finding]:
    """Return the findings of all checks. `context` may have the names behind "he" or "it": titles, the question."""
    return [finding for check in _CHECKS for finding in check(claim, evidence, context)]


_ALIKE = 84  # of 100: "Grol" and "Grol's", "Marigold" and "Marigolds"
_ROOT = 3  # letters that a name keeps in another language
_PLAIN_CAPITALS = frozenset("i i'm chapter section page table figure part appendix ok pdf yes no bc ad bce ce".split())


def _check_names(claim: Text, evidence: Text, context: Text) -> Iterable[Finding]:
    is_foreign = claim.language != evidence.language  # other languages have other names for many things
    known = {word.lower() for word in NAME.findall(f"{evidence.text} {context.text}")}
    initials = _initials(evidence.text) | _initials(context.text)
    quoted = " ".join(_QUOTED.findall(claim.text)).lower()
    said = {name.lower() for name in claim.names}
    rivals = [name for name in evidence.names if name.lower() not in said and not _is_common(name.lower())]
    is_open = bool(_NAMELESS.match(evidence.text))
    for name in dict.fromkeys(claim.names):
        lowered = name.lower()
        if _is_common(lowered) or _is_known(name, known, initials, evidence, context) or lowered in quoted:
            continue
        if is_foreign and any(name[:_ROOT].lower() == word[:_ROOT] for word in known):
            continue
        is_told = bool(rivals) and not (is_open or is_foreign) and not _is_choice(name, claim)
        yield Finding(FindingKind.NAME, name, is_sure=is_told and not _only_adds(name, claim, evidence))


# Quotes about somebody who is named before them.
_NAMELESS = re.compile(r"(?:[^A-Z.]*|[A-Z][a-z]+ )\b(?i:he|she|it|they|his|her|its|their)\b")


def _is_choice(name: str, claim: Text) -> bool:
    """Whether a name is one side of "or", whose other side may be right."""
    run = rf"(?:[A-Z][\w’'-]*+ ){{0,3}}{re.escape(name)}(?: [A-Z][\w’'-]*+){{0,3}}"
    return re.search(rf"\b(?:or|oder|o) (?:the )?{run}|{run},? (?:or|oder|o)\b", claim.text) is not None


_CAPITALS = re.compile(r"(?<![\w’'-])[A-ZÀ-Ý][\w’'-]*(?: [A-ZÀ-Ý][\w’'-]*)*")


def _only_adds(name: str, claim: Text, evidence: Text) -> bool:
    """Whether it is a first name or title with a single name of the quotes: "Ines Holt" for "Holt"."""
    near = {part for run in _CAPITALS.findall(claim.text) for part in run.split() if name in run.split()} - {name}
    runs = [run.split() for run in _CAPITALS.findall(evidence.text)]
    alone = {run[0] for run in runs if len(run) == 1} - {part for run in runs if len(run) > 1 for part in run}
    return bool(near & alone)


_QUOTED = re.compile(r"[\"“„«]([^\"”“»\n]{1,60})[\"”“»]")


def _is_common(lowered: str) -> bool:
    return lowered in _PLAIN_CAPITALS or lowered in MONTH_NAMES or lowered in DAY_NAMES or bool(measure_of(lowered)[0])


def _is_known(name: str, known: set[str], initials: set[str], evidence: Text, context: Text) -> bool:
    """Whether the quotes, or the text around, have a name in some form: part, initials, plural, abbreviation."""
    lowered = name.lower()
    if lowered in known or (name.isupper() and lowered in initials) or lowered in "".join(sorted(known)):
        return True
    if any(part in known for part in lowered.split("-")) or set(tokens(name)) & (evidence.stems | context.stems):
        return True
    short = {word.lower() for word in NAME.findall(evidence.text) if word.isupper() and 2 <= len(word) <= 3}
    if any(lowered[0] == word[0] and _holds_in_order(word, lowered) for word in short):
        return True
    return any(
        fuzz.ratio(lowered, other) >= _ALIKE or (len(lowered) > 4 and other.startswith(lowered[:5])) for other in known
    )


def _holds_in_order(letters: str, word: str) -> bool:
    rest = iter(word)
    return all(letter in rest for letter in letters)


def _initials(text: str) -> set[str]:
    """Of every run of two or more words with capitals, and of its parts."""
    runs = re.findall(r"(?:[A-Z][\w-]*+(?:\s+(?:of|and|the|for|de|der)\s+|\s+)?+){2,}", text)
    letters = ["".join(word[0] for word in run.split() if word[0].isupper()).lower() for run in runs]
    return {run[start:end] for run in letters for start in range(len(run)) for end in range(start + 2, len(run) + 1)}


# ------------------------------------------------------------------------------- negation, quantifiers, reasons


def _check_negation(claim: Text, evidence: Text, context: Text) -> Iterable[Finding]:
    """A negation on one side only; the other side may have it in other words."""
    del context
    part = nearest_part(claim, evidence)
    if not part.stems & claim.stems:
        part = evidence
    if bool(claim.negations) == bool(part.negations) or _DENIES.search((part if claim.negations else claim).text):
        return
    denied_words = {word.stem for word in Part(claim.text).words if word.is_negated}
    if claim.negations and denied_words & agreements(Part(claim.text), parts_of(evidence.text)):
        return
    figures = [{value for one in text.quantities for value in one.values} for text in (claim, part)]
    if claim.negations and figures[0] - figures[1]:
        return  # about the rest: "seven didn't vote against it"
    denied = {word.stem for word in Part(part.text).words if word.stem and word.is_negated}
    if claim.negations or claim.language != evidence.language or denied & claim.stems:
        yield Finding(FindingKind.NEGATION, "not" if claim.negations else "")


# Words that deny without a negation.
_DENYING = (
    r"forb[aio]d\w*|prohib\w+|ban(?:s|ned)?|refus\w+|fail\w*|lack\w*|unable|reject\w*|unnecessary|absent|exempt\w*|"
    r"untrue|false|succe\w+|replac\w+|drop(?:s|ped)?|remov\w+|aboli\w+|stop(?:s|ped)?|discontinu\w+|immune|except\w*|"
    r"unless|only|free of"
)
_DENYING_ELSEWHERE = r"verboten\w*|unnötig|abgelehnt|fehl\w+|nur|solo|sólo|falt\w+|rechaz\w+|optional\w*|voluntary"
_DENIES = re.compile(rf"\b(?:{_DENYING}|{_DENYING_ELSEWHERE})\b", re.IGNORECASE)


def nearest_part(claim: Text, evidence: Text) -> Text:
    """Return the sentence of the quotes that shares most words with the claim."""
    parts = [Text(part) for part in re.split(r"(?<=[.!?;])\s+|\n+", evidence.text) if part.strip()]
    return max(parts, key=lambda part: len(part.stems & claim.stems), default=evidence)


_MANY = 4  # figures, which may bear out "only" or "all"
_EACH = frozenset("each cada must deben müssen no both".split())
_PERIODS = (
    r"second|minute|hour|day|night|morning|evening|week|month|quarter|year|spring|summer|autumn|winter|time|other|tag|"
    r"woche|monat|jahr|stunde|jahre|día|semana|mes|año|días|años"
)
_PHRASES = (  # in which "all" and the like count nothing
    r"above all|in all|vor allem|(?:nearly|almost|not|fast|nicht) (?:all|every\w*|alle)|any (?:more|longer)|if any|"
    r"only (?:once|if|when|after|until)|nur wenn|solo si|all over|at all|after all|once and for all|all in all|"
    r"all year round|all the (?:more|same)|(?<=s) each"
)
_NO_QUANTIFIER = re.compile(
    rf"\b(?:{_PHRASES}|(?:every|each|any|jede\w*|alle|cada|todos los|todas las) (?:\w+ )?(?:{_PERIODS})|"
    r"(?:every|alle|cada) \d+)\b|(?<=-)only\b",
    re.IGNORECASE,
)
_DUTIES = re.compile(
    r"\b(?:must|require\w*|need\w*|(?:has|have|had) (?:had )?to|obliged|mandatory|compulsory|shall|necessary|only|"
    r"prohibit\w*|forbid\w*|forbidden|not|never|no)\b|n['’]t\b",
    re.IGNORECASE,
)
_BOUNDED = re.compile(
    r"\b(?:without|unless|(?:nothing|nobody|no one|no-one|none) but|apart from|neither|nor|both|alone)\b|"
    r"\bexcept\w*|\bonly\b|\bonce\b|\d ?%|\bpercent\b",
    re.IGNORECASE,
)


def _check_quantifiers(claim: Text, evidence: Text, context: Text) -> Iterable[Finding]:
    """A sentence about all, or a duty, without such a word in the quotes."""
    del context
    said = Text(_NO_QUANTIFIER.sub(" ", claim.text))
    known = set(evidence.words)
    word = next((word for word in said.words if word in _UNIVERSALS), "")
    if word in _ONLY and _BOUNDED.search(evidence.text):
        return
    if word and not (_UNIVERSALS | _EACH) & known:
        is_shown = word in ("whole", "entire") or "|" in evidence.written or len(evidence.quantities) > _MANY
        yield Finding(FindingKind.QUANTIFIER, word, is_sure=not is_shown and not _BOUNDED.search(evidence.text))
        return
    if word in _WHOLES and not (_WHOLES | _EACH) & known - {"no"}:
        yield Finding(FindingKind.QUANTIFIER, word)
        return
    if claim.language == evidence.language and "must" in claim.words and not _DUTIES.search(evidence.text):
        yield Finding(FindingKind.QUANTIFIER, "must")


def _check_hedges(claim: Text, evidence: Text, context: Text) -> Iterable[Finding]:
    del context
    part = nearest_part(claim, evidence)
    hedges = [word for word in part.words if word in _HEDGES and (word != "may" or "may" in part.text)]
    if hedges and not _HEDGES & set(claim.words):
        yield Finding(FindingKind.HEDGE, "", hedges[0])


def _check_superlatives(claim: Text, evidence: Text, context: Text) -> Iterable[Finding]:
    """A superlative that is not the quotes'; their figures may bear one out."""
    del context
    for match in _SUPERLATIVE.finditer(claim.text):
        if not set(tokens(match.group())) & evidence.stems and not _SUPERLATIVE.search(evidence.text):
            is_first = match.group().split()[-1] in ("first", "last", "only")
            is_shown = _COMPARES.search(claim.text) or claim.quantities or "|" in evidence.written
            yield Finding(FindingKind.SUPERLATIVE, match.group(), is_sure=not is_first and not is_shown)
            return


_COMPARES = re.compile(
    r"\bof (?:the|all|both|these) (?:\w+ )?(?:two|three|four|five|six|sections?|rows?)\b", re.IGNORECASE
)


def _check_causes(claim: Text, evidence: Text, context: Text) -> Iterable[Finding]:
    """A reason that the quotes don't have."""
    match = _CLAIMS_CAUSE.search(claim.text)
    if match is None:
        return
    if claim.language == evidence.language and match.group().lower() != "the reason":
        reason = re.split(r"[,;.](?:\s|$)", claim.text[match.end() :])[0]
        named = set(tokens(reason)) - {"it", "they"}
        if named and len(named & (evidence.stems | context.stems)) < _KNOWN_REASON * len(named):
            yield Finding(FindingKind.CAUSE, reason.strip(), is_sure=True)
            return
    if not _CAUSES.search(evidence.text):
        yield Finding(FindingKind.CAUSE, match.group())


_KNOWN_REASON = 0.34  # share of a reason's words


def _check_relations(claim: Text, evidence: Text, context: Text) -> Iterable[Finding]:
    del context
    if claim.language == evidence.language:
        yield from check_direction(claim.text, evidence.text, is_foreign=False)
    else:
        alike, (quote,) = in_one_language(claim, [evidence.text])
        yield from check_foreign(claim.text, evidence.text, (alike, quote))
    yield from check_bindings(claim.text, evidence.written)
    yield from check_cells(claim, evidence)
    yield from check_comparisons(claim, evidence)
    yield from check_posts(claim.text, evidence.text)
    if claim.language == evidence.language:
        yield from check_slots(claim.text, evidence.text, has_names=claim.language != "de")
        yield from check_pairs(claim.text, evidence.text)


_HEADING_WORDS = 8


def is_heading(text: str) -> bool:
    """Whether quotes are only headings: few words, no full stop, no statement."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return bool(lines) and all(map(_is_heading_line, lines))


_CHAPTER = re.compile(
    r"(?:chapter|part|section|act|appendix|kapitel|teil|abschnitt|capítulo|parte|sección) [\w.]{1,12}?(?:[:.]? |$)",
    re.IGNORECASE,
)


def _is_heading_line(line: str) -> bool:
    if line.startswith("#"):
        return True
    bare = line[found.end() :] if (found := _CHAPTER.match(line)) else line
    return not bare or (
        len(bare.split()) <= _HEADING_WORDS
        and bare[-1:] not in '.!?:;|)”"'
        and not re.search(r"[|:=\d]", bare)
        and not re.search(r"\b(?:is|are|was|were|has|have|had|will|can|may|must|should|who|that)\b", bare)
    )


def _check_headings(claim: Text, evidence: Text, context: Text) -> Iterable[Finding]:
    del claim, context
    if is_heading(evidence.text):
        yield Finding(FindingKind.HEADING, evidence.text.strip())


_CHECKS: tuple[Callable[[Text, Text, Text], Iterable[Finding]], ...] = (
    _check_headings,
    check_quantities,
    check_rates,
    check_dates,
    _check_names,
    _check_negation,
    _check_quantifiers,
    _check_hedges,
    _check_superlatives,
    _check_causes,
    _check_relations,
)
