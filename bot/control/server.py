"""The service's end of the control socket: one connection a call, cancelled when the caller goes away."""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bot.control.calls import PROGRESS, Calls, SentProgress, other_version
from bot.control.codec import error_to_wire, from_wire, to_wire
from bot.control.frames import PROTOCOL, STOP, frame_bytes, read_frame
from bot.control.submission import Caller
from core.errors import FootnoteError, InvalidState, StorageError
from core.thread_work import to_its_end

OWNER_ONLY_SOCKET = 0o177  # umask while binding: the socket is never anybody else's, not for an instant
BACKLOG = 128  # commands that may knock at once

_log = logging.getLogger(__name__)


class ControlServer:
    def __init__(self, calls: Calls, path: Path) -> None:
        self.path = path
        self._calls = calls
        self._listening: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._stopping = False

    async def open(self) -> None:
        """Listen, for this user alone. Whoever opens holds the service lock: a socket that is there is a dead one's."""
        try:
            await to_its_end(self._listen)
        except OSError as error:
            raise StorageError(
                f"The control socket {str(self.path)!r} can't be made ({error.strerror or error}):"
                " check the permissions of its folder."
            ) from error
        self._server = await asyncio.start_unix_server(self._accept, sock=self._listening)

    async def close(self) -> None:
        """End all calls with a clear error; safe to repeat, and where it never opened."""
        self._stopping = True
        if self._server is not None:
            self._server.close()
        if self._listening is not None:
            self._listening.close()
            self.path.unlink(missing_ok=True)
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _listen(self) -> None:
        self._listening = _bind(self.path)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await read_frame(reader)
            if request is not None:
                last = await self._answer(request, reader, writer)
                writer.write(frame_bytes(last))
                await writer.drain()
        except (ConnectionError, ValueError) as error:
            _log.warning("A call on the control socket broke off: %s", error)
        finally:
            writer.close()

    async def _answer(
        self, request: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> dict[str, Any]:
        """The last frame of a call: its result or its error."""
        caller = Caller()
        call = asyncio.create_task(self._run(request, writer, caller))
        gone = asyncio.create_task(reader.read(1))  # callers send nothing more: this ends when they stop or go
        try:
            await asyncio.wait({call, gone}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if not self._stopping:
                raise
        caller.wants_stop = gone.done() and gone.exception() is None and gone.result() == STOP
        call.cancel()
        gone.cancel()
        result, _ = await asyncio.gather(call, gone, return_exceptions=True)
        return self._last_frame(result)

    def _last_frame(self, result: object) -> dict[str, Any]:
        match result:
            case asyncio.CancelledError():
                why = "is stopping" if self._stopping else "was told to stop this call"
                return {"error": error_to_wire(InvalidState(f"The Footnote service {why}: try again later."))}
            case FootnoteError():
                return {"error": error_to_wire(result)}
            case BaseException():
                _log.error("A call failed with an error that should not happen", exc_info=result)
                sentence = "The Footnote service hit an error that should not happen: its log says more."
                return {"error": error_to_wire(FootnoteError(sentence))}
        return {"result": result}

    async def _run(self, request: dict[str, Any], writer: asyncio.StreamWriter, caller: Caller) -> object:
        if request.get("protocol") != PROTOCOL:
            raise InvalidState(other_version())

        def tell(method: str, arguments: Sequence[object]) -> None:
            with contextlib.suppress(ConnectionError):
                writer.write(frame_bytes({"event": method, "arguments": to_wire(list(arguments))}))

        def received(value: Any) -> Any:
            return SentProgress(tell) if value == PROGRESS else from_wire(value)

        try:
            arguments = [received(item) for item in request["arguments"]]
            options = {key: received(item) for key, item in request["options"].items()}
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidState(other_version()) from error
        return to_wire(await self._calls.run(str(request.get("call")), arguments, options, caller))


def _bind(path: Path) -> socket.socket:
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(OWNER_ONLY_SOCKET)
    try:
        listening.bind(str(path))
    except OSError:
        listening.close()
        raise
    finally:
        os.umask(before)
    listening.listen(BACKLOG)
    return listening
