"""Verdicts on the sentences of an answer: how well the quotes that they cite support them."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    NO_CLAIM = "no_claim"  # it states nothing about the documents' subject


class FindingKind(StrEnum):
    HEADING = "heading"
    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    NEGATION = "negation"
    OPPOSITE = "opposite"
    QUANTIFIER = "quantifier"
    HEDGE = "hedge"
    SUPERLATIVE = "superlative"
    CAUSE = "cause"
    WORD = "word"  # another word in the same place
    ROLE = "role"  # the sides of a relation, or of possession, the other way round


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault that a check in code found.

    `other` are the quotes' words in its place, or "". A sure one may mark the sentence by itself.
    """

    kind: FindingKind
    word: str
    other: str = ""
    is_sure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict on a sentence, with its reasons."""

    verdict: Verdict
    fault: float = 0.0  # probability that the quotes don't support it
    findings: tuple[Finding, ...] = ()
