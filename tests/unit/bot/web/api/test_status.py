"""/healthz, /readyz and /metrics."""

import asyncio

import pytest
from aiohttp.test_utils import TestClient

from bot.web.api import routes
from core.errors import StorageError
from tests.unit.bot.web.api.conftest import QUESTION, WORKSPACE, Office, OpenClient


async def test_a_living_process_says_so(client: TestClient) -> None:
    response = await client.get("/healthz")

    assert (response.status, await response.json()) == (200, {"status": "ok"})


async def test_a_service_is_ready_when_database_and_index_answer(client: TestClient) -> None:
    response = await client.get("/readyz")

    assert response.status == 200
    assert await response.json() == {"status": "ready", "checks": {"database": "ok", "index": "ok"}}


async def test_a_database_that_fails_makes_it_not_ready_without_telling_where_it_is(
    office: Office, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full() -> dict:
        raise StorageError("The disk of /srv/footnote is full.")

    monkeypatch.setattr(office.store, "depth", full)
    response = await client.get("/readyz")

    assert response.status == 503
    assert (await response.json())["checks"] == {"database": "failed: StorageError", "index": "ok"}


async def test_an_index_that_hangs_makes_it_not_ready(
    office: Office, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "CHECK_SECONDS", 0.01)
    monkeypatch.setattr(office.shelf.index, "count", lambda: asyncio.sleep(60))
    response = await client.get("/readyz")

    assert (response.status, (await response.json())["checks"]["index"]) == (503, "no answer in time")


async def test_metrics_tell_what_was_asked_and_what_waits(office: Office, connect: OpenClient) -> None:
    client = await connect(wait_seconds=0.5)
    await client.post(f"{WORKSPACE}/chat", json={"message": QUESTION})
    office.provider.hold.clear()
    await client.post(f"{WORKSPACE}/chat", json={"message": QUESTION})
    response = await client.get("/metrics")
    text = await response.text()
    office.provider.hold.set()

    assert response.headers["Content-Type"].startswith("text/plain; version=")
    assert 'footnote_questions_total{outcome="answered",platform="api"} 1.0' in text
    assert 'footnote_answer_seconds_count{stage="total"} 1.0' in text
    assert 'footnote_queue_depth{status="running"} 1.0' in text
    assert 'footnote_queue_depth{status="queued"} 0.0' in text
