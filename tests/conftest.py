"""Rules for all tests: CI refuses skips, so that no contract goes untested there; no example is held to a time; what
tests start hears Ctrl+C, however the run itself was started."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes is the machine's business, and how busy it is; CI has no deadline either.
settings.register_profile("untimed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_configure() -> None:
    # What a shell starts in the background ignores Ctrl+C, and every process that a test starts would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") != "true" or reporter is None:
        return
    skipped = reporter.stats.get("skipped", [])
    if skipped and session.exitstatus == pytest.ExitCode.OK:
        reporter.write_line(f"CI refuses skips: {len(skipped)} tests were skipped", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
