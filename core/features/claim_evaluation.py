"""How well the support check tells sentences apart (`footnote eval claims`): verdicts over labelled pairs."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.answering.support.check import Claim
from core.domain.support import Judgement, Verdict
from core.errors import BadInput

CLAIM_FORM = 'a JSON object with "id", "evidence" (a list of quotes) and "sentence"'
_MARKED = frozenset({Verdict.UNSUPPORTED, Verdict.CONTRADICTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledClaim:
    """A line of a claims file. Without a label it is judged, but counts in no figure."""

    id: str
    claim: Claim
    label: Verdict | None
    kind: str


def read_claims(lines: Iterable[str]) -> list[LabelledClaim]:
    """Read a claims file. BadInput names the first line that is none."""
    found = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            found.append(_read_claim(line, number))
    if not found:
        raise BadInput(f"The claims file is empty: each line is {CLAIM_FORM}.")
    return found


def _read_claim(line: str, number: int) -> LabelledClaim:
    try:
        given = json.loads(line)
        quotes = given["evidence"]
        quotes = [quotes] if isinstance(quotes, str) else [str(quote) for quote in quotes]
        claim = Claim(sentence=str(given["sentence"]), quotes=quotes)
        label = Verdict(given["label"]) if given.get("label") else None
        return LabelledClaim(id=str(given["id"]), claim=claim, label=label, kind=str(given.get("kind", "")))
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"Line {number} of the claims file is not {CLAIM_FORM}.") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimReport:
    """Verdicts in the order of the lines, with the figures over labelled lines.

    `let_through`: share of unsupported and contradicted sentences that aren't marked; `false_marks`: share of the
    supported ones that are; `balanced`: mean of 1 - each. A figure without rows is None.
    """

    verdicts: Sequence[tuple[LabelledClaim, Judgement]]

    def figures(self, claims: Sequence[tuple[LabelledClaim, Judgement]] | None = None) -> Mapping[str, float | None]:
        """Return the figures over all lines, or over these."""
        rows = [pair for pair in (self.verdicts if claims is None else claims) if pair[0].label is not None]
        faulty = [pair for pair in rows if pair[0].label in _MARKED]
        supported = [pair for pair in rows if pair[0].label is Verdict.SUPPORTED]
        through, false = _rate(faulty, marked=False), _rate(supported, marked=True)
        told = [pair for pair in rows if pair[1].verdict is Verdict.CONTRADICTED]
        right = sum(claim.label is Verdict.CONTRADICTED for claim, _ in told)
        return {
            "balanced": None if through is None or false is None else 1 - (through + false) / 2,
            "let_through": through,
            "let_through_unsupported": _rate([p for p in faulty if p[0].label is Verdict.UNSUPPORTED], marked=False),
            "let_through_contradicted": _rate([p for p in faulty if p[0].label is Verdict.CONTRADICTED], marked=False),
            "false_marks": false,
            "no_claim_marks": _rate([pair for pair in rows if pair[0].label is Verdict.NO_CLAIM], marked=True),
            "contradiction_precision": right / len(told) if told else None,
        }

    def by_kind(self) -> Mapping[str, tuple[int, float]]:
        """Return (rows, share of right marks) for each label and kind."""
        kinds: dict[str, list[bool]] = defaultdict(list)
        for claim, judged in self.verdicts:
            if claim.label is not None:
                is_right = (judged.verdict in _MARKED) is (claim.label in _MARKED)
                kinds[f"{claim.label} {claim.kind}".strip()].append(is_right)
        return {kind: (len(marks), sum(marks) / len(marks)) for kind, marks in sorted(kinds.items())}


def _rate(pairs: Sequence[tuple[LabelledClaim, Judgement]], *, marked: bool) -> float | None:
    hits = [(judged.verdict in _MARKED) is marked for _, judged in pairs]
    return sum(hits) / len(hits) if hits else None
