"""What goes wrong on purpose: refusals, hanging calls, lost replies and rate limits, for methods that match."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tests.slack_server.calls import Call
from tests.slack_server.methods import METHODS

MINUTE = 60.0
SECONDS_A_POST = 1.0  # in one channel


@dataclass(kw_only=True, slots=True)
class Fault:
    """Happens to the next `times` calls that match; `method` as in "chat.*"."""

    method: str
    times: int
    status: int = 0  # 0: answered as `error` with 200, if there is one
    error: str | None = None
    retry_after_seconds: int = 1
    after: bool = False  # the call is carried out first
    lost: bool = False  # and the connection closed without a reply
    held: asyncio.Event | None = None  # nothing happens until it is set
    met: int = 0  # calls it happened to

    def matches(self, method: str) -> bool:
        return self.times > 0 and fnmatchcase(method, self.method)


class Hang:
    """Calls that wait: `reached` is set by the first one, `release()` lets all go on."""

    def __init__(self, fault: Fault, reached: asyncio.Event) -> None:
        self._fault = fault
        self.reached = reached

    def release(self) -> None:
        self._fault.times = 0
        assert self._fault.held is not None
        self._fault.held.set()


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


class Faults:
    """The faults and limits of one server, first come first served; `now` is the server's clock."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._faults: list[Fault] = []
        self._limits: list[Limit] = []
        self._reached: dict[int, asyncio.Event] = {}

    def add(self, fault: Fault) -> Fault:
        self._faults.append(fault)
        return fault

    def hang(self, fault: Fault) -> Hang:
        fault.held = asyncio.Event()
        reached = self._reached[id(self.add(fault))] = asyncio.Event()
        return Hang(fault, reached)

    def limit(self, limit: Limit) -> Limit:
        self._limits.append(limit)
        return limit

    def use_tiers(self, *, distributed: bool) -> None:
        """The limits that Slack documents: of a method for a minute, and of posts in one channel."""
        if distributed:
            for name in ("conversations.history", "conversations.replies"):
                self.limit(Limit(method=name, calls=1, seconds=MINUTE))
        self.limit(Limit(method="chat.postMessage", calls=1, seconds=SECONDS_A_POST, each_channel=True))
        for name, method in METHODS.items():
            self.limit(Limit(method=name, calls=method.tier, seconds=MINUTE))

    def take(self, method: str) -> Fault | None:
        fault = next((one for one in self._faults if one.matches(method)), None)
        if fault is None:
            return None
        fault.times -= 1
        fault.met += 1
        if reached := self._reached.get(id(fault)):
            reached.set()
        return fault

    def wait_seconds(self, call: Call) -> int:
        """Whole seconds until this call is within all limits; 0: it is."""
        return max((math.ceil(limit.take(call, self._now())) for limit in self._limits), default=0)

    def release_all(self) -> None:
        for fault in self._faults:
            fault.times = 0
            if fault.held is not None:
                fault.held.set()
