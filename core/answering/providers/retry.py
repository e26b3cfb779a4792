"""Retries of requests to vendors, shared by all providers over HTTP.

Each provider maps its vendor's errors by its own table; this module holds the common parts: words, headers and waits.
"""

import asyncio
import logging
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol, TypeVar

from core.errors import ProviderError
from core.text.words import shorten

logger = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_BACKOFF_SECONDS = 0.5  # doubles with each attempt
LONGEST_BACKOFF_SECONDS = 8.0
DETAIL_CHARS = 300  # of the vendor's own words; enough for its sentence, not for an HTML page of a proxy


class Secret(Protocol):
    """A value that is not shown by accident, such as pydantic's SecretStr."""

    def get_secret_value(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryHint:
    """The vendor's headers about another attempt; None without any."""

    should_retry: bool | None = None
    after_seconds: float | None = None


def hint_of(error: BaseException | None) -> RetryHint:
    """Read the headers of the response behind a vendor's error, if there is one."""
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", {})
    wish = headers.get("x-should-retry")
    return RetryHint(
        should_retry=None if wish is None else wish == "true", after_seconds=_after_seconds(headers, datetime.now(UTC))
    )


def wait_before_retry(
    error: ProviderError,
    hint: RetryHint,
    *,
    attempt: int,
    remaining_seconds: float,
    first_seconds: float = FIRST_BACKOFF_SECONDS,
    jitter: float = 0.0,
) -> float | None:
    """Seconds to wait before the next attempt; None: give up now.

    `attempt` counts from 0, `jitter` is 0..1 and takes off up to a quarter. A wait that would not end within
    `remaining_seconds` is not begun: the reader hears at once, and with the vendor's own time.
    """
    if not (error.retryable if hint.should_retry is None else hint.should_retry):
        return None
    wait = hint.after_seconds
    if wait is None or wait <= 0:
        wait = min(first_seconds * 2**attempt, LONGEST_BACKOFF_SECONDS) * (1 - 0.25 * jitter)
    return wait if wait < remaining_seconds else None


async def patiently(
    attempt: Callable[[], Awaitable[T]],
    *,
    until: float,
    retries: int,
    may_repeat: Callable[[], bool],
    first_seconds: float = FIRST_BACKOFF_SECONDS,
) -> T:
    """Call `attempt` until it succeeds, at most `retries + 1` times; raise the last ProviderError if all fail.

    `until` is a time of the event loop. Stops once `may_repeat` returns False, as the text was shown.
    """
    for number in range(retries + 1):
        try:
            return await attempt()
        except ProviderError as error:
            if number == retries or not may_repeat():
                raise
            wait = wait_before_retry(
                error,
                hint_of(error.__cause__),
                attempt=number,
                remaining_seconds=until - asyncio.get_running_loop().time(),
                first_seconds=first_seconds,
                jitter=random.random(),  # nosec B311  # noqa: S311 - spreads retries, guards nothing
            )
            if wait is None:
                raise
            logger.info("attempt %d failed, next in %.1f s: %s", number + 1, wait, error)
        await asyncio.sleep(wait)
    raise AssertionError("the last attempt returns or raises")


def detail_of(error: Exception, said: str = "") -> str:
    """Return the vendor's own text, on one line, ending like a sentence. `said` is a better text, if known."""
    words = said or getattr(error, "api_message", None) or getattr(error, "message", None) or str(error)
    if not words:  # transport errors have only a name: "ReadTimeout" reads "read timeout"
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).lower()
    line = shorten(str(words), DETAIL_CHARS)
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def _after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """`retry-after-ms`, else `retry-after` in seconds or as an HTTP date."""
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        if value.replace(".", "", 1).isdigit():
            return float(value) * factor
    try:
        return (parsedate_to_datetime(headers.get("retry-after", "")) - now).total_seconds()
    except (TypeError, ValueError):
        return None
