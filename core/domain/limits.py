"""Limits on questions: how many in a window, how many at a time, and whose turn it is. Pure.

The database applies these rules under its locks, so that they hold over all processes and restarts.
"""

from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from core.domain.service import Decision

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
# A full window is announced once to each person; later refusals are stored for /why, and stay unposted.
OVER_LIMIT, OVER_LIMIT_AGAIN = "over_limit", "over_limit_again"
OVER_LIMIT_CODES = frozenset({OVER_LIMIT, OVER_LIMIT_AGAIN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A window begins with its first question, so that its end can be named."""

    started_at: datetime
    asked: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLimit:
    """At most so many questions in a window."""

    key: str  # the person, channel or workspace; unique in the workspace
    subject: str  # the same, as the beginning of a sentence: "You have"
    most: int
    length: timedelta = HOUR

    def current(self, window: Window, now: datetime) -> Window:
        """Return the window that a question of now falls into: this one, or a new one after its end."""
        return window if now < window.started_at + self.length else Window(started_at=now)

    def is_full(self, window: Window) -> bool:
        return window.asked >= self.most

    def refuse(self, window: Window, *, is_announced: bool) -> Decision:
        """Return the refusal of a question in a full window, with the time from which the next one is taken."""
        count = "1 question" if self.most == 1 else f"{self.most} questions"
        unit = "hour" if self.length == HOUR else "minute"
        until = _next_minute(window.started_at + self.length)
        sentence = f"{self.subject} asked {count} in this {unit}. You can ask again at {until:%H:%M} UTC."
        return Decision(code=OVER_LIMIT_AGAIN if is_announced else OVER_LIMIT, sentence=sentence, accepted=False)


def admit(
    limits: Sequence[QuestionLimit], windows: Mapping[str, Window], now: datetime
) -> tuple[dict[str, Window], QuestionLimit | None]:
    """Count a question in all windows, by key, or in none: then return the full limit that ends last."""
    current = {limit.key: limit.current(windows[limit.key], now) for limit in limits}
    full = [limit for limit in limits if limit.is_full(current[limit.key])]
    if full:
        return current, max(full, key=lambda limit: current[limit.key].started_at + limit.length)
    return {key: Window(started_at=item.started_at, asked=item.asked + 1) for key, item in current.items()}, None


def _next_minute(moment: datetime) -> datetime:
    whole = moment.replace(second=0, microsecond=0)
    return whole if whole == moment else whole + MINUTE


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelLimits:
    """How many questions are answered at a time; further ones wait. 0: any number."""

    person: int = 0
    channel: int = 0
    workspace: int = 0
    platforms: Collection[str] = frozenset()  # where these hold; turns are fair everywhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """The person and the place of a question, by which turns are fair."""

    platform: str
    workspace: str
    channel: str
    author: str

    @property
    def person_key(self) -> str:
        return f"person {self.platform}:{self.author}"

    @property
    def channel_key(self) -> str:
        return f"channel {self.platform}:{self.channel}"

    @property
    def keys(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """The person and the channel, each with the workspace."""
        return (self.workspace, self.person_key), (self.workspace, self.channel_key)


@dataclass(kw_only=True)
class Turns:
    """The questions in progress, and when each person and channel had a turn last."""

    limits: ParallelLimits
    running: Sequence[Asker]
    served: Mapping[tuple[str, str], datetime]
    _counts: Counter[object] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for asker in self.running:
            self._count(asker)

    def choose(self, waiting: Sequence[tuple[int, Asker]], most: int) -> list[int]:
        """Return the numbers of the next questions, given all waiting ones by number.

        First come questions whose person, then channel, has the fewest in progress; then by the longest time since the
        last turn; then the oldest. So one person's flood delays other people by at most the answer in progress.
        """
        queues: dict[Asker, deque[int]] = {}  # of equals, the oldest is next: only the first of each is compared
        for number, asker in sorted(waiting, key=lambda item: item[0]):
            queues.setdefault(asker, deque()).append(number)
        chosen: list[int] = []
        taken: dict[tuple[str, str], int] = {}  # the order of turns in this choice
        while len(chosen) < most and (ready := [asker for asker in queues if self._has_room(asker)]):
            asker = min(ready, key=lambda asker: self._rank(queues[asker][0], asker, taken))
            chosen.append(queues[asker].popleft())
            if not queues[asker]:
                del queues[asker]
            taken.update(dict.fromkeys(asker.keys, len(chosen)))
            self._count(asker)
        return chosen

    def _rank(self, number: int, asker: Asker, taken: Mapping[tuple[str, str], int]) -> tuple[object, ...]:
        person, channel = asker.keys
        return (
            *(self._counts[person], self._counts[channel]),
            *(self._last(person, taken), self._last(channel, taken), number),
        )

    def _last(self, key: tuple[str, str], taken: Mapping[tuple[str, str], int]) -> tuple[int, float]:
        served = self.served.get(key)
        return taken.get(key, 0), served.timestamp() if served else 0.0

    def _has_room(self, asker: Asker) -> bool:
        limits = self.limits
        if asker.platform not in limits.platforms:
            return True
        person, channel = asker.keys
        counted = ((limits.person, person), (limits.channel, channel), (limits.workspace, asker.workspace))
        return all(not most or self._counts[key] < most for most, key in counted)

    def _count(self, asker: Asker) -> None:
        self._counts.update((*asker.keys, asker.workspace))
