"""The machine's clock."""

from datetime import timedelta

from bot.runtime.system import SystemClock


def test_it_tells_aware_time_and_never_goes_back() -> None:
    clock = SystemClock()
    first, started = clock.now(), clock.monotonic()
    assert first.utcoffset() == timedelta(0)
    assert clock.monotonic() >= started
