"""The log: one line an event."""

import io
import logging
import sys
from collections.abc import Iterator

import pytest

from bot.runtime.logs import OWN_LOGGERS, log_to_stderr


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    root = logging.getLogger()
    before = root.handlers[:], root.level, {name: logging.getLogger(name).level for name in OWN_LOGGERS}
    for handler in before[0]:
        root.removeHandler(handler)  # those of pytest: `force` would close them
    log_to_stderr()
    yield written
    root.handlers[:], root.level = before[0], before[1]
    for name, level in before[2].items():
        logging.getLogger(name).setLevel(level)


def test_an_event_is_one_line_with_time_level_and_origin(log: io.StringIO) -> None:
    try:
        raise ValueError("first\nsecond")
    except ValueError:
        logging.getLogger("bot.somewhere").exception("It failed for %r\r\n", "a\nb")

    line, rest = log.getvalue().split("\n", 1)
    assert rest == ""
    assert line[4] == line[7] == "-"
    assert " ERROR bot.somewhere: It failed for 'a\\nb'" in line
    assert "ValueError: first\\nsecond" in line


def test_libraries_only_tell_what_went_wrong(log: io.StringIO) -> None:
    logging.getLogger("httpx").info("GET /")
    logging.getLogger("core.service.worker").info("Left")
    logging.getLogger("httpx").warning("slow")

    assert [line.split(" ", 1)[1] for line in log.getvalue().splitlines()] == [
        "INFO core.service.worker: Left",
        "WARNING httpx: slow",
    ]
