"""What goes wrong on purpose, for methods that match: by an error's name besides, and Slack's rate limits."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tests import platform_faults
from tests.slack_server.calls import Call
from tests.slack_server.methods import METHODS

MINUTE = 60.0
SECONDS_A_POST = 1.0  # in one channel


@dataclass(kw_only=True, slots=True)
class Fault(platform_faults.Fault):
    """`method` as in "chat.*"."""

    error: str | None = None  # answered with it, and 200

    def matches(self, method: str, text: str) -> bool:
        return fnmatchcase(method, self.method) and self.saying in text


@dataclass(kw_only=True, slots=True)
class Limit:
    """So many calls in so many seconds; each channel by itself where `each_channel`."""

    method: str
    calls: int
    seconds: float
    each_channel: bool = False
    windows: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)  # when it began, and the count
    refused: int = 0

    def take(self, call: Call, now: float) -> float:
        """Seconds to wait; 0: the call may pass."""
        if not fnmatchcase(call.method, self.method):
            return 0.0
        bucket = (call.method, str(call.params.get("channel", "")) if self.each_channel else "")
        start, count = self.windows.get(bucket, (now, 0))
        if now - start >= self.seconds:
            start, count = now, 0
        if count >= self.calls:
            self.refused += 1
            return self.seconds - (now - start)
        self.windows[bucket] = (start, count + 1)
        return 0.0


class Faults(platform_faults.Faults[Fault, Limit]):
    """`now` is the server's clock."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self._now = now

    def take(self, call: Call) -> Fault | None:
        text = json.dumps(call.params, ensure_ascii=False)
        return self.take_first(lambda fault: fault.matches(call.method, text))

    def use_tiers(self, *, distributed: bool) -> None:
        """The limits that Slack documents: of a method for a minute, and of posts in one channel."""
        if distributed:
            for name in ("conversations.history", "conversations.replies"):
                self.limit(Limit(method=name, calls=1, seconds=MINUTE))
        self.limit(Limit(method="chat.postMessage", calls=1, seconds=SECONDS_A_POST, each_channel=True))
        for name, method in METHODS.items():
            self.limit(Limit(method=name, calls=method.tier, seconds=MINUTE))

    def wait_seconds(self, call: Call) -> int:
        """Whole seconds until this call is within all limits; 0: it is."""
        return max((math.ceil(limit.take(call, self._now())) for limit in self._limits), default=0)
