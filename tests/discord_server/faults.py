"""What goes wrong on purpose, for requests that match: with Discord's codes besides, and its rate limits."""

import time
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tests import platform_faults

# Where no limit is set: what Discord would say of a quiet bucket.
QUIET_LIMIT = 50


@dataclass(kw_only=True, slots=True)
class Fault(platform_faults.Fault):
    """`method` as in "POST", or "*"; `path` as in "/channels/*/messages"."""

    path: str
    code: int = 0
    message: str = ""
    everywhere: bool = False  # a 429 of the global limit

    def matches(self, method: str, path: str, text: str) -> bool:
        return self.method in ("*", method) and fnmatchcase(path, self.path) and self.saying in text


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


class Faults(platform_faults.Faults[Fault, Limit]):
    def take(self, method: str, path: str, text: str) -> Fault | None:
        return self.take_first(lambda fault: fault.matches(method, path, text))

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
