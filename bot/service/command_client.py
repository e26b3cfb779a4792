"""The commands' end of the service's Unix socket: operations run by the service."""

import asyncio
import json
import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import httpx

from bot.runtime.system import author_name
from bot.service.calls import PROGRESS, OnProgress, Operation, Request, Response
from bot.service.local_operations import ignore
from bot.service.service_lock import ServiceInfo
from core import errors
from core.errors import FootnoteError, InvalidState

CALL_PATH = "/api/commands/calls"
STREAM_TYPE = "application/x-ndjson"
OTHER_VERSION = "The running Footnote service has another version than this command. Restart the service."
# How long a command that stops waits for the service to store the stopped answer.
STOP_WAIT_SECONDS = 5.0


class RemoteOperations:
    """Implements bot.service.calls.Operations."""

    def __init__(self, workspace: str, service: ServiceInfo) -> None:
        self.workspace = workspace
        self._service = service
        self._client = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(uds=service.socket),
            base_url="http://footnote",
            timeout=None,  # nosec B113  # noqa: S113 - an answer takes as long as it takes; Ctrl+C stops it
            trust_env=False,
        )

    async def open(self) -> None:
        """Each call connects by itself."""

    async def close(self) -> None:
        await self._client.aclose()

    async def call(
        self, operation: Operation[Request, Response], request: Request, on_progress: OnProgress = ignore
    ) -> Response:
        call = uuid.uuid4().hex
        body = {
            "call": call,
            "workspace": self.workspace,
            "reader": author_name(),
            "request": operation.request.dump(request),
        }
        sending = asyncio.create_task(self._send(operation.name, body, on_progress))
        try:
            result = await asyncio.shield(sending)
        except asyncio.CancelledError:
            await self._stop(call, sending)
            raise
        try:
            return operation.response.load(result)
        except ValueError as error:
            raise InvalidState(OTHER_VERSION) from error

    async def _send(self, name: str, body: Mapping[str, Any], on_progress: OnProgress) -> Any:
        data = json.dumps(body).encode("ascii")  # lone surrogates of odd file names pass as escapes
        try:
            async with self._client.stream("POST", f"/api/commands/{name}", content=data) as response:
                if response.headers.get("Content-Type") != STREAM_TYPE:
                    return _result(_parsed(await response.aread()))
                async for line in response.aiter_lines():
                    match _parsed(line):
                        case {"progress": progress}:
                            on_progress(_loaded(progress))
                        case outcome:
                            return _result(outcome)
        except httpx.ConnectError as error:
            raise InvalidState(
                f"Can't reach the Footnote service (process {self._service.pid}) at {self._service.socket!r} "
                f"({error}). Try again, or stop that process."
            ) from error
        except httpx.TransportError as error:
            raise _ended() from error
        raise _ended()

    async def _stop(self, call: str, sending: "asyncio.Task[Any]") -> None:
        """Stop the call, and let the service finish it."""
        with suppress(httpx.TransportError, TimeoutError):
            async with asyncio.timeout(STOP_WAIT_SECONDS):
                await self._client.delete(f"{CALL_PATH}/{call}")
                await asyncio.wait({sending})
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


def _parsed(text: str | bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InvalidState(OTHER_VERSION) from error
    return found if isinstance(found, dict) else {}


def _loaded(progress: Any) -> Any:
    try:
        return PROGRESS.load(progress)
    except ValueError as error:
        raise InvalidState(OTHER_VERSION) from error


def _result(outcome: Mapping[str, Any]) -> Any:
    """Return the result of a call, or raise its error."""
    match outcome:
        case {"result": result}:
            return result
        case {"error": {"code": str(code), "message": str(message)}}:
            found = getattr(errors, code, FootnoteError)
            kind = found if isinstance(found, type) and issubclass(found, FootnoteError) else FootnoteError
            raise kind.__new__(kind, message)  # without the other arguments that its class may take
    raise InvalidState(OTHER_VERSION)


def _ended() -> InvalidState:
    return InvalidState("The Footnote service ended before it answered. Start it again, then repeat the command.")
