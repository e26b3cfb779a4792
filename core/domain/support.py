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

    `other` are the quotes' words in its place, or "". A sure one marks the sentence without a model.
    """

    kind: FindingKind
    word: str
    other: str = ""
    is_sure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Closeness:
    """How near quotes come to a sentence: cosines between its words of meaning and their nearest ones in the quotes."""

    mean: float = 0.0
    lowest: float = 0.0
    weakest: float = 0.0  # mean of the three lowest
    far: float = 1.0  # share of words without a near one
    whole: float = 0.0  # of the texts as wholes
    strange: float = 0.0  # mean of the words that the quotes don't have; 1 if they have all
    back: float = 0.0  # mean of the quotes' words to the sentence's


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict on a sentence, with its reasons."""

    verdict: Verdict
    fault: float = 0.0  # probability that the quotes don't support it
    findings: tuple[Finding, ...] = ()
