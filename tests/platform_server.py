"""What the test servers of all platforms are: an aiohttp application on loopback, with bots that talk to it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from aiohttp import web

from tests.bot_process import BotProcess
from tests.platform_faults import Faults
from tests.waiting import Waiting

TIMEOUT_SECONDS = 60.0  # a busy machine
LARGEST_REQUEST = 64 * 1024 * 1024  # bytes
LATEST = 12  # requests that a failure shows
LATEST_PRINTED = 40  # and lines of each bot


class PlatformServer(ABC):
    """`async with` runs it; leaving it kills its bots, and fails on calls that it does not model.

    `launcher` leads a program's client of the platform here: `python -m LAUNCHER MODULE ARGS...`
    """

    launcher: ClassVar[str]
    faults: Faults[Any, Any]

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._bots: list[BotProcess] = []
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        self._runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self._listens_at(f"{host}:{port}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        self.faults.release_all()
        for bot in self._bots:
            if bot.running:
                await bot.kill()
        await self._close()
        await self._runner.cleanup()
        if error is None:
            assert self._unknown_calls() == [], "the bot made calls that this server does not model"

    def bot(self, *command: str, log: Path, environment: Mapping[str, str] | None = None) -> BotProcess:
        """A bot not yet started: `server.bot("bot", "serve", log=tmp_path / "bot.log")`."""
        process = BotProcess(self.launcher, command, {**self.environment, **(environment or {})}, log)
        self._bots.append(process)
        return process

    async def wait_for(
        self, condition: Callable[[], object], timeout_seconds: float = TIMEOUT_SECONDS, *, what: str = ""
    ) -> None:
        """Returns when the condition is true; fails with the latest calls when it does not become so."""
        if not await self._waiting.until(condition, timeout_seconds):
            raise AssertionError(f"Not within {timeout_seconds:g} s: {what or 'the condition'}. {self._situation()}")

    def _situation(self) -> str:
        parts = [f"Latest {name}:\n{_listed(lines[-LATEST:])}" for name, lines in self._lately().items()]
        printed = [line for bot in self._bots for line in bot.printed.splitlines()[-LATEST_PRINTED:]]
        return "\n".join([*parts, "The bots printed:", *printed])

    # ------------------------------------------------------------------ what each platform says

    @property
    @abstractmethod
    def environment(self) -> Mapping[str, str]:
        """What a process started by the launcher needs to talk to this server."""

    @abstractmethod
    def _application(self) -> web.Application: ...

    @abstractmethod
    def _listens_at(self, place: str) -> None:
        """Told once: "127.0.0.1:1234"."""

    @abstractmethod
    async def _close(self) -> None:
        """Before the application ends."""

    @abstractmethod
    def _unknown_calls(self) -> Sequence[str]:
        """What bots called that is not modelled."""

    @abstractmethod
    def _lately(self) -> Mapping[str, Sequence[str]]:
        """What a failure shows, by a name in the plural: lines, the latest last."""


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)
