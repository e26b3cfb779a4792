"""chat/sessions: list, show, rename, delete, export."""

import json
from urllib.parse import quote

import pytest
from aiohttp.test_utils import TestClient

from tests.builders import build_conversation, build_message
from tests.unit.bot.web.api.conftest import QUESTION, QUOTE, WORKSPACE, Office, OpenClient, error_of

SESSIONS = f"{WORKSPACE}/chat/sessions"
TRAVERSALS = [
    "unknown",
    "..%2F..%2Fetc%2Fpasswd",
    "%00",
    "'%3B DROP TABLE conversation%3B--",
    "x" * 3000,
    "%F0%9F%92%A3",
]


async def begin(client: TestClient, message: str = QUESTION) -> str:
    response = await client.post(f"{WORKSPACE}/chat", json={"message": message})
    return (await response.json())["session_id"]


async def test_sessions_are_listed_with_title_count_and_times_newest_first(office: Office, client: TestClient) -> None:
    first = await begin(client)
    office.clock.advance(60)
    second = await begin(client, "Is there a shed?")
    sessions = (await (await client.get(SESSIONS)).json())["sessions"]

    assert [item["session_id"] for item in sessions] == [second, first]
    assert sessions[1]["title"] == QUESTION
    assert sessions[1]["message_count"] >= 2
    assert sessions[1]["created_at"] == sessions[1]["last_message_at"] == "2026-03-01T12:00:00+00:00"
    assert len((await (await client.get(f"{SESSIONS}?limit=1")).json())["sessions"]) == 1


async def test_a_session_of_another_platform_is_a_session_too(office: Office, client: TestClient) -> None:
    await office.conversation_store.add(build_conversation("c1", title="Keys"))
    await office.conversation_store.append("c1", [build_message()])
    answer = await client.post(f"{WORKSPACE}/chat", json={"message": QUESTION, "session_id": "c1"})
    session = await (await client.get(f"{SESSIONS}/c1")).json()

    assert (await answer.json())["session_id"] == "c1"
    assert [m["role"] for m in session["messages"]] == ["user", "user", "tool_result", "assistant"]
    assert session["messages"][-1]["citations"][0]["quote"] == QUOTE


async def test_a_title_can_be_changed(client: TestClient) -> None:
    session_id = await begin(client)
    renamed = await (await client.patch(f"{SESSIONS}/{session_id}", json={"title": "<b>Keys</b>"})).json()

    assert renamed["title"] == (await (await client.get(f"{SESSIONS}/{session_id}")).json())["title"] == "<b>Keys</b>"


@pytest.mark.parametrize("body", [{}, {"title": ""}, {"title": "  "}, {"title": None}, {"title": "x", "owner": "eve"}])
async def test_a_title_that_is_none_is_refused(client: TestClient, body: dict[str, object]) -> None:
    session_id = await begin(client)

    await error_of(await client.patch(f"{SESSIONS}/{session_id}", json=body), 422)
    assert (await (await client.get(f"{SESSIONS}/{session_id}")).json())["title"] == QUESTION


async def test_a_deleted_session_is_gone(client: TestClient) -> None:
    session_id = await begin(client)
    deleted = await client.delete(f"{SESSIONS}/{session_id}")

    assert (deleted.status, await deleted.text()) == (204, "")
    await error_of(await client.get(f"{SESSIONS}/{session_id}"), 404)
    await error_of(await client.delete(f"{SESSIONS}/{session_id}"), 404)


async def test_a_session_that_is_being_answered_is_not_deleted(office: Office, connect: OpenClient) -> None:
    client = await connect(wait_seconds=0.05)
    office.provider.hold.clear()
    await client.post(f"{WORKSPACE}/chat", json={"message": QUESTION})
    session_id = (await (await client.get(SESSIONS)).json())["sessions"][0]["session_id"]

    assert (await error_of(await client.delete(f"{SESSIONS}/{session_id}"), 409))[0] == "busy"
    office.provider.hold.set()


async def test_a_session_of_another_platform_is_not_deleted_while_it_is_answered_here(
    office: Office, connect: OpenClient
) -> None:
    client = await connect(wait_seconds=0.05)
    await office.conversation_store.add(build_conversation("c1", title="Keys"))
    office.provider.hold.clear()
    pending = await client.post(f"{WORKSPACE}/chat", json={"message": QUESTION, "session_id": "c1"})

    assert (pending.status, (await pending.json())["session_id"]) == (202, "c1")
    assert (await error_of(await client.delete(f"{SESSIONS}/c1"), 409))[0] == "busy"
    office.provider.hold.set()


async def test_a_session_is_exported_as_a_file_in_each_format(client: TestClient) -> None:
    session_id = await begin(client)
    markdown = await client.get(f"{SESSIONS}/{session_id}/export")
    exported = await client.get(f"{SESSIONS}/{session_id}/export?format=json")

    printed = await client.get(f"{SESSIONS}/{session_id}/export?format=pdf")

    assert (printed.content_type, (await printed.read())[:5]) == ("application/pdf", b"%PDF-")
    assert markdown.headers["Content-Disposition"] == f'attachment; filename="conversation-{session_id[:8]}.md"'
    assert markdown.content_type == "text/markdown"
    assert QUOTE in await markdown.text()
    assert json.loads(await exported.text())["messages"][0]["content"] == QUESTION
    assert exported.content_type == "application/json"
    assert "format" in (await error_of(await client.get(f"{SESSIONS}/{session_id}/export?format=exe"), 422))[1]


@pytest.mark.parametrize("session_id", TRAVERSALS)
@pytest.mark.parametrize("end", ["", "/export"])
async def test_an_unknown_session_is_not_found(client: TestClient, session_id: str, end: str) -> None:
    assert (await error_of(await client.get(f"{SESSIONS}/{session_id}{end}"), 404))[0] == "not_found"


async def test_nothing_of_another_workspace_is_shown(office: Office, client: TestClient) -> None:
    from core.domain.incoming import ThreadAddress

    elsewhere = ThreadAddress(platform="terminal", workspace="other", channel="c", thread="t")
    await office.conversation_store.add(build_conversation("c9", address=elsewhere))

    await error_of(await client.get(f"{SESSIONS}/c9"), 404)
    assert "'other'" in (await error_of(await client.get("/api/v1/workspaces/other/chat/sessions/c9"), 404))[1]
    assert (await (await client.get(SESSIONS)).json())["sessions"] == []


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "limit=x", "limit=1&limit=2", "offset=3"])
async def test_a_bad_parameter_is_named(client: TestClient, query: str) -> None:
    assert (
        repr(query.split("=")[0]) in (await error_of(await client.get(f"{SESSIONS}?{quote(query, safe='=&')}"), 422))[1]
    )
