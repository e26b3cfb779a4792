"""Acknowledgements, redelivery, reconnecting and signatures, with slack_bolt in both transports."""

import json
from collections.abc import AsyncIterator
from functools import partial

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp
from slack_bolt.response import BoltResponse

from tests.integration.slack_server.plain_bot import Heard, in_socket_mode
from tests.slack_server import Channel, Person, SlackServer, text_of
from tests.slack_server.delivery import Parcel


async def said_to(server: SlackServer, place: Channel, count: int) -> list[str]:
    await server.wait_for(lambda: len(server.answers(place)) >= count, what=f"{count} answers")
    return [text_of(message) for message in server.answers(place)]


def has_failed(parcel: Parcel, times: int) -> bool:
    return len(parcel.failures) == times


@pytest.fixture
async def quick(server: SlackServer) -> AsyncIterator[SlackServer]:
    """A Slack that waits a second for an acknowledgement, once the test has begun."""
    server.delivery.ack_seconds = 1.0
    server.delivery.retry_seconds = (0.0, 60.0, 300.0)
    yield server


async def test_an_event_not_acknowledged_in_time_comes_again_with_its_number_and_reason(
    quick: SlackServer, bot: AsyncApp, heard: Heard, general: Channel, alice: Person
) -> None:
    heard.go_on.clear()
    await alice.say(general, "wait")
    (parcel,) = quick.parcels
    await quick.wait_for(lambda: len(parcel.failures) == 2, what="the first try and the one at once")
    heard.go_on.set()
    quick.delivery.ack_seconds = 20.0
    assert not parcel.over
    quick.advance(60)
    await quick.wait_for(lambda: parcel.acknowledged, what="an acknowledgement of the try after a minute")
    assert [number for number, _ in heard.retries()][:2] == ["1", "2"]
    assert {reason for _, reason in heard.retries()} <= {"timeout", "http_timeout"}
    assert len({body["event_id"] for _, _, body in heard.events}) == 1


async def test_after_three_more_tries_slack_gives_up(
    quick: SlackServer, bot: AsyncApp, heard: Heard, general: Channel, alice: Person
) -> None:
    heard.go_on.clear()
    await alice.say(general, "wait")
    (parcel,) = quick.parcels
    for failures, seconds in ((2, 60), (3, 300), (4, 0)):
        await quick.wait_for(partial(has_failed, parcel, failures))
        quick.advance(seconds)
    await quick.wait_for(lambda: parcel.over)
    heard.go_on.set()
    assert (parcel.acknowledged, len(heard.events)) == (False, 4)


async def test_a_lost_acknowledgement_brings_the_event_again(
    server: SlackServer, bot: AsyncApp, heard: Heard, general: Channel, alice: Person
) -> None:
    lost = server.lose_acks(name="app_mention")
    await alice.mention(general, "hello")
    assert await said_to(server, general, 2) == ["You said: hello"] * 2
    await server.settle()
    assert lost.met == 1
    assert heard.retries() == [("1", "timeout")]
    first, again = heard.named("app_mention")
    assert first["event_id"] == again["event_id"]


async def test_an_event_may_come_twice_or_late(
    server: SlackServer, bot: AsyncApp, heard: Heard, general: Channel, alice: Person
) -> None:
    held = server.hold_events(name="message")
    server.deliver_twice(name="reaction_added")
    said = await alice.say(general, "first")
    await alice.react(said, "eyes")
    await server.wait_for(lambda: len(heard.named("reaction_added")) == 2)
    assert (held.held, heard.named("message")) == (1, [])
    held.release()
    await server.settle()
    assert len(heard.named("message")) == 1
    assert len({body["event_id"] for body in heard.named("reaction_added")}) == 1


async def test_acknowledgements_are_timed(server: SlackServer, bot: AsyncApp, general: Channel, alice: Person) -> None:
    for number in range(5):
        await alice.say(general, f"message {number}")
    await server.settle()
    assert len(server.acknowledged_after) == 5
    assert 0 < max(server.acknowledged_after) < 20


# ---------------------------------------------------------------------- Socket Mode


async def test_a_disconnect_frame_loses_nothing(
    server: SlackServer, socket_bot: AsyncApp, heard: Heard, general: Channel, alice: Person
) -> None:
    for number in range(4):
        await server.disconnect("refresh_requested" if number % 2 else "warning")
        await alice.mention(general, f"number {number}")
    assert sorted(await said_to(server, general, 4)) == [f"You said: number {number}" for number in range(4)]
    await server.settle()
    assert server.socket.opened >= 2
    assert len(heard.named("app_mention")) == 4


