"""The API's addresses, all in one table; openapi.json describes the same ones (a test compares them)."""

from aiohttp import web

from bot.web.api import asking, connections, extracts, reading, sessions, status
from bot.web.api.auth import DOOR, METRICS_PATH, ApiDoor, admission
from bot.web.api.problems import problems
from bot.web.api.workspaces import FILLED
from bot.web.parts import WebParts

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
