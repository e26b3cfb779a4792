"""One command-line run: its options, its configuration, and where its output goes."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from bot.config import Config, load_config
from core.errors import InvalidState

if TYPE_CHECKING:
    from rich.console import Console

    from bot.control.client import RemoteApp
    from bot.wiring.parts import Parts

T = TypeVar("T")

# How long a command waits for a service that starts or stops: opening the database and a large index take some seconds.
SERVICE_WAIT_SECONDS = 15.0
SERVICE_PAUSE_SECONDS = 0.1


@dataclass(kw_only=True)
class Session:
    """Options of one run. The configuration is read when first needed, so that `--help` never fails for it."""

    config: Path | None = None
    data_dir: Path | None = None
    workspace: str | None = None
    as_json: bool = False

    @cached_property
    def settings(self) -> Config:
        return load_config(self.config, data_dir=self.data_dir, workspace=self.workspace)

    @cached_property
    def console(self) -> "Console":
        """For people, on standard output."""
        from bot.terminal.console import PlainConsole

        return PlainConsole(highlight=False)

    @cached_property
    def notes(self) -> "Console":
        """Progress and hints, on standard error."""
        from bot.terminal.console import PlainConsole

        return PlainConsole(stderr=True, highlight=False)

    def run(self, work: "Callable[[Parts], Awaitable[T]]") -> T:
        """Open the parts, do the work in an event loop, and close them."""
        opening = self.open()

        async def main() -> T:
            async with opening as parts:
                return await work(parts)

        return asyncio.run(main())

    def open(self) -> "AbstractAsyncContextManager[Parts]":
        """Return the parts to enter: those of a running service, else this process's own. Raises as `remote`."""
        if remote := self.remote():
            return cast("AbstractAsyncContextManager[Parts]", remote)
        from bot.wiring.parts import open_parts

        return open_parts(self.settings)

    def remote(self) -> "RemoteApp | None":
        """The app of the service that runs on the data directory, if one does.

        Raises InvalidState when a service neither gets ready nor ends.
        """
        from bot.control.service_lock import find_service

        deadline = time.monotonic() + SERVICE_WAIT_SECONDS
        while notice := find_service(self.settings.data_path):
            if notice.socket:
                from bot.control.client import RemoteApp

                return RemoteApp(self.settings, notice)
            if time.monotonic() > deadline:
                raise InvalidState(
                    f"A Footnote service (process {notice.pid}) is starting or stopping on the data directory "
                    f"{str(self.settings.data_path)!r} and does not get done: try again, or stop that process."
                )
            time.sleep(SERVICE_PAUSE_SECONDS)
        return None

    def require_no_service(self) -> None:
        """Raises InvalidState while a service runs on the data directory, for what it must not be in the way of."""
        if self.remote():
            raise InvalidState(
                f"A Footnote service runs on the data directory {str(self.settings.data_path)!r}: stop it first."
            )

    def print_json(self, value: object) -> None:
        """One JSON value, indented, on standard output."""
        write_line(to_json_text(value, indent=2))


def write_line(text: str) -> None:
    """A line on standard output, at once. Lone surrogates (odd file names) are written as escapes."""
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
    sys.stdout.flush()


def to_json_text(value: object, *, indent: int | None = None) -> str:
    """JSON as standard output can carry it: in ASCII where that is not UTF-8."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=not is_unicode, indent=indent)
