"""The decision after a failure, as a table."""

from datetime import timedelta

import pytest

from core.errors import (
    BadInput,
    NotFound,
    PlatformError,
    PlatformUnreachable,
    ProviderAuthError,
    ProviderOverloaded,
    ProviderRateLimited,
    StorageError,
)
from core.work.retries import LONGEST_PAUSE_SECONDS, GiveUp, TryAgain, decide, pause

BUG = "Something went wrong in Footnote (KeyError). Try again. If it keeps happening, tell your Footnote admin."


@pytest.mark.parametrize(
    ("error", "failures", "expected"),
    [
        (ProviderOverloaded("Busy."), 0, TryAgain(1)),
        (ProviderOverloaded("Busy."), 1, TryAgain(4)),
        (ProviderOverloaded("Busy."), 2, TryAgain(16)),
        (ProviderOverloaded("Busy."), 3, GiveUp("Busy.")),
        (StorageError("Locked."), 0, TryAgain(1)),
        (PlatformError("Down."), 1, TryAgain(4)),
        (PlatformError("Slow down.", retry_after_seconds=30), 0, TryAgain(30)),
        (ProviderRateLimited("Slow down.", retry_after_seconds=2), 1, TryAgain(4)),
        (ProviderRateLimited("Slow down.", retry_after_seconds=3600), 0, GiveUp("Slow down.")),
        (ProviderAuthError("No key."), 0, GiveUp("No key.")),
        (NotFound("No such thing."), 0, GiveUp("No such thing.")),
        (BadInput("Empty."), 0, GiveUp("Empty.")),
        (KeyError("x"), 0, TryAgain(1)),
        (KeyError("x"), 3, GiveUp(BUG)),
        (
            TimeoutError(),
            0,
            GiveUp("I stopped because the answer took too long. Ask again, or ask a narrower question."),
        ),
    ],
)
def test_what_follows_a_failure(error, failures, expected):
    assert decide(error, failures=failures, tries=4) == expected


@pytest.mark.parametrize(
    ("hours", "failures", "expected"),
    [
        (0, 3, TryAgain(LONGEST_PAUSE_SECONDS)),
        (23, 400, TryAgain(LONGEST_PAUSE_SECONDS)),
        (25, 1, TryAgain(4)),
        (25, 400, GiveUp("Slack can't be reached.")),
    ],
)
def test_a_message_waits_a_day_for_a_platform_that_is_away(hours, failures, expected):
    error = PlatformUnreachable("Slack can't be reached.")
    assert decide(error, failures=failures, tries=4, age=timedelta(hours=hours)) == expected


def test_pauses_grow_up_to_a_bound():
    assert [pause(n) for n in range(6)] == [
        1,
        4,
        16,
        LONGEST_PAUSE_SECONDS,
        LONGEST_PAUSE_SECONDS,
        LONGEST_PAUSE_SECONDS,
    ]
    assert pause(10**6) == LONGEST_PAUSE_SECONDS


def test_all_pauses_of_four_tries_are_over_in_half_a_minute():
    assert sum(pause(n) for n in range(3)) < 30
