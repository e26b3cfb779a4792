"""The API's routes, health checks and metrics."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path

from aiohttp import web

from bot.cli.database import status
from bot.cli.extracting import extracts
from bot.runtime.metrics import CONTENT_TYPE
from bot.web.api import asking, connections, reading, sessions
from bot.web.api.auth import DOOR, FILLED, METRICS_PATH, ApiDoor, admission
from bot.web.api.problems import problems
from bot.web.parts import WebParts
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


BASE = "/api/v1/workspaces/{workspace}"
SESSION = f"{BASE}/chat/sessions/{{session_id}}"
MESSAGE = f"{BASE}/chat/messages/{{message_id}}"

ROUTES = (
    web.get("/healthz", status.healthz),
    web.get("/readyz", status.readyz),
    web.get(METRICS_PATH, status.metrics),
    web.get("/api/openapi.json", status.openapi),
    web.post(f"{BASE}/chat", asking.post_chat),
    web.get(MESSAGE, asking.get_message),
    web.post(f"{MESSAGE}/stop", asking.stop_message),
    web.get(f"{BASE}/chat/sessions", sessions.list_sessions),
    web.get(SESSION, sessions.get_session),
    web.patch(SESSION, sessions.rename_session),
    web.delete(SESSION, sessions.delete_session),
    web.get(f"{SESSION}/export", sessions.export_session),
    web.get(f"{BASE}/search", reading.search),
    web.get(f"{BASE}/pages/{{page_id}}", reading.get_page),
    web.get(f"{BASE}/documents", reading.list_documents),
    web.get(f"{BASE}/extracts", extracts.list_extracts),
    web.get(f"{BASE}/facts", extracts.find_facts),
    web.get(f"{BASE}/ontology", extracts.get_ontology),
    web.get(f"{BASE}/graph", connections.get_graph),
    web.get(f"{BASE}/documents/{{document_id}}/connections", connections.get_connections),
    web.get(f"{BASE}/jobs", reading.list_jobs),
    web.get(f"{BASE}/jobs/{{job_id}}", reading.get_job),
)


def add_api(app: web.Application, parts: WebParts, door: ApiDoor) -> None:
    """Add the API, health checks and metrics to the application of `build_web`."""
    app[DOOR] = door
    app[FILLED] = {}
    app.middlewares.insert(0, problems)  # outermost: what the web's own guard refuses
    app.middlewares.extend((problems, admission))  # and innermost, before the web makes pages of errors
    app.router.add_routes(ROUTES)
