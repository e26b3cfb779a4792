"""Whether a failed try is repeated, and when. Pure, so that it can be read and tested as a table."""

from dataclasses import dataclass
from datetime import timedelta

from core.errors import (
    FootnoteError,
    PlatformError,
    PlatformUnreachable,
    ProviderError,
    ProviderRateLimited,
    StorageError,
)

FIRST_PAUSE_SECONDS = 1.0
PAUSE_FACTOR = 4.0  # 1, 4, 16 s: the three pauses of four tries are over before people stop waiting
LONGEST_PAUSE_SECONDS = 60.0  # the thread waits behind it; a longer Retry-After is not worth that
# A platform without a connection says nothing about the message: it waits for the platform to come back.
WAITS_FOR_PLATFORM = timedelta(hours=24)
# A process that died is no failure of the message, but the message may be the cause.
MOST_CRASHES = 10


@dataclass(frozen=True, slots=True)
class TryAgain:
    delay_seconds: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    sentence: str  # for the one error post


def decide(error: Exception, *, failures: int, tries: int, age: timedelta = timedelta(0)) -> TryAgain | GiveUp:
    """Decide the next move after a failure, with `failures` before it and `tries` allowed in total.

    Only transient and unexpected errors are retried: an unexpected one may be transient too. `age` is the message's.
    """
    if isinstance(error, TimeoutError):
        return GiveUp("I stopped because the answer took too long. Ask again, or ask a narrower question.")
    if isinstance(error, FootnoteError) and not is_transient(error):
        return GiveUp(str(error))
    asked = retry_after(error)
    if is_waiting(error, age):
        return TryAgain(pause(failures))
    if failures + 1 >= tries or asked > LONGEST_PAUSE_SECONDS:
        return GiveUp(to_sentence(error))
    return TryAgain(max(pause(failures), asked))


def is_waiting(error: Exception, age: timedelta) -> bool:
    """Whether a message of this age waits for its platform, without a limit of tries."""
    return isinstance(error, PlatformUnreachable) and age < WAITS_FOR_PLATFORM


def pause(failures: int) -> float:
    """Seconds before the next try, when `failures` came before the one just made."""
    return min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * PAUSE_FACTOR ** min(failures, 10))


def is_transient(error: Exception) -> bool:
    """Whether the same thing may work a little later."""
    return isinstance(error, StorageError | PlatformError) or (isinstance(error, ProviderError) and error.retryable)


def retry_after(error: Exception) -> float:
    """Return the pause that the other side requested, in seconds; 0 if none."""
    if isinstance(error, ProviderRateLimited | PlatformError):
        return error.retry_after_seconds or 0.0
    return 0.0


def to_sentence(error: Exception) -> str:
    """Return an error for people: our own message, or the kind of a foreign error."""
    if isinstance(error, FootnoteError):
        return str(error)
    kind = type(error).__name__
    return f"Something went wrong in Footnote ({kind}). Try again. If it keeps happening, tell your Footnote admin."


def poison_sentence(attempts: int) -> str:
    return (
        f"I gave up on this message because Footnote stopped unexpectedly {attempts} times while answering it. "
        "Contact your Footnote admin."
    )
