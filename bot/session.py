"""One command-line run: its options, its configuration, and where its output goes."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bot.config import Config, load_config

if TYPE_CHECKING:
    from rich.console import Console

    from bot.wiring import App

T = TypeVar("T")


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

    def run(self, work: "Callable[[App], Awaitable[T]]") -> T:
        """Open the app, do the work in its event loop, close it."""
        from bot.wiring import App

        async def main() -> T:
            async with App(self.settings) as app:
                return await work(app)

        return asyncio.run(main())

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
