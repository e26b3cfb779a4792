"""The numbers about a sentence and its quotes that the small network weighs, and the network. Pure.

`python -m tests.training.weights` fits it and writes weights.json; docs/evaluation.md has the figures.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from core.answering.support.bindings import posts_of
from core.answering.support.direction import agreements
from core.answering.support.forms import GROUPS_OF
from core.answering.support.parts import Part, parts_of
from core.answering.support.texts import Text
from core.domain.support import Finding, FindingKind

# Findings that help even when they aren't sure.
_COUNTED = (
    FindingKind.NUMBER,
    FindingKind.DATE,
    FindingKind.NAME,
    FindingKind.WORD,
    FindingKind.NEGATION,
    FindingKind.OPPOSITE,
    FindingKind.QUANTIFIER,
    FindingKind.SUPERLATIVE,
    FindingKind.CAUSE,
    FindingKind.ROLE,
)
_COPIED = 3  # words in a row that count as copied
_RUN = 4  # characters compared: languages share roots and names
_ROOT = 5  # letters of a stem that tell its family
_MOST = 2  # counted things of a kind
LEAST = 1e-4  # probability of the model that is told from none
_SURE = 3  # a sure finding counts as much as so many others


def coverage(said: Text, evidence: Text) -> float:
    """Return the share of the sentence's stems that the evidence has."""
    return len(said.stems & evidence.stems) / (1 + len(said.stems))


def features(
    said: Text, evidence: Text, findings: Sequence[Finding], support: float, alike: tuple[str, str] | None = None
) -> dict[str, float]:
    """Return the numbers that the network reads, in a fixed order.

    `support` is the model's probability; `alike` are both texts in one language.
    """
    counts = Counter[FindingKind]()
    for finding in findings:
        counts[finding.kind] += _SURE if finding.is_sure else 1
    missed = Counter(finding.kind for finding in findings)
    is_foreign = float(said.language != evidence.language)
    read = alike or (said.text, evidence.text)
    return {
        **{kind.value: float(min(counts[kind], _SURE)) for kind in _COUNTED},
        "support": _logit(support),
        "foreign": is_foreign,
        "foreign_support": is_foreign * _logit(support),
        "sentence_words": len(said.words) / 20,
        "quote_words": min(60, len(evidence.words)) / 60,
        "hedge": float(FindingKind.HEDGE in missed),
        # shared by sentence and quotes
        "figures": _held(len(said.quantities), missed[FindingKind.NUMBER]),
        "names": _held(len(set(said.names)), missed[FindingKind.NAME]),
        "dates": float(bool(said.dates)),
        "posts": float(bool(posts_of(said.text) & posts_of(evidence.text))),
        "characters": _shared_runs(*read),
        "copied": _copied(said, evidence),
        **_covered(*read),
    }


def _logit(probability: float) -> float:
    within = min(max(probability, LEAST), 1 - LEAST)
    return math.log(within / (1 - within))


def _held(count: int, missed: int) -> float:
    return float(min(_MOST, max(0, count - missed)))


def _copied(said: Text, evidence: Text) -> float:
    """Return the share of the sentence's words that are in runs of the evidence's own words."""
    theirs = set(_in_a_row(evidence))
    copied = {place + more for place, run in enumerate(_in_a_row(said)) if run in theirs for more in range(_COPIED)}
    return len(copied) / max(1, len(said.words))


def _in_a_row(text: Text) -> list[tuple[str, ...]]:
    return [tuple(text.words[start : start + _COPIED]) for start in range(len(text.words) - _COPIED + 1)]


def _shared_runs(said: str, evidence: str) -> float:
    mine, theirs = _runs(said), _runs(evidence)
    return len(mine & theirs) / max(1, len(mine))


def _runs(text: str) -> set[str]:
    plain = re.sub(r"\W+", " ", text.lower())
    return {plain[start : start + _RUN] for start in range(len(plain) - _RUN + 1)}


def _covered(said: str, evidence: str) -> dict[str, float]:
    """How many of the sentence's words the quotes have, or one of the kind: all of them, and their nearest part."""
    claim, parts = Part(said), parts_of(evidence)
    agreed = agreements(claim, parts)
    held = [_known(claim.stems, part.stems) | agreed & claim.stems for part in parts]
    together: set[str] = set().union(*held)
    best = max(map(len, held), default=0)
    count = max(1, len(claim.stems))
    return {
        "agreed": min(_MOST, len(agreed)),
        "covered": len(together) / count,
        "covered_by_one": best / count,
        "open_words": min(4, len(claim.stems - together)) / 4,
        "open_words_of_one": min(5, count - best) / 5,
    }


def _known(stems: set[str], theirs: set[str]) -> set[str]:
    groups: set[int] = set().union(*(GROUPS_OF.get(stem, set()) for stem in theirs))
    roots = {stem[:_ROOT] for stem in theirs if len(stem) >= _ROOT}
    return {stem for stem in stems if stem in theirs or GROUPS_OF.get(stem, set()) & groups or stem[:_ROOT] in roots}


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """One hidden layer: `hidden` has a row of weights a unit, `biases` one a unit, `output` one a unit and a bias."""

    hidden: Sequence[Sequence[float]]
    biases: Sequence[float]
    output: Sequence[float]

    def fault(self, values: Sequence[float]) -> float:
        units = [
            math.tanh(bias + sum(weight * value for weight, value in zip(row, values, strict=True)))
            for row, bias in zip(self.hidden, self.biases, strict=True)
        ]
        total = self.output[-1] + sum(weight * unit for weight, unit in zip(self.output[:-1], units, strict=True))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


@cache
def networks() -> Sequence[Network]:
    """Read the networks that are shipped; their mean is the judgement."""
    read = json.loads(resources.files(__package__).joinpath("weights.json").read_text("utf-8"))
    return [Network(hidden=net["hidden"], biases=net["biases"], output=net["output"]) for net in read]


def fault_of(values: Mapping[str, float]) -> float:
    """Return the probability of a fault for features."""
    given = list(values.values())
    found = [network.fault(given) for network in networks()]
    return sum(found) / len(found)
