"""One run of the command line: its options, its configuration, its output, and the operations it calls."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from bot.config import Config, load_config
from bot.runtime.system import to_json_text, write_line
from core.errors import InvalidState

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from bot.service.calls import OnProgress, Operation, Operations, Request, Response
    from bot.service.command_client import RemoteOperations
    from bot.service.local_operations import LocalOperations
    from bot.service.service_lock import ServiceInfo

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
        return self.load()

    def load(self) -> Config:
        """Read the configuration again. Raises ConfigError."""
        return load_config(self.config, data_dir=self.data_dir, workspace=self.workspace)

    @property
    def default_workspace(self) -> str:
        """The workspace without `--workspace`: the terminal's and the web app's."""
        return load_config(self.config, data_dir=self.data_dir).workspace if self.workspace else self.settings.workspace

    def use_workspace(self, name: str) -> None:
        """Use another workspace from here on."""
        self.workspace = name
        vars(self).pop("settings", None)

    @property
    def is_interactive(self) -> bool:
        """Whether a person can be asked: both ends are a terminal, and the output isn't for a program."""
        return not self.as_json and sys.stdin.isatty() and sys.stderr.isatty()

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask before something that can't be undone. InvalidState after a no, and without a terminal."""
        if yes:
            return
        if not self.is_interactive:
            raise InvalidState(f"{question} This can't be undone. Add --yes to do it.")
        if not typer.confirm(f"{question} This can't be undone.", err=True):
            raise InvalidState("Nothing was removed.")

    @cached_property
    def console(self) -> "Console":
        """Standard output, for people."""
        from bot.terminal.console import PlainConsole  # rich slows the start down

        return PlainConsole(highlight=False)

    @cached_property
    def notes(self) -> "Console":
        """Standard error, for progress and hints."""
        from bot.terminal.console import PlainConsole

        return PlainConsole(stderr=True, highlight=False)

    def call(
        self, operation: "Operation[Request, Response]", request: "Request", on_progress: "OnProgress | None" = None
    ) -> "Response":
        """Run one operation."""
        from bot.service.local_operations import ignore

        return self.run(lambda operations: operations.call(operation, request, on_progress or ignore))

    def run(self, work: "Callable[[Operations], Awaitable[T]]") -> T:
        """Do work that calls several operations."""
        operations = self.operations()

        async def main() -> T:
            try:
                await operations.open()
                return await work(operations)
            finally:
                await operations.close()

        return asyncio.run(main())

    def operations(self) -> "LocalOperations | RemoteOperations":
        """Return the operations of the running service, else this process's own; not yet open.

        Raises InvalidState as `find_service` does.
        """
        if service := self.find_service():
            from bot.service.command_client import RemoteOperations  # httpx is only needed with a service

            return RemoteOperations(self.settings.workspace, service)
        from bot.service.local_operations import LocalOperations
        from bot.wiring.parts import build_parts

        return LocalOperations(
            self.settings.workspace, partial(build_parts, self.settings, default_workspace=self.default_workspace)
        )

    def find_service(self) -> "ServiceInfo | None":
        """Return the service that runs on the data directory, or None.

        Raises InvalidState when a service keeps starting or stopping.
        """
        from bot.service.service_lock import find_service

        deadline = time.monotonic() + SERVICE_WAIT_SECONDS
        while service := find_service(self.settings.data_path):
            if service.socket:
                return service
            if time.monotonic() > deadline:
                raise InvalidState(
                    f"Footnote (process {service.pid}) is still starting or stopping in data directory "
                    f"{str(self.settings.data_path)!r}. Try again in a moment, or stop that process."
                )
            time.sleep(SERVICE_PAUSE_SECONDS)
        return None

    def require_no_service(self) -> None:
        """Raise InvalidState while a service runs on the data directory."""
        if self.find_service():
            raise InvalidState(
                f"A Footnote service runs on data directory {str(self.settings.data_path)!r}. Stop it first."
            )

    def print_json(self, value: object) -> None:
        """Print one JSON value, indented."""
        write_line(to_json_text(value, indent=2))

    def show(self, found: T, to_json: Callable[[T], object], view: "Callable[[T], RenderableType]") -> None:
        """Print a result: as JSON, or as `view` for people."""
        if self.as_json:
            self.print_json(to_json(found))
        else:
            self.console.print(view(found), markup=False)


def by_default(run: Callable[[typer.Context], None]) -> Callable[[typer.Context], None]:
    """Return a group's callback that runs a command if no subcommand is given."""

    def callback(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            run(context)

    return callback


def to_path(text: str) -> Path:
    """Return a typed path. BadParameter for an empty one, which is mostly a variable that a script didn't set."""
    if not text:
        raise typer.BadParameter("path can't be empty; use . for the current folder")
    return Path(text)
