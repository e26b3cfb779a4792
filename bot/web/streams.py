"""Server-sent events over HTTP: one response that goes on until the browser leaves or the service stops."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from aiohttp import web

from bot.web.events import Event

# Proxies and browsers give up on a silent stream after half a minute; a dead browser shows when it is written to.
HEARTBEAT_SECONDS = 15.0
RECONNECT_MILLISECONDS = 1_000


async def stream(request: web.Request, events: AsyncGenerator[Event]) -> web.StreamResponse:
    """Send events as they come. A browser that goes ends it; what it still needs it asks for by its last id."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"})
    await response.prepare(request)
    with suppress(ConnectionResetError):
        await response.write(f"retry: {RECONNECT_MILLISECONDS}\n\n".encode())
        async with aclosing(with_heartbeat(events, HEARTBEAT_SECONDS)) as blocks:
            async for block in blocks:
                await response.write(block)
    return response


async def with_heartbeat(events: AsyncGenerator[Event], seconds: float) -> AsyncGenerator[bytes]:
    """The events as blocks of a stream, with a comment whenever there was none for so long."""
    waiting: asyncio.Future[Event] | None = None
    try:
        while True:
            waiting = waiting or asyncio.ensure_future(anext(events))
            await asyncio.wait({waiting}, timeout=seconds)
            if not waiting.done():
                yield b": still here\n\n"
                continue
            try:
                event = waiting.result()
            except StopAsyncIteration:
                return
            waiting = None
            yield event.encode()
    finally:
        if waiting is not None:
            waiting.cancel()
            await asyncio.wait({waiting})
        await events.aclose()
