import pytest

from core.answering.run import Budget, Meter
from core.domain.replies import Usage
from tests.fakes import ManualClock


@pytest.mark.parametrize("bad", [{"steps": 0}, {"tokens": 0}, {"seconds": 0}])
def test_a_budget_of_nothing_is_refused(bad):
    with pytest.raises(ValueError, match="budget"):
        Budget(**bad)


def test_steps_run_out_after_as_many_turns():
    meter = Meter(Budget(steps=2), ManualClock())
    meter.count(Usage())
    assert meter.reached() is None
    meter.count(Usage())
    assert meter.reached() == "2 steps"


def test_one_step_is_said_in_the_singular():
    meter = Meter(Budget(steps=1), ManualClock())
    meter.count(Usage())
    assert meter.reached() == "1 step"


def test_input_and_output_tokens_count_together():
    meter = Meter(Budget(tokens=100), ManualClock())
    meter.count(Usage(input_tokens=60, output_tokens=39))
    assert meter.reached() is None
    meter.count(Usage(output_tokens=1))
    assert meter.reached() == "100 tokens"
    assert meter.usage == Usage(input_tokens=60, output_tokens=40)


def test_time_runs_from_the_meters_making():
    clock = ManualClock()
    clock.advance(50)
    meter = Meter(Budget(seconds=10), clock)
    clock.advance(9)
    assert (meter.seconds_left, meter.reached()) == (1, None)
    clock.advance(5)
    assert (meter.seconds_left, meter.reached()) == (0, "10 seconds")


def test_what_was_cut_off_for_time_has_used_it_up_whatever_the_clock_says():
    meter = Meter(Budget(seconds=10), ManualClock())
    meter.expire()
    assert meter.reached() == "10 seconds"
