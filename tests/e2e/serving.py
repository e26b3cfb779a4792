"""Starts the real `footnote serve` in a process of its own, and knows how to end it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tests import forked
from tests.entering import enter

WARM = "Embedding model: "  # what it logs then
WARM_SECONDS = 120
END_SECONDS = 60  # patience with a process that ends
# An end within five seconds is what a person is promised; `make kill-test` holds the service to it. A busy machine is
# late itself, so that other tests see whether anything holds the end up at all.
QUICK_END_SECONDS = 15


class ServiceProcess:
    """A running service on a data directory; any free port. `with` ends it the hard way, if nothing else did."""

    _start = staticmethod(forked.start)

    def __init__(self, data_dir: Path, *arguments: str, **environment: str) -> None:
        self.data_dir = data_dir
        self._command = ["bot", "--data-dir", str(data_dir), *(arguments or ("serve", "--json"))]
        self._environment = {**os.environ, "FOOTNOTE_WEB__PORT": "0", **environment}
        self.log = data_dir.parent / "service.log"

    def __enter__(self) -> "ServiceProcess":
        with self.log.open("ab") as log:
            self.process = self._start(self._command, stdout=subprocess.PIPE, stderr=log, env=self._environment)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait(END_SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def wait_ready(self) -> dict[str, Any]:
        """What it says when it is ready: {"url", "pid", "link"}. The link is opened."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.log.read_text()
        said = dict(json.loads(line))
        if "link" in said:  # of a service, not of a worker
            enter(said["link"])
        return said

    def wait_warm(self) -> None:
        """Until it has loaded its model: that can't be broken off, and a busy machine takes long to do it."""
        deadline = time.monotonic() + WARM_SECONDS
        while WARM not in self.log.read_text():
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, float]:
        """Send a signal; gives the exit code, and the seconds it took."""
        started = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(END_SECONDS)
        return code, time.monotonic() - started


class ColdServiceProcess(ServiceProcess):
    """One that starts from nothing, as a person starts it."""

    @staticmethod
    def _start(command: Sequence[str], **options: Any) -> "subprocess.Popen[str]":
        return subprocess.Popen([sys.executable, "-m", *command], text=True, **options)