@pytest.mark.parametrize("politely", [True, False], ids=["closed", "broken"])
async def test_a_connection_that_ends_loses_nothing(
    server: SlackServer, socket_bot: AsyncApp, heard: Heard, general: Channel, alice: Person, politely: bool
) -> None:
    await server.drop_sockets(politely=politely)
    await alice.mention(general, "are you back?")
    assert await said_to(server, general, 1) == ["You said: are you back?"]
    assert server.socket.opened == 2


async def test_what_was_not_acknowledged_when_the_connection_ended_comes_on_the_next_one(
    server: SlackServer, socket_bot: AsyncApp, heard: Heard, general: Channel, alice: Person
) -> None:
    heard.go_on.clear()
    await alice.say(general, "wait")
    await server.wait_for(lambda: heard.events)
    await server.drop_sockets()
    heard.go_on.set()
    await server.settle()
    assert heard.retries() == [("1", "connection_failed")]
    assert server.parcels[0].acknowledged


async def test_nobody_there_is_a_failed_try_that_is_made_good_after_a_minute(
    quick: SlackServer, app: AsyncApp, heard: Heard, general: Channel, alice: Person
) -> None:
    await alice.mention(general, "hello")
    await quick.wait_for(lambda: all(len(one.failures) == 2 for one in quick.parcels))
    quick.delivery.ack_seconds = 20.0
    async with in_socket_mode(app, quick.app.token, quick.api):
        await quick.wait_for_connection()
        quick.advance(60)
        assert await said_to(quick, general, 1) == ["You said: hello"]


async def test_while_slack_does_not_greet_events_wait(
    server: SlackServer, socket_bot: AsyncApp, heard: Heard, general: Channel, alice: Person
) -> None:
    async with server.sockets_down():
        await alice.say(general, "hello")
        assert heard.events == []
    await server.settle()
    assert len(heard.named("message")) == 1


async def test_several_connections_share_the_events(
    server: SlackServer, socket_bot: AsyncApp, heard: Heard, general: Channel, alice: Person
) -> None:
    async with in_socket_mode(socket_bot, server.app.token, server.api):
        await server.wait_for_connection(2)
        assert len(server.socket.connected) == 2
        for number in range(4):
            await alice.say(general, f"message {number}")
        await server.settle()
    assert sorted(one["event"]["text"] for one in heard.named("message")) == [f"message {n}" for n in range(4)]


async def test_a_connection_needs_the_app_token(server: SlackServer, general: Channel) -> None:
    async with aiohttp.ClientSession() as session:
        install = general.team.install
        assert install is not None
        for token, error in ((install.token, "not_allowed_token_type"), ("xapp-other", "invalid_auth")):
            headers = {"Authorization": f"Bearer {token}"}
            async with session.post(f"{server.api}apps.connections.open", headers=headers) as reply:
                assert (await reply.json())["error"] == error
        async with session.get(f"{server.world.address}/link/?ticket=made-up") as reply:
            assert reply.status == 401


# ---------------------------------------------------------------------- HTTP


async def test_a_request_with_a_wrong_or_an_old_signature_is_refused_by_bolt(
    server: SlackServer, http_bot: AsyncApp, heard: Heard
) -> None:
    body = json.dumps({"type": "event_callback", "event": {"type": "reaction_added"}, "team_id": "T1"})
    now = server.world.clock.now()
    wrong = [
        server.http.signed(body, secret="another"),
        server.http.signed(body, at=now - 301),
        {**server.http.signed(body), "X-Slack-Request-Timestamp": str(int(now) - 1)},
        {"Content-Type": "application/json"},
    ]
    async with aiohttp.ClientSession() as session:
        for headers in wrong:
            async with session.post(server.http.url, data=body, headers=headers) as reply:
                assert reply.status == 401
    assert heard.named("event_callback") == []


async def test_the_address_is_verified_by_a_challenge(server: SlackServer, http_bot: AsyncApp) -> None:
    first = server.http.requests[0]
    assert (json.loads(first.body)["type"], first.status) == ("url_verification", 200)
    with pytest.raises(AssertionError, match="did not answer the challenge"):
        await server.use_http(server.http.url.replace("/slack/events", "/nowhere"))


async def test_no_retry_is_heeded(
    server: SlackServer, http_bot: AsyncApp, heard: Heard, general: Channel, alice: Person
) -> None:
    @http_bot.middleware
    async def refuse() -> BoltResponse:
        return BoltResponse(status=500, headers={"X-Slack-No-Retry": "1"})

    await alice.say(general, "hello")
    await server.settle()
    assert server.parcels[0].failures == ["http_error"]
