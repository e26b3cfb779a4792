"""The costs of model calls, the accounts that pay for them, and the budgets of a day. Pure.

Money is in millionths of a dollar: a price in dollars for a million tokens is such a number for each token.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date
from enum import StrEnum

from core.domain.chat import ChatRequest, PageImage
from core.domain.replies import Usage

MICRO = 1_000_000
BYTES_PER_TOKEN = 2  # at least: prose has four, numbers and code two to three
IMAGE_TOKENS = 2_000  # at most, of a page image


class CallPurpose(StrEnum):
    """The purpose of a call of a model."""

    ANSWER = "answer"
    SECTION = "section"  # notes on a long section, for an answer
    SUMMARY = "summary"  # of a conversation's earlier turns
    LINE = "line"  # one line about a document
    RECAP = "recap"
    EXTRACTION = "extraction"
    OTHER = "other"


@dataclass(kw_only=True)
class Spent:
    """The sum of calls."""

    calls: int = 0
    tokens: int = 0
    micros: int = 0
    unpriced: int = 0  # calls of models without a price

    def add(self, usage: Usage, micros: int | None) -> None:
        self.calls += 1
        self.tokens += usage.input_tokens + usage.output_tokens
        self.micros += micros or 0
        self.unpriced += micros is None

    @property
    def dollars(self) -> float:
        return self.micros / MICRO


@dataclass(kw_only=True)
class Tally:
    """The tokens of the requests of one question, as the replies report them."""

    answer: Usage = field(default_factory=Usage)  # the turns of the strategy
    others: Usage = field(default_factory=Usage)  # notes on sections, summaries, lines

    def add(self, purpose: CallPurpose, usage: Usage) -> None:
        if purpose is CallPurpose.ANSWER:
            self.answer += usage
        else:
            self.others += usage

    @property
    def total(self) -> Usage:
        return self.answer + self.others


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The person, place and answer that a call is charged to. `spent` counts the calls of one answer."""

    workspace: str = ""
    channel: str = ""  # with its platform; empty: no channel
    person: str = ""  # likewise
    answer: str = ""  # the message key of the question
    purpose: CallPurpose = CallPurpose.OTHER
    spent: Spent = field(default_factory=Spent)
    tally: Tally | None = None  # None: no question is answered


NO_ACCOUNT = Account()  # of calls without a person who caused them


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars for a million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float

    def cost(self, usage: Usage) -> int:
        """Return the cost of a call, rounded up."""
        plain = max(0, usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens)
        cached = self.cache_read * usage.cache_read_tokens + self.cache_write * usage.cache_write_tokens
        return math.ceil(self.input * plain + self.output * usage.output_tokens + cached)

    def most(self, input_tokens: int, output_tokens: int) -> int:
        """Return the highest possible cost of a call."""
        return math.ceil(
            max(self.input, self.cache_read, self.cache_write) * input_tokens + self.output * output_tokens
        )


class BudgetScope(StrEnum):
    PERSON = "person"
    CHANNEL = "channel"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class DayBudget:
    """Limits of one day (UTC). 0: any amount."""

    scope: BudgetScope
    tokens: int = 0
    micros: int = 0

    def has_room(self, spent: Spent, tokens: int, micros: int) -> bool:
        """Whether a call fits, given all that is spent and reserved."""
        return not (
            (self.tokens and spent.tokens + tokens > self.tokens)
            or (self.micros and spent.micros + micros > self.micros)
        )

    def holds_for(self, account: Account) -> bool:
        """Whether a call counts in it: background work has no person and no channel."""
        return bool((self.tokens or self.micros) and getattr(account, self.scope.value))

    @property
    def sentence(self) -> str:
        whose = {"person": "Your budget", "channel": "This channel's budget", "workspace": "This workspace's budget"}
        return (
            f"{whose[self.scope.value]} for the language model is spent for today. Ask again after 00:00 UTC, or ask "
            "an admin to raise it."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """The most that a call may take, until it is settled."""

    id: str
    account: Account
    model: str
    tokens: int
    micros: int | None  # None: the model has no price


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingLine:
    """The calls of one day, workspace, person, purpose and model."""

    day: date
    workspace: str
    person: str
    purpose: CallPurpose
    model: str
    spent: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingReport:
    lines: tuple[SpendingLine, ...] = ()  # newest day first
    answers: int = 0  # that asked a model

    @property
    def total(self) -> Spent:
        return _sum(self.lines)

    @property
    def micros_per_answer(self) -> float | None:
        """None without any answer."""
        costs = sum(line.spent.micros for line in self.lines if line.purpose is not CallPurpose.EXTRACTION)
        return costs / self.answers if self.answers else None

    def by(self, name: str) -> list[tuple[str, Spent]]:
        """Return the sums by `day`, `person`, `purpose` or `model`, the dearest first; days newest first."""
        keys = dict.fromkeys(str(getattr(line, name)) for line in self.lines)
        sums = [(key, _sum([line for line in self.lines if str(getattr(line, name)) == key])) for key in keys]
        return sums if name == "day" else sorted(sums, key=lambda item: (-item[1].micros, -item[1].tokens))


def cost_text(spent: Spent) -> str:
    """Return the cost of calls, as far as it is known."""
    if spent.calls and spent.unpriced == spent.calls:
        return "unknown (no price)"
    calls = "1 call" if spent.unpriced == 1 else f"{spent.unpriced:,} calls"
    more = f" and {calls} without a price" if spent.unpriced else ""
    return f"${spent.dollars:,.4f}{more}"


def _sum(lines: Sequence[SpendingLine]) -> Spent:
    names = [item.name for item in fields(Spent)]
    return Spent(**{name: sum(getattr(line.spent, name) for line in lines) for name in names})


def most_input_tokens(request: ChatRequest) -> int:
    """Return a number of tokens that the prompt does not exceed."""
    return _count(request) // BYTES_PER_TOKEN + 1


def _count(value: object) -> int:
    """Return the bytes of all texts in a value, and for an image as many as its tokens."""
    if isinstance(value, str):
        return len(value.encode("utf-8", "replace"))
    if isinstance(value, PageImage):
        return IMAGE_TOKENS * BYTES_PER_TOKEN
    if isinstance(value, Mapping):
        return sum(_count(key) + _count(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return sum(map(_count, value))
    if is_dataclass(value):
        return sum(_count(getattr(value, item.name)) for item in fields(value))
    return 0 if value is None or isinstance(value, bytes) else len(str(value))
