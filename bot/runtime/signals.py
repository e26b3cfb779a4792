"""SIGTERM and SIGINT of a long-running process."""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable
from typing import NoReturn

# Deadline from the signal to the end of the process: users expect five seconds, and a busy machine delivers the signal
# late. Longer than the grace of running posts (core/service/worker.py).
SHUTDOWN_SECONDS = 3.5
SIGNALS = (signal.SIGINT, signal.SIGTERM)

_log = logging.getLogger(__name__)


class Signals:
    """Handlers: the first signal calls `stop` and sets a deadline, the second ends the process at once."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._deadline: threading.Timer | None = None

    def __enter__(self) -> None:
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._received, number)

    def __exit__(self, *_: object) -> None:
        """Keep the deadline after a signal, because hanging threads would keep the process alive."""
        for number in SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)
            if self._deadline is not None:
                signal.signal(number, _end_now)

    def _received(self, number: int) -> None:
        if self._deadline is not None:
            _end_now(number)
        _log.info("Received %s", signal.Signals(number).name)
        self._deadline = threading.Timer(SHUTDOWN_SECONDS, _give_up)
        self._deadline.daemon = True
        self._deadline.start()
        self._stop()


def _give_up() -> NoReturn:
    _log.warning("Some work didn't stop in time. It is cut off, and repeated at the next start")
    os._exit(0)


def _end_now(number: int, _frame: object = None) -> NoReturn:
    os._exit(128 + number)
