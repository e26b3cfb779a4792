"""How often one client may ask: a token bucket each, and no memory of clients that have been quiet for long enough."""

from collections import OrderedDict
from dataclasses import dataclass

from core.ports import Clock

# Buckets kept at once. Beyond it the ones longest unused go: an attacker with many names costs memory for no more.
MAX_CLIENTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`burst` requests at once, then `per_second` of them."""

    per_second: float
    burst: int

    def __post_init__(self) -> None:
        if self.per_second <= 0 or self.burst < 1:
            raise ValueError(f"a rate lets something through, not {self!r}")


class RateLimiter:
    """One bucket a client. A new client's bucket is full."""

    def __init__(self, rate: Rate, clock: Clock, max_clients: int = MAX_CLIENTS) -> None:
        self._rate = rate
        self._clock = clock
        self._max_clients = max_clients
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client -> (tokens left, time)

    def admit(self, client: str) -> float:
        """0.0 when the request may pass, and is counted; else the seconds until the next one may (nothing counted)."""
        now = self._clock.monotonic()
        left, at = self._buckets.get(client, (float(self._rate.burst), now))
        left = min(float(self._rate.burst), left + (now - at) * self._rate.per_second)
        admitted = left >= 1
        self._buckets[client] = (left - 1 if admitted else left, now)
        self._buckets.move_to_end(client)
        if len(self._buckets) > self._max_clients:
            self._buckets.popitem(last=False)
        return 0.0 if admitted else (1 - left) / self._rate.per_second

    @property
    def clients(self) -> int:
        """How many clients are remembered."""
        return len(self._buckets)
