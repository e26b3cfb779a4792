"""A program on a pseudo-terminal, as a person sees it."""

import os
import pty
import signal
import sys
import threading
import time
from collections.abc import Mapping

from bot.cli.chat import PROMPT

TIMEOUT_SECONDS = 120  # a process that starts or stops beside many others


class Terminal:
    """A real process on a pseudo-terminal."""

    def __init__(self, *arguments: str, environment: Mapping[str, str], module: tuple[str, ...] = ("bot",)) -> None:
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.execvpe(sys.executable, [sys.executable, "-m", *module, *arguments], {**os.environ, **environment})
        self.shown = ""
        self._read_to = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._fd, 4096)
            except OSError:  # the other side is gone
                return
            if not data:
                return
            self.shown += data.decode("utf-8", "replace")

    def wait_for(self, text: str, count: int = 1) -> None:
        until = time.monotonic() + TIMEOUT_SECONDS
        while self.shown.count(text) < count:
            assert time.monotonic() < until, f"{text!r} never came: {self.shown!r}"
            time.sleep(0.02)

    def wait_for_next(self, text: str) -> None:
        """Wait for a text after the one that was waited for before."""
        until = time.monotonic() + TIMEOUT_SECONDS
        while (place := self.shown.find(text, self._read_to)) < 0:
            assert time.monotonic() < until, f"{text!r} never came after {self.shown[self._read_to :]!r}"
            time.sleep(0.02)
        self._read_to = place + len(text)

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def leave(self) -> None:
        """Type Ctrl+D at the prompt. A terminal drops it while readline is not reading."""
        until = time.monotonic() + TIMEOUT_SECONDS
        while not self.shown.endswith(PROMPT):
            assert time.monotonic() < until, f"the prompt never came: {self.shown!r}"
            time.sleep(0.02)
        self.type("\x04")

    def end(self) -> int:
        until = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < until:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._reader.join(5)
                os.close(self._fd)
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.05)
        os.kill(self.pid, signal.SIGKILL)
        raise AssertionError("it did not end")
