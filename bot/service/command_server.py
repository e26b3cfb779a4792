"""The commands' API of a running service: operations as JSON over HTTP, on a Unix socket that only its owner can use.

POST /api/commands/{operation} takes {"call", "workspace", "reader", "request"} and answers {"result"} or {"error"}.
If there is progress, the response is a stream of JSON lines: {"progress"}, the last one {"result"} or {"error"}.
DELETE /api/commands/calls/{call} stops a call. A command that just closes its connection has died.
"""

import asyncio
import json
import logging
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web

import bot.service.doctor
import bot.service.erasure
import bot.service.local_operations
import bot.service.operations
import bot.service.quality
import bot.service.samples
import bot.service.tokens  # noqa: F401 - these register the operations
from bot.service.calls import OPERATIONS, PROGRESS, Caller, Operation, OperationContext, Progress, ServiceControls
from bot.service.command_client import CALL_PATH, OTHER_VERSION, STREAM_TYPE
from bot.web.api.problems import to_problem
from core.errors import FootnoteError, InvalidState, StorageError
from core.thread_work import to_its_end

if TYPE_CHECKING:
    from bot.wiring.parts import Parts

OWNER_ONLY_SOCKET = 0o177  # umask while binding: no other user can open the socket, not even for an instant
BACKLOG = 128  # connections that wait to be accepted
MAX_BODY_BYTES = 64 * 1024 * 1024
END_SECONDS = 0.5  # for responses under way when the service stops

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    task: "asyncio.Task[Any]"
    caller: Caller


class CommandServer:
    """Serves operations from `open` to `close`."""

    def __init__(self, parts: "Parts", controls: ServiceControls, path: Path) -> None:
        self.path = path
        self._parts = parts
        self._controls = controls
        self._calls: dict[str, _Call] = {}
        self._listening: socket.socket | None = None
        self._stopping = False
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_post("/api/commands/{operation}", self._post)
        app.router.add_delete(f"{CALL_PATH}/{{call}}", self._stop_call)
        self._runner = web.AppRunner(
            app, access_log=None, handle_signals=False, handler_cancellation=True, shutdown_timeout=END_SECONDS
        )

    async def open(self) -> None:
        """Listen. The owner of the service lock replaces the socket of a dead service."""
        try:
            await to_its_end(self._listen)
        except OSError as error:
            raise StorageError(
                f"Can't make the commands' socket {str(self.path)!r} ({error.strerror or error}). "
                "Check the permissions of its folder."
            ) from error
        await self._runner.setup()
        if self._listening is not None:
            await web.SockSite(self._runner, self._listening, backlog=BACKLOG).start()

    async def close(self) -> None:
        """End all calls with a clear error. Safe to repeat, and after `open` failed."""
        self._stopping = True
        tasks = [call.task for call in self._calls.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._runner.cleanup()
        if self._listening is not None:
            self._listening.close()
            self.path.unlink(missing_ok=True)

    def _listen(self) -> None:
        self._listening = _bind(self.path)

    async def _post(self, request: web.Request) -> web.StreamResponse:
        try:
            operation, body, value = _read(request.match_info["operation"], await request.read())
        except (KeyError, TypeError, ValueError):
            return _response(_error(InvalidState(OTHER_VERSION)))
        progress: asyncio.Queue[Progress | None] = asyncio.Queue()
        caller = Caller()
        context = OperationContext(
            parts=self._parts,
            workspace=body["workspace"],
            reader=body["reader"],
            submitter=self._controls.submitter,
            emit=progress.put_nowait,
            service=self._controls,
            caller=caller,
        )
        task = asyncio.create_task(operation.run(context, value))
        task.add_done_callback(lambda _: progress.put_nowait(None))
        self._calls[body["call"]] = _Call(task=task, caller=caller)
        try:
            stream = await _stream(request, progress)
            outcome = self._outcome(operation, task)
        finally:  # cancelled: the command closed its connection
            del self._calls[body["call"]]
            task.cancel()
            await asyncio.wait({task})
        if stream is None:
            return _response(outcome)
        await stream.write(_line(outcome))
        return stream

    async def _stop_call(self, request: web.Request) -> web.Response:
        call = self._calls.get(request.match_info["call"])
        if call is not None:
            call.caller.wants_stop = True
            call.task.cancel()
        return web.Response(status=HTTPStatus.NO_CONTENT)

    def _outcome(self, operation: Operation[Any, Any], task: "asyncio.Task[Any]") -> dict[str, Any]:
        if task.cancelled():
            reason = "is stopping" if self._stopping else "stopped this call"
            return _error(InvalidState(f"The Footnote service {reason}. Try again later."))
        match task.exception():
            case None:
                return {"result": operation.response.dump(task.result())}
            case FootnoteError() as error:
                return _error(error)
            case error:
                _log.error("The operation %r failed because of a bug", operation.name, exc_info=error)
                return _error(FootnoteError("Something went wrong in the Footnote service. Its log has the details."))


def _read(name: str, data: bytes) -> tuple[Operation[Any, Any], Mapping[str, str], Any]:
    body = json.loads(data)
    operation = OPERATIONS[name]
    envelope = {key: str(body[key]) for key in ("call", "workspace", "reader")}
    return operation, envelope, operation.request.load(body["request"])


async def _stream(request: web.Request, progress: "asyncio.Queue[Progress | None]") -> web.StreamResponse | None:
    """Send progress until its end. None: there was none."""
    response = None
    while (event := await progress.get()) is not None:
        if response is None:
            response = web.StreamResponse(headers={"Content-Type": STREAM_TYPE})
            await response.prepare(request)
        await response.write(_line({"progress": PROGRESS.dump(event)}))
    return response


def _error(error: FootnoteError) -> dict[str, Any]:
    return {"error": {"code": type(error).__name__, "message": str(error), "status": to_problem(error).status}}


def _response(outcome: Mapping[str, Any]) -> web.Response:
    status = outcome["error"]["status"] if "error" in outcome else HTTPStatus.OK
    return web.json_response(outcome, status=status)


def _line(value: Mapping[str, Any]) -> bytes:
    """One line in ASCII, so that lone surrogates of odd file names pass."""
    return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"


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
    return listening
