"""The kill test in short; `make kill-test` is the long one."""

import signal

import pytest

from tests.kill.parts.harness import SHUTDOWN_SECONDS, Harness, Plan


@pytest.mark.slow
async def test_nothing_is_lost_repeated_or_confused_by_kills_at_any_moment(tmp_path):
    report = await Harness(Plan(questions=60, threads=6, kills=6, seed=3), tmp_path).run()
    assert str(report) == (
        "60 questions, 6 threads, 18 repeated events, 6 times SIGKILL: 0 lost, 0 duplicate posts, "
        "0 out of order, 0 faults in the history"
    )


@pytest.mark.slow
async def test_nothing_is_lost_repeated_or_confused_by_shutdowns_and_each_is_quick(tmp_path):
    report = await Harness(Plan(questions=30, threads=4, kills=3, seed=4, ending=signal.SIGTERM), tmp_path).run()
    assert report.is_clean, str(report)
    assert report.longest_shutdown < 3 * SHUTDOWN_SECONDS  # a busy machine is late itself
