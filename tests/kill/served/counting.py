"""What became of the questions: a thread is judged by who said what in it, in which order. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a thread: a question, or the answer (or error) to it."""

    question: str
    is_answer: bool


@dataclass(slots=True, kw_only=True)
class Faults:
    """Texts of questions, by what went wrong with them."""

    lost: set[str] = field(default_factory=set)  # the question or its answer is nowhere
    duplicate: set[str] = field(default_factory=set)  # the question or its answer is there more than once
    disordered: set[str] = field(default_factory=set)  # not in its place

    def add(self, other: "Faults") -> None:
        self.lost |= other.lost
        self.duplicate |= other.duplicate
        self.disordered |= other.disordered

    def __bool__(self) -> bool:
        return bool(self.lost or self.duplicate or self.disordered)

    def details(self) -> list[str]:
        named = {"lost": self.lost, "duplicate": self.duplicate, "out of order": self.disordered}
        return [f"{what}: {text}" for what, texts in named.items() for text in sorted(texts)]

    def __str__(self) -> str:
        return f"{len(self.lost)} lost, {len(self.duplicate)} duplicate, {len(self.disordered)} out of order"


def judge(told: Sequence[Said], wanted: Sequence[str]) -> Faults:
    """Compare a thread with the questions it should hold, in order, each followed by its one answer."""
    counts = Counter(told)
    expected = [Said(text, is_answer) for text in wanted for is_answer in (False, True)]
    present = [item for item in expected if counts[item]]
    found = [item for item in dict.fromkeys(told) if item in set(expected)]
    return Faults(
        lost={item.question for item in expected if not counts[item]},
        duplicate={item.question for item in expected if counts[item] > 1},
        disordered={item.question for item, place in zip(found, present, strict=True) if item != place}
        | {item.question for item in told if item not in set(expected)},
    )
