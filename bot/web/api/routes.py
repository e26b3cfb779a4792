"""The API's routes, health checks and metrics."""

import asyncio
from collections.abc import Awaitable
from datetime import UTC, datetime
from pathlib import Path

from aiohttp import web

from bot.runtime.metrics import CONTENT_TYPE
from bot.web.api import chat, library
from bot.web.api.auth import API, FILLED, METRICS_PATH, ApiContext, auth_middleware
from bot.web.api.problems import problems
from bot.web.parts import WebParts
from core.errors import FootnoteError

OPENAPI_FILE = Path(__file__).parent / "openapi.json"
CHECK_SECONDS = 5.0  # a slower check counts as failed: load balancers don't wait either


async def healthz(request: web.Request) -> web.Response:
    """Report that the process and its event loop run."""
    return web.json_response({"status": "ok"})


async def readyz(request: web.Request) -> web.Response:
    """Report 503 while the database or the index fails, without naming either's address.

    A platform that isn't connected is only reported: the others, the pages and the API go on without it.
    """
    api = request.app[API]
    checks = {"database": await _check(api.store.depth()), "index": await _check(api.index.count())}
    ready = all(found == "ok" for found in checks.values())
    checks |= {name: "not connected" if trouble else "ok" for name, trouble in api.platforms().items()}
    status = "ready" if ready else "not ready"
    return web.json_response({"status": status, "checks": checks}, status=200 if ready else 503)


async def metrics(request: web.Request) -> web.Response:
    """Return metrics in Prometheus' text format."""
    api = request.app[API]
    report = await api.spending.report(None, datetime.now(UTC).date())
    body = api.metrics.render(await api.store.depth(), report.lines)
    return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE})


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
    web.get("/healthz", healthz),
    web.get("/readyz", readyz),
    web.get(METRICS_PATH, metrics),
    web.get("/api/openapi.json", openapi),
    web.post(f"{BASE}/chat", chat.post_chat),
    web.get(MESSAGE, chat.get_message),
    web.post(f"{MESSAGE}/stop", chat.stop_message),
    web.get(f"{BASE}/chat/sessions", chat.list_sessions),
    web.get(SESSION, chat.get_session),
    web.patch(SESSION, chat.rename_session),
    web.delete(SESSION, chat.delete_session),
    web.get(f"{SESSION}/export", chat.export_session),
    web.get(f"{BASE}/search", library.search),
    web.get(f"{BASE}/pages/{{page_id}}", library.get_page),
    web.get(f"{BASE}/documents", library.list_documents),
    web.get(f"{BASE}/extracts", library.list_extracts),
    web.get(f"{BASE}/facts", library.find_facts),
    web.get(f"{BASE}/ontology", library.get_ontology),
    web.get(f"{BASE}/graph", library.get_graph),
    web.get(f"{BASE}/documents/{{document_id}}/connections", library.get_connections),
    web.get(f"{BASE}/jobs", library.list_jobs),
    web.get(f"{BASE}/jobs/{{job_id}}", library.get_job),
)


def add_api(app: web.Application, parts: WebParts, api: ApiContext) -> None:
    """Add the API, health checks and metrics to the application of `build_web`."""
    app[API] = api
    app[FILLED] = {}
    app.middlewares.insert(0, problems)  # outermost, for errors of the web's guard
    app.middlewares.extend((problems, auth_middleware))  # innermost, before errors become pages
    app.router.add_routes(ROUTES)
