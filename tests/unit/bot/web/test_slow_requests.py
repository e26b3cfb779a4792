"""Connections that bring nothing: each is closed, so that they can't hold the service's places for ever."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from bot.web import app, security
from bot.web.app import build_runner, build_web
from bot.web.parts import WebParts
from tests.unit.bot.web.conftest import Shelves, shelves

__all__ = ["shelves"]  # a fixture

POST = b"POST /s/counted HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: same-origin\r\nContent-Type: text/plain\r\n"


def _add_counting(pages: web.Application, parts: WebParts) -> None:
    """Add a page that reads a body."""

    async def count(request: web.Request) -> web.Response:
        return web.Response(text=f"{len(await request.read())} bytes")

    pages.router.add_post("/s/counted", count)


@asynccontextmanager
async def connected(shelves: Shelves) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A raw connection to the real server."""
    runner = build_runner(build_web(shelves.parts(), [_add_counting]), shutdown_timeout=1)
    await runner.setup()
    server = await asyncio.get_running_loop().create_server(runner.server, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    try:
        yield reader, writer
    finally:
        writer.close()
        server.close()
        await runner.cleanup()


async def test_a_body_that_stops_coming_ends_its_connection(shelves: Shelves, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "STALLED_SECONDS", 0.05)
    async with connected(shelves) as (reader, writer):
        writer.write(POST + b"Content-Length: 100000\r\n\r\n{")

        assert await _ended(reader)


async def test_a_body_that_goes_on_coming_is_read_whole(shelves: Shelves, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "STALLED_SECONDS", 0.3)
    monkeypatch.setattr(security, "LEAST_BYTES", 1)
    async with connected(shelves) as (reader, writer):
        writer.write(POST + b"Content-Length: 20\r\n\r\n")
        for _ in range(20):
            writer.write(b"x")
            await asyncio.sleep(0.04)

        assert b"20 bytes" in await asyncio.wait_for(reader.readuntil(b"bytes"), 20)


async def test_headers_that_come_drop_by_drop_end_their_connection(
    shelves: Shelves, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "KEEPALIVE_SECONDS", 0.2)
    async with connected(shelves) as (reader, writer):
        drops = asyncio.create_task(_drip(writer))

        assert await _ended(reader)
        drops.cancel()


async def _ended(reader: asyncio.StreamReader) -> bool:
    """Say whether the server ended the connection without a reply. A drop that comes after its end resets it."""
    try:
        return await asyncio.wait_for(reader.read(), 20) == b""
    except ConnectionResetError:
        return True


async def _drip(writer: asyncio.StreamWriter) -> None:
    writer.write(b"GET /healthz HTTP/1.1\r\n")
    while True:
        writer.write(b"X: y\r\n")
        await asyncio.sleep(0.02)


async def test_headers_of_a_hundred_kilobytes_are_refused(shelves: Shelves) -> None:
    async with connected(shelves) as (reader, writer):
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"y" * 100_000 + b"\r\n\r\n")

        assert b" 400 " in await asyncio.wait_for(reader.readline(), 20)
