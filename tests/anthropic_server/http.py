"""As much HTTP/1.1 as a client library needs, on asyncio streams: so that a test can break it at any byte."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection; None at its end."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, target.partition("?")[0], headers, body)


async def send_json(
    writer: asyncio.StreamWriter, status: int, body: Any, headers: Mapping[str, str] | None = None
) -> None:
    payload = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind = "text/html" if isinstance(body, str) else "application/json"
    writer.write(
        _head(status, {"content-type": kind, "content-length": str(len(payload)), **(headers or {})}) + payload
    )
    await writer.drain()


class HttpServer(ABC):
    """`async with server`: listens on loopback at `url`; every request that came is kept in `seen`."""

    base = ""  # of the paths, behind the address in `url`

    def __init__(self) -> None:
        self.url = ""
        self.seen: list[Request] = []
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{self.base}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    @abstractmethod
    async def _route(self, request: Request, writer: asyncio.StreamWriter) -> None:
        """Answers one request, or breaks off."""

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await read_request(reader)) and not writer.is_closing():
                self.seen.append(request)
                await self._route(request, writer)
        except ConnectionError:
            pass  # the client went away, as some tests want
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


class EventStream:
    """A body of server-sent events, chunked."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def start(self) -> None:
        headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked", "request-id": "req_1"}
        self._writer.write(_head(200, headers))
        await self._writer.drain()

    async def send(self, event: dict[str, Any]) -> None:
        await self.send_raw(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n")

    async def send_raw(self, text: str) -> None:
        payload = text.encode()
        self._writer.write(f"{len(payload):x}\r\n".encode() + payload + b"\r\n")
        await self._writer.drain()

    async def end(self) -> None:
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    reasons = {one.value: one.phrase for one in HTTPStatus}
    lines = [f"HTTP/1.1 {status} {reasons.get(status, 'Unknown')}", *(f"{k}: {v}" for k, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
