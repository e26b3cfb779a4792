"""The verdict on a sentence: the ladder of checks in code, then a model of meaning, joined by a small network."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.answering.support.claims import is_claim
from core.answering.support.features import coverage, fault_of, features
from core.answering.support.ladder import find_faults, nearest_part
from core.answering.support.texts import NEGATIONS, Text, in_one_language
from core.domain.support import Finding, FindingKind, Judgement, Verdict
from core.ports import SupportModel

# A sentence is unsupported from this probability of a fault on: one true sentence in twelve is marked, and one false
# one in five passes (docs/evaluation.md).
FAULTY_FROM = 0.69
# In another language than the quotes' fewer faults show: from here on, one true translation in eight is marked.
FOREIGN_FROM = 0.64
# A finding with the quotes' own words contradicts only a sentence about the same matter.
SAME_MATTER = 0.45
CERTAIN = 0.7  # the least fault of what code is sure of; not below the bars above, or it would pass
# Code is wrong about figures that it can't compute: where the model is this sure of a sentence, the networks decide.
MODEL_IS_SURE = 0.95
READ_AT_ONCE = 1_500  # characters: about 400 tokens of the 512 that the model reads, sentence included
# A quote's sentence supports its own beginning, unless that denies something, or a word behind it takes it back.
SHORTEST_BEGINNING = 3  # words
SHORTEST_CLAUSE = 3  # words
_JOINTS = re.compile(r"(?:;|,? and then|, (?:and|but|then|while|whereas)) +")
_SENTENCES = re.compile(r"(?<=[.!?;:])\s+|\n+")
_TAKES_BACK = NEGATIONS | set(
    "only if unless except but or nur wenn falls außer aber oder sólo solo si salvo excepto pero o ou".split()
)
# Words by which a sentence may not say a phrase of its own: "Nobody believes that Ann keeps the key".
SHIFTING = _TAKES_BACK | set(
    """deny denies denied doubt doubts doubted believe believes believed think thinks thought claim claims claimed hope
    hopes hoped want wants wanted plan plans planned suppose supposed allege alleged pretend pretended refuse refused
    fail failed may might could would should almost nearly hardly
    leugnet glaubt glaubte meint behauptet hofft will wollte könnte dürfte würde fast kaum
    niega cree creía piensa espera quiere podría casi""".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence with its cited quotes, and the text around them, in which names may be."""

    sentence: str
    quotes: Sequence[str]
    context: str = ""


class SupportCheck:
    """Judges sentences against quotes. `model` compares meanings; it is asked only about claims."""

    def __init__(self, model: SupportModel, record: Callable[[Judgement], None] | None = None) -> None:
        """`record` is called with each judgement, in order."""
        self.model = model
        self._record = record

    async def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        """Return a judgement of each claim, in order. Raises the errors of the model (ModelMissing)."""
        judged = [await self._one(claim) for claim in claims]
        if self._record is not None:
            for judgement in judged:
                self._record(judgement)
        return judged

    async def _one(self, claim: Claim) -> Judgement:
        if not is_claim(claim.sentence):
            return Judgement(verdict=Verdict.NO_CLAIM)
        if not claim.quotes:
            return Judgement(verdict=Verdict.UNSUPPORTED, fault=1.0)
        said, evidence, context = Text(claim.sentence), Text("\n".join(claim.quotes)), Text(claim.context)
        findings = tuple(find_faults(said, evidence, context))
        if any(finding.kind is FindingKind.HEADING for finding in findings):
            return Judgement(verdict=Verdict.UNSUPPORTED, fault=1.0, findings=findings)
        if not findings and _is_beginning(said, claim.quotes):
            return Judgement(verdict=Verdict.SUPPORTED, fault=0.0)
        alike, quotes = in_one_language(said, claim.quotes)
        support = await support_of(self.model, alike, quotes)
        fault = fault_of(features(said, evidence, findings, support, (alike, "\n".join(quotes))))
        if is_certain(findings, support):
            fault = max(fault, CERTAIN)
        return Judgement(verdict=_verdict(said, evidence, findings, fault), fault=fault, findings=findings)


