"""What goes wrong on purpose: refusals, hanging calls, lost replies and rate limits, for requests that match."""

import asyncio
import time
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

# Where no limit is set: what Discord would say of a quiet bucket.
QUIET_LIMIT = 50


@dataclass(kw_only=True, slots=True)
class Fault:
    """Happens to the next `times` requests that match; `path` as in "/channels/*/messages"."""

    method: str
    path: str
    times: int
    status: int = 0  # 0: not answered with an error
    code: int = 0
    message: str = ""
    retry_after_seconds: float = 0.0
    everywhere: bool = False  # a 429 of the global limit
    after: bool = False  # the request is carried out first
    lost: bool = False  # and the connection closed without a reply
    held: asyncio.Event | None = None  # nothing happens until it is set
    saying: str = ""  # what the request's JSON has to hold
    met: int = 0  # requests it happened to

    def matches(self, method: str, path: str, text: str) -> bool:
        is_meant = self.method in ("*", method) and fnmatchcase(path, self.path) and self.saying in text
        return self.times > 0 and is_meant


class Hang:
    """Requests that wait: `reached` is set by the first one, `release()` lets all go on."""

    def __init__(self, fault: Fault, reached: asyncio.Event) -> None:
        self._fault = fault
        self.reached = reached

    def release(self) -> None:
        self._fault.times = 0
        assert self._fault.held is not None
        self._fault.held.set()


@dataclass(kw_only=True, slots=True)
class Limit:
    """So many requests in so many seconds, for each channel (guild, webhook) by itself, as Discord counts."""

    method: str
    path: str
    requests: int
    seconds: float
    windows: dict[str, tuple[float, int]] = field(default_factory=dict)  # when the count began, and the count

    def take(self, path: str) -> tuple[int, float]:
        """How many are left after this one, and seconds until the count begins anew; -1 left: refused."""
        now, bucket = time.monotonic(), _counted_for(path)
        start, count = self.windows.get(bucket, (now, 0))
        if now - start >= self.seconds:
            start, count = now, 0
        self.windows[bucket] = (start, min(count + 1, self.requests))
        return self.requests - count - 1, self.seconds - (now - start)


class Faults:
    """The faults and limits of one server, first come first served."""

    def __init__(self) -> None:
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

    def take(self, method: str, path: str, text: str) -> Fault | None:
        fault = next((one for one in self._faults if one.matches(method, path, text)), None)
        if fault is None:
            return None
        fault.times -= 1
        fault.met += 1
        if reached := self._reached.get(id(fault)):
            reached.set()
        return fault

    def release_all(self) -> None:
        for fault in self._faults:
            fault.times = 0
            if fault.held is not None:
                fault.held.set()

    def headers(self, method: str, path: str) -> tuple[dict[str, str], float]:
        """The rate limit headers of a request, and the seconds to wait when it is refused (else 0)."""
        limit = next((one for one in self._limits if one.method in ("*", method) and fnmatchcase(path, one.path)), None)
        left, reset = limit.take(path) if limit is not None else (QUIET_LIMIT - 1, 1.0)
        headers = {
            "X-RateLimit-Limit": str(limit.requests if limit is not None else QUIET_LIMIT),
            "X-RateLimit-Remaining": str(max(left, 0)),
            "X-RateLimit-Reset": f"{time.time() + reset:.3f}",
            "X-RateLimit-Reset-After": f"{reset + 0.0005:.3f}",  # rounded up: nobody is to come too early
            "X-RateLimit-Bucket": f"{method}{bucket_of(path)}",
        }
        return headers, reset if left < 0 else 0.0


def bucket_of(path: str) -> str:
    """The path without its ids: the name of its bucket."""
    return "/".join("-" if part.isdigit() else part for part in path.split("/"))


def _counted_for(path: str) -> str:
    """The bucket and its first id."""
    return f"{bucket_of(path)} {next((part for part in path.split('/') if part.isdigit()), '')}"
