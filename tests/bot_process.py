"""A bot as its own process, which a test can stop and kill."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests import forked

STOP_SECONDS = 60.0  # patience with a bot that shuts down


class BotProcess:
    """`python -m LAUNCHER MODULE ARGS...`; what it prints goes to `log`, one file for all runs."""

    def __init__(self, launcher: str, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        """`launcher` leads the platform's client to a server of the tests: `tests.discord_launch`, for example."""
        self._command = [launcher, *command]
        self._environment = {**os.environ, "PYTHONUNBUFFERED": "1", **environment}
        self.log = log
        self._process: forked.Forked | None = None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative: ended by that signal."""
        return None if self._process is None else self._process.poll()

    @property
    def cpu_seconds(self) -> float:
        """What it has used so far, without its children. Linux only."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def printed(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""

    def start(self) -> None:
        assert not self.running, "the bot is running already"
        with self.log.open("ab") as output:
            self._process = forked.start(self._command, env=self._environment, stdout=output, stderr=subprocess.STDOUT)

    async def kill(self) -> None:
        """kill -9: nothing is tidied up."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """SIGTERM, then patience; a bot that does not end is killed and reported."""
        await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> None:
        process = self._process
        if process is None:
            return
        process.send_signal(how)
        try:
            await asyncio.to_thread(process.wait, STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            await asyncio.to_thread(process.wait)
            raise AssertionError(
                f"The bot did not end within {STOP_SECONDS:g} s of {how.name}:\n{self.printed}"
            ) from None
