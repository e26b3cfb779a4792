"""The rate gate, over a clock that passes when told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.work.rate_limit import Rate, RateLimiter
from tests.fakes import ManualClock


def gate(per_second: float = 2, burst: int = 3, **fields: int) -> tuple[RateLimiter, ManualClock]:
    clock = ManualClock()
    return RateLimiter(Rate(per_second=per_second, burst=burst), clock, **fields), clock


def test_a_burst_passes_and_the_next_one_is_told_when_to_come_again() -> None:
    limits, _ = gate()

    assert [limits.admit("ada") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]  # half a second for a token at 2 a second


def test_after_the_wait_it_was_told_a_client_passes_once() -> None:
    limits, clock = gate()
    waits = [limits.admit("ada") for _ in range(4)]
    clock.advance(waits[-1])

    assert [limits.admit("ada"), limits.admit("ada")] == [0.0, 0.5]


def test_being_refused_costs_nothing() -> None:
    limits, clock = gate(burst=1)
    limits.admit("ada")
    refused = {limits.admit("ada") for _ in range(100)}
    clock.advance(0.5)

    assert refused == {0.5}
    assert limits.admit("ada") == 0.0


def test_clients_do_not_share_a_bucket() -> None:
    limits, _ = gate(burst=1)

    assert [limits.admit(name) for name in ("ada", "bob", "ada")] == [0.0, 0.0, 0.5]


def test_a_long_silence_fills_a_bucket_to_its_burst_and_no_further() -> None:
    limits, clock = gate()
    clock.advance(3600)
    limits.admit("ada")
    clock.advance(3600)

    assert sum(limits.admit("ada") == 0.0 for _ in range(10)) == 3


def test_memory_is_bounded_whatever_names_come() -> None:
    limits, _ = gate(burst=1, max_clients=5)
    for number in range(100):
        limits.admit(f"client {number}")

    assert limits.clients == 5
    assert limits.admit("client 99") > 0  # the newest are the ones remembered


@given(st.lists(st.floats(0, 3, allow_nan=False), max_size=60))
def test_over_any_time_no_more_pass_than_burst_and_rate_allow(pauses: list[float]) -> None:
    limits, clock = gate()
    passed = 0
    for pause in pauses:
        clock.advance(pause)
        passed += limits.admit("ada") == 0.0

    assert passed <= 3 + 2 * clock.monotonic() + 1e-6


@pytest.mark.parametrize("fields", [{"per_second": 0, "burst": 1}, {"per_second": 1, "burst": 0}])
def test_a_rate_that_lets_nothing_through_is_refused(fields: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="lets something through"):
        Rate(**fields)
