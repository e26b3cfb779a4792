"""/healthz, /readyz, /metrics, and the API's description."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path

from aiohttp import web

from bot.runtime.metrics import CONTENT_TYPE
from bot.web.api.auth import DOOR
from core.errors import FootnoteError

OPENAPI_FILE = Path(__file__).parent / "openapi.json"
CHECK_SECONDS = 5.0  # a check that takes longer is a no: balancers do not wait either


async def healthz(request: web.Request) -> web.Response:
    """The process lives and its event loop turns."""
    return web.json_response({"status": "ok"})


async def readyz(request: web.Request) -> web.Response:
    """503 while the database or the index does not answer. What is wrong is in words that tell no place."""
    door = request.app[DOOR]
    checks = {"database": await _check(door.store.depth()), "index": await _check(door.index.count())}
    ready = all(found == "ok" for found in checks.values())
    status = "ready" if ready else "not ready"
    return web.json_response({"status": status, "checks": checks}, status=200 if ready else 503)


async def metrics(request: web.Request) -> web.Response:
    """Prometheus' text format."""
    door = request.app[DOOR]
    return web.Response(body=door.metrics.render(await door.store.depth()), headers={"Content-Type": CONTENT_TYPE})


async def openapi(request: web.Request) -> web.Response:
    text = await asyncio.to_thread(OPENAPI_FILE.read_text, encoding="utf-8")
    return web.Response(text=text, content_type="application/json")


async def _check(asked: Awaitable[object]) -> str:
    try:
        await asyncio.wait_for(asked, CHECK_SECONDS)
    except TimeoutError:
        return "no answer in time"
    except FootnoteError as error:
        return f"failed: {type(error).__name__}"
    return "ok"