async def support_of(model: SupportModel, sentence: str, quotes: Sequence[str]) -> float:
    """Return the model's opinion of a sentence: of the whole, or of its weakest clause if that is better."""
    parts = parts_to_read(quotes)

    async def best(said: str) -> float:
        return max([await model.support(said, part) for part in parts])

    whole, clauses = await best(sentence), clauses_of(sentence)
    if whole > MODEL_IS_SURE or len(clauses) < 2:
        return whole
    return max(whole, min([await best(clause) for clause in clauses]))


def clauses_of(sentence: str) -> list[str]:
    """Return the clauses that a sentence joins, as sentences; [] if one of them is too short to say anything."""
    clauses = [clause.strip().rstrip(".") for clause in _JOINTS.split(sentence)]
    if any(len(clause.split()) < SHORTEST_CLAUSE for clause in clauses):
        return []
    return [f"{clause[:1].upper()}{clause[1:]}." for clause in clauses]


def parts_to_read(quotes: Sequence[str]) -> list[str]:
    """Return what the model reads of quotes: all at once if it can, else parts, each with half of the one before."""
    lines = [line.strip() for quote in quotes for line in _SENTENCES.split(quote) if line.strip()]
    parts, begin = list[str](), 0
    while begin < len(lines):
        end, length = begin, 0
        while end < len(lines) and (end == begin or length + len(lines[end]) <= READ_AT_ONCE):
            length += len(lines[end]) + 1
            end += 1
        parts.append("\n".join(quotes) if (begin, end) == (0, len(lines)) else " ".join(lines[begin:end]))
        begin = end if end == len(lines) else max(begin + 1, (begin + end) // 2)
    return parts or ["\n".join(quotes)]


def _is_beginning(said: Text, quotes: Sequence[str]) -> bool:
    own = said.words
    if len(own) < SHORTEST_BEGINNING or said.negations:
        return False
    parts = (Text(part).words for quote in quotes for part in _SENTENCES.split(quote))
    return any(part[: len(own)] == own and not _TAKES_BACK & set(part[len(own) : len(own) + 1]) for part in parts)


def _verdict(said: Text, evidence: Text, findings: Sequence[Finding], fault: float) -> Verdict:
    if fault < (FAULTY_FROM if said.language == evidence.language else FOREIGN_FROM):
        return Verdict.SUPPORTED
    rivals = [
        finding
        for finding in findings
        if finding.other and (finding.kind is FindingKind.DATE or (finding.is_sure and finding.kind in _TELLING))
    ]
    if rivals and fault >= CERTAIN and coverage(said, nearest_part(said, evidence)) >= SAME_MATTER:
        return Verdict.CONTRADICTED
    return Verdict.UNSUPPORTED


def is_certain(findings: Sequence[Finding], support: float) -> bool:
    """Return whether code marks a sentence of which the model has this opinion."""
    return support < MODEL_IS_SURE and any(
        finding.kind is FindingKind.DATE
        or (
            finding.is_sure and (finding.kind in _WRITTEN or (finding.kind is FindingKind.NAME and finding.other != ""))
        )
        for finding in findings
    )


# Kinds that hold in texts of any style; others (a word in the same place, "all", a reason) are left to the networks.
_WRITTEN = frozenset(
    {FindingKind.NUMBER, FindingKind.OPPOSITE, FindingKind.NEGATION, FindingKind.ROLE, FindingKind.HEDGE}
)
# Kinds that tell what the quotes say instead.
_TELLING = frozenset(
    {FindingKind.NUMBER, FindingKind.OPPOSITE, FindingKind.NEGATION, FindingKind.NAME, FindingKind.ROLE}
)
