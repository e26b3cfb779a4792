"""Slack's requests over HTTP: only what Slack signed is read, nothing is done twice, and nobody waits too long."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from aiohttp import ClientSession

from bot.slackbot.events import transport as http
from bot.web.app import MAX_BODY_BYTES
from bot.wiring.parts import open_parts
from core.errors import StorageError
from tests.integration.slackbot.door import Opened, Secrets, open_door
from tests.slack_server import Channel, Message, Person, SlackServer, Team

Headers = Mapping[str, str]
MINUTE = 60


@pytest.fixture
async def opened(server: SlackServer, team: Team, secrets: Secrets) -> AsyncIterator[Opened]:
    async with open_parts(secrets.config(team, transport="http")) as app, open_door(app) as opened:
        yield opened


@pytest.fixture
async def said(server: SlackServer, team: Team, general: Channel, ada: Person, opened: Opened) -> str:
    """The body of a request about a mention, which the bot has not been sent."""
    hold = server.hold_events(times=2)
    await ada.mention(general, "how long is a day?")
    await server.wait_for(lambda: hold.held == 2)
    return json.dumps(next(one.payload for one in server.parcels if one.name == "app_mention"))


async def send(opened: Opened, body: str | bytes, headers: Headers) -> tuple[int, str]:
    async with (
        ClientSession() as session,
        session.post(f"{opened.url}slack/events", data=body, headers=headers) as reply,
    ):
        return reply.status, await reply.text()


async def texts(opened: Opened, team: Team) -> list[str]:
    return [entry.incoming.text for entry in await opened.heard(f"slack-{team.id}")]


def without(headers: Headers, name: str) -> dict[str, str]:
    return {key: value for key, value in headers.items() if key != name}


async def test_what_slack_signed_just_now_is_taken_in(
    server: SlackServer, team: Team, opened: Opened, said: str
) -> None:
    assert await send(opened, said, server.http.signed(said)) == (200, "")
    assert await texts(opened, team) == ["how long is a day?"]


@pytest.mark.parametrize(
    "change",
    [
        lambda http, body: http.signed(body, secret="another secret"),
        lambda http, body: http.signed(body + " "),
        lambda http, body: http.signed(body, at=time.time() - 6 * MINUTE),
        lambda http, body: http.signed(body, at=time.time() + 6 * MINUTE),
        lambda http, body: http.signed(body) | {"X-Slack-Request-Timestamp": str(int(time.time()) - 1)},
        lambda http, body: http.signed(body) | {"X-Slack-Request-Timestamp": "now"},
        lambda http, body: http.signed(body) | {"X-Slack-Request-Timestamp": "-1"},
        lambda http, body: http.signed(body) | {"X-Slack-Request-Timestamp": "1e9"},
        lambda http, body: http.signed(body) | {"X-Slack-Request-Timestamp": "²"},
        lambda http, body: http.signed(body) | {"X-Slack-Signature": "v0="},
        lambda http, body: http.signed(body) | {"X-Slack-Signature": "v0=ü"},
        lambda http, body: without(http.signed(body), "X-Slack-Request-Timestamp"),
        lambda http, body: without(http.signed(body), "X-Slack-Signature"),
        lambda http, body: {"Content-Type": "application/json"},
    ],
    ids=[
        "another secret", "another body", "too old", "too new", "another time", "no number", "negative", "a float",
        "no digit", "no hash", "no ascii", "no time", "no signature", "nothing",
    ],
)  # fmt: skip
async def test_what_slack_did_not_sign_is_refused_unread(
    change: Any, server: SlackServer, team: Team, opened: Opened, said: str
) -> None:
    status, text = await send(opened, said, change(server.http, said))

    assert (status, text) == (401, "This request's Slack signature is missing, wrong or too old.")
    assert await texts(opened, team) == []


@pytest.mark.parametrize("body", [b"\xff\xfe", b"", b"{", b"ssl_check=1&token=x", b'{"type": "url_verification"}'])
async def test_nothing_unsigned_is_even_parsed(body: bytes, opened: Opened) -> None:
    stamp = {"X-Slack-Request-Timestamp": str(int(time.time())), "X-Slack-Signature": "v0=0"}

    assert (await send(opened, body, stamp))[0] == 401


async def test_the_challenge_of_slack_is_answered_when_it_is_signed(server: SlackServer, opened: Opened) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "c-1"})

    assert json.loads((await send(opened, body, server.http.signed(body)))[1]) == {"challenge": "c-1"}


async def test_a_replayed_request_is_acknowledged_and_does_nothing(
    server: SlackServer, team: Team, general: Channel, ada: Person, opened: Opened
) -> None:
    await server.use_http(f"{opened.url}slack/events")
    await ada.slash(general, "ask how long is a day?")
    for _ in range(1_000):  # a busy machine acknowledges it first, and stores the question then
        if before := await texts(opened, team):
            break
        await asyncio.sleep(0.05)
    [command] = [one for one in server.http.requests if "command=%2Ffootnote" in one.body]

    assert before == ["how long is a day?"]
    assert await send(opened, command.body, command.headers) == (200, "")
    assert await texts(opened, team) == before


async def test_an_event_that_comes_again_is_taken_in_once(
    server: SlackServer, team: Team, opened: Opened, said: str
) -> None:
    now = time.time()
    for at in (now, now - 1, now - 2):
        assert (await send(opened, said, server.http.signed(said, at=at)))[0] == 200
    assert await texts(opened, team) == ["how long is a day?"]


async def test_a_request_that_failed_may_come_again(
    server: SlackServer, team: Team, opened: Opened, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = server.http.signed(said)
    with monkeypatch.context() as broken:
        broken.setattr(opened.app.inbox_store, "accept", full_disk)
        failed = await send(opened, said, headers)
    again = await send(opened, said, headers)

    assert failed[0] == 500
    assert again == (200, "")
    assert await texts(opened, team) == ["how long is a day?"]


async def full_disk(*_: Any) -> None:
    raise StorageError("The disk is full.")


async def test_what_takes_too_long_is_refused_in_time_and_goes_on(
    server: SlackServer, team: Team, secrets: Secrets, said: str, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http.SlackRequestHandler.__init__, "__kwdefaults__", {"deadline_seconds": 0.05})
    async with open_door(opened.app) as slow:
        accept, may_go_on = opened.app.inbox_store.accept, asyncio.Event()

        async def slowly(*given: Any) -> Any:
            await may_go_on.wait()
            return await accept(*given)

        monkeypatch.setattr(opened.app.inbox_store, "accept", slowly)
        status, text = await send(slow, said, server.http.signed(said))
        may_go_on.set()
        monkeypatch.setattr(opened.app.inbox_store, "accept", accept)
        again = await send(opened, said, server.http.signed(said, at=time.time() - 1))

    assert (status, text) == (503, "Not ready in time. Send it again.")
    assert again == (200, "")
    assert await texts(opened, team) == ["how long is a day?"]


async def test_a_body_beyond_the_limit_is_refused(server: SlackServer, opened: Opened) -> None:
    body = json.dumps({"type": "event_callback", "padding": "x" * MAX_BODY_BYTES})

    assert (await send(opened, body, server.http.signed(body)))[0] == 413


async def test_only_posts_are_taken(opened: Opened) -> None:
    async with ClientSession() as session, session.get(f"{opened.url}slack/events") as reply:
        assert reply.status == 405
    async with ClientSession() as session, session.get(f"{opened.url}slack/install") as reply:
        assert reply.status == 404


async def test_slack_sends_again_what_was_not_acknowledged(
    server: SlackServer, team: Team, general: Channel, ada: Person, opened: Opened
) -> None:
    await server.use_http(f"{opened.url}slack/events")
    lost = server.lose_acks(1, "app_mention"), server.lose_acks(1, "message")
    asked: Message = await ada.mention(general, "how long is a day?")
    await server.settle()

    assert [one.met for one in lost] == [1, 1]
    assert await texts(opened, team) == ["how long is a day?"]
    assert asked.ts in (await opened.heard(f"slack-{team.id}"))[0].message_key
