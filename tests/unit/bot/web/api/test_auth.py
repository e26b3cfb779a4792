"""Who comes in: tokens, sessions, the rate; and the form of what nobody may have."""

import asyncio
from dataclasses import replace

import pytest
from aiohttp.test_utils import TestClient

from bot.slackbot.events.manifest import EVENTS_PATH
from core.domain.identity import Role
from core.work.rate_limit import Rate, RateLimiter
from tests.unit.bot.web.api.conftest import TOKEN, WORKSPACE, Office, OpenClient, error_of

SESSIONS = f"{WORKSPACE}/chat/sessions"
RIGHT = {"Authorization": f"Bearer {TOKEN}"}


def small_gate(office: Office) -> RateLimiter:
    return RateLimiter(Rate(per_second=2, burst=3), office.clock)


@pytest.mark.parametrize(("role", "status"), [(Role.OWNER, 200), (Role.ADMIN, 401), (Role.MEMBER, 401), (None, 401)])
@pytest.mark.parametrize("token", [None, TOKEN])
async def test_the_browser_of_the_owner_needs_no_token(
    connect: OpenClient, role: Role | None, status: int, token: str | None
) -> None:
    assert (await (await connect(role=role, token=token)).get(SESSIONS)).status == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (RIGHT, 200),
        ({"Authorization": f"bearer   {TOKEN} "}, 200),
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": TOKEN}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": "Bearer ä\u20ac"}, 401),
    ],
)
@pytest.mark.parametrize("path", [SESSIONS, "/metrics"])
async def test_from_elsewhere_only_the_right_token_opens(
    connect: OpenClient, headers: dict[str, str], status: int, path: str
) -> None:
    response = await (await connect(role=None, token=TOKEN)).get(path, headers=headers)

    if status == 200:
        assert response.status == 200
        return
    assert (await error_of(response, 401))[0] == "unauthorized"
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("token", [None, ""])
async def test_without_a_token_configured_nobody_from_elsewhere_comes_in(
    connect: OpenClient, token: str | None
) -> None:
    client = await connect(role=None, token=token)
    for headers in ({}, RIGHT, {"Authorization": "Bearer "}):
        assert "footnote tokens add" in (await error_of(await client.get(SESSIONS, headers=headers), 401))[1]


async def test_a_wrong_token_is_refused_at_this_machine_too(connect: OpenClient) -> None:
    client = await connect(token=TOKEN)
    response = await client.get(SESSIONS, headers={"Authorization": "Bearer wrong"})

    assert (await error_of(response, 401))[0] == "unauthorized"


async def test_a_foreign_name_or_site_is_refused_in_the_apis_own_form(client: TestClient) -> None:
    assert (await error_of(await client.get(SESSIONS, headers={"Host": "evil.example"}), 421))[0] == "unknown_host"
    foreign = {"Origin": "https://evil.example"}
    response = await client.post(f"{WORKSPACE}/chat", json={"message": "Where?"}, headers=foreign)
    assert (await error_of(response, 403))[0] == "access_denied"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/api/openapi.json"])
async def test_health_and_description_are_open(connect: OpenClient, path: str) -> None:
    assert (await (await connect(role=None, token=TOKEN)).get(path)).status == 200


async def test_fifty_requests_a_second_are_slowed_down_and_told_when_to_come_again(
    office: Office, connect: OpenClient
) -> None:
    client = await connect(gate=small_gate(office), local_exempt=False)
    answers = await asyncio.gather(*(client.get(SESSIONS) for _ in range(50)))
    refused = [response for response in answers if response.status == 429]

    assert len(refused) == 47  # the burst is three
    assert (await error_of(refused[0], 429))[1] == "Too many requests. Try again in 1 second."
    assert {response.headers["Retry-After"] for response in refused} == {"1"}
    office.clock.advance(1)
    assert (await client.get(SESSIONS)).status == 200


async def test_local_clients_and_right_tokens_are_exempt_by_default(office: Office, connect: OpenClient) -> None:
    client = await connect(gate=small_gate(office), token=TOKEN)
    local = await asyncio.gather(*(client.get(SESSIONS) for _ in range(50)))
    tokens = await asyncio.gather(*(client.get(SESSIONS, headers=RIGHT) for _ in range(50)))

    assert {response.status for response in (*local, *tokens)} == {200}


async def test_tokens_can_be_held_to_the_rate(office: Office, connect: OpenClient) -> None:
    client = await connect(gate=small_gate(office), token=TOKEN, token_exempt=False)
    answers = [(await client.get(SESSIONS, headers=RIGHT)).status for _ in range(5)]

    assert answers == [200, 200, 200, 429, 429]


async def test_a_token_cannot_be_guessed_by_trying(office: Office, connect: OpenClient) -> None:
    client = await connect(gate=small_gate(office), token=TOKEN)
    answers = [
        (await client.get(SESSIONS, headers={"Authorization": f"Bearer {number}"})).status for number in range(5)
    ]

    assert answers == [401, 401, 401, 429, 429]


async def test_what_pages_send_is_held_to_the_rate_as_well_and_what_they_show_is_not(
    office: Office, connect: OpenClient
) -> None:
    client = await connect(gate=small_gate(office), local_exempt=False)
    sent = await asyncio.gather(*(client.post("/chat/messages", json={}) for _ in range(50)))
    shown = await asyncio.gather(*(client.get("/healthz") for _ in range(50)))
    refused = next(response for response in sent if response.status == 429)

    assert sum(response.status == 429 for response in sent) == 47
    assert await refused.json() == {"error": "Too many requests. Try again in 1 second."}
    assert {response.status for response in shown} == {200}


async def test_what_slack_sends_for_a_whole_team_is_held_to_no_rate(office: Office, connect: OpenClient) -> None:
    client = await connect(role=None, gate=small_gate(office))
    sent = await asyncio.gather(*(client.post(EVENTS_PATH, json={"number": number}) for number in range(50)))

    assert {response.status for response in sent} == {404}  # no Slack is set up here


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/nowhere", 404),
        ("GET", "/api/v2/workspaces/local/documents", 404),
        ("GET", "/api/v1/workspaces//documents", 404),
        ("DELETE", f"{WORKSPACE}/chat", 405),
        ("PUT", f"{WORKSPACE}/chat/sessions/x", 405),
        ("POST", f"{WORKSPACE}/documents", 405),
        ("TRACE", f"{WORKSPACE}/documents", 405),
    ],
)
async def test_what_is_not_there_is_said_as_json(client: TestClient, method: str, path: str, status: int) -> None:
    response = await client.request(method, path)

    await error_of(response, status)
    assert ("Allow" in response.headers) == (status == 405)


async def test_a_bug_shows_a_number_and_no_detail(
    office: Office, client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("the secret is 42")

    monkeypatch.setattr(office.conversations, "list_conversations", broken)
    code, message = await error_of(await client.get(SESSIONS), 500)

    assert (code, "42" in message.replace(message.split()[-1], "")) == ("internal", False)
    assert message.split()[-1].rstrip(".") in caplog.text


def test_the_token_never_shows(office: Office) -> None:
    assert TOKEN not in repr(replace(office.api(), token=TOKEN))
