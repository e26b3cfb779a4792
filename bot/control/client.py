"""The commands' end of the control socket: the App of a running service, as seen from another process."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from bot.config import Config
from bot.control.calls import PARTS, PROGRESS, SINK_METHODS, other_version
from bot.control.codec import error_from_wire, from_wire, to_wire
from bot.control.frames import PROTOCOL, STOP, frame_bytes, read_frame
from bot.control.service_lock import Notice
from bot.runtime.local_user import author_name
from core.domain.corpus import Document, SearchScope
from core.domain.ingest_report import IngestReport, ProgressCallback
from core.errors import InvalidState

# How long a caller that stops waits for the service to have stopped too: long enough to store the stopped answer.
STOP_WAIT_SECONDS = 5.0


class RemoteApp:
    """Stands in for App in every command: the same names, run by the service. Paths, output and keys stay here."""

    def __init__(self, config: Config, notice: Notice) -> None:
        self.config = config
        self.workspace = config.workspace
        self._notice = notice
        for part, methods in PARTS.items():
            setattr(self, part, _RemotePart(self._call, part, methods))

    async def open(self) -> "RemoteApp":
        return self

    async def close(self) -> None:
        """Nothing stays open between calls."""

    async def __aenter__(self) -> "RemoteApp":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def scope(self) -> SearchScope:
        found: SearchScope = await self._call("scope", self.workspace, author_name())
        return found

    async def find_document(self, name: str) -> Document:
        found: Document = await self._call("library.find_document", name, await self.scope())
        return found

    async def ingest(
        self, paths: Sequence[Path], *, source: str | None, kind: str, force: bool, progress: ProgressCallback
    ) -> IngestReport:
        """As App.ingest; paths are those of this process."""
        report: IngestReport = await self._call(
            "ingest",
            [path.expanduser().absolute() for path in paths],
            source=source,
            kind=kind,
            force=force,
            progress=progress,
            workspace=self.workspace,
        )
        return report

    async def clear_index(self) -> None:
        """Raises InvalidState: the service has the index open."""
        raise InvalidState("The Footnote service has the search index open: stop it, then repeat the command.")

    async def doctor(self) -> Any:
        """The service's own checks: list of bot.service.doctor.Check."""
        return await self._call("doctor")

    async def _call(self, name: str, *arguments: object, **options: object) -> Any:
        sinks = [value for value in (*arguments, *options.values()) if _is_sink(value)]
        request = {
            "protocol": PROTOCOL,
            "call": name,
            "arguments": [_sent(value) for value in arguments],
            "options": {key: _sent(value) for key, value in options.items()},
        }
        reader, writer = await self._connect()
        try:
            writer.write(frame_bytes(request))
            return await _outcome(reader, sinks)
        except asyncio.CancelledError:
            await _stop(reader, writer)
            raise
        except (ConnectionError, EOFError) as error:
            raise InvalidState(
                "The Footnote service ended before it had answered: start it again, then repeat the command."
            ) from error
        finally:
            writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            return await asyncio.open_unix_connection(self._notice.socket)
        except OSError as error:
            raise InvalidState(
                f"The Footnote service (process {self._notice.pid}) can't be reached through {self._notice.socket!r} "
                f"({error.strerror or error}): try again, or stop that process."
            ) from error


class _RemotePart:
    """One part of the App; its methods become calls."""

    def __init__(self, call: Callable[..., Coroutine[Any, Any, Any]], part: str, methods: Sequence[str]) -> None:
        for method in methods:
            setattr(self, method, _bound(call, f"{part}.{method}"))


def _bound(call: Callable[..., Coroutine[Any, Any, Any]], name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    return lambda *arguments, **options: call(name, *arguments, **options)


def _is_sink(value: object) -> bool:
    return callable(value) or hasattr(value, "step")


def _sent(value: object) -> Any:
    return PROGRESS if _is_sink(value) else to_wire(value)


async def _outcome(reader: asyncio.StreamReader, sinks: Sequence[object]) -> Any:
    """The result of a call, its progress told on the way. Raises the service's error."""
    while True:
        frame = await read_frame(reader)
        match frame:
            case None:
                raise EOFError
            case {"event": method, "arguments": arguments} if method in SINK_METHODS:
                for sink in sinks:
                    getattr(sink, method)(*_read(arguments))
            case {"error": error}:
                raise error_from_wire(error)
            case {"result": result}:
                return _read(result)
            case _:
                raise InvalidState(other_version())


def _read(plain: Any) -> Any:
    try:
        return from_wire(plain)
    except ValueError as error:
        raise InvalidState(other_version()) from error


async def _stop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Tell the service to stop what was asked, and let it end that."""
    try:
        writer.write(STOP)
        writer.write_eof()
        async with asyncio.timeout(STOP_WAIT_SECONDS):
            while await read_frame(reader) is not None:
                pass
    except (OSError, TimeoutError, ValueError):
        return
