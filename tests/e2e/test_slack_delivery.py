"""The real service when Slack's deliveries are lost, doubled or late: each question has one answer in the end."""

import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from tests.e2e.platform_service import NEXT_QUESTION, QUESTION
from tests.e2e.slack_service import ACK_SECONDS, TRANSPORTS, SlackService
from tests.slack_server import SlackServer
from tests.slack_server.delivery import Parcel

pytestmark = pytest.mark.slow
MINUTE = 60.0


@pytest.fixture(params=TRANSPORTS)
async def hurried_service(request: pytest.FixtureRequest, notes: Path, tmp_path: Path) -> AsyncIterator[SlackService]:
    """Slack waits for an acknowledgement as short a time as Slack does: what fails comes again."""
    async with SlackServer() as server:
        yield SlackService(server, notes, tmp_path, request.param)


async def try_all_again(server: SlackServer) -> None:
    """Moves the clock until no delivery is to be tried any more."""

    async def try_again(waiting: Sequence[Parcel]) -> None:
        failed = [len(one.failures) for one in waiting]
        server.advance(5 * MINUTE)
        await server.wait_for(
            lambda: all(one.over for one in waiting) or [len(one.failures) for one in waiting] != failed
        )

    while waiting := [one for one in server.parcels if not one.over]:
        await try_again(waiting)


async def test_what_comes_again_is_answered_once(hurried_service: SlackService) -> None:
    service, server = hurried_service, hurried_service.server
    general, ada = service.settle_in()
    await service.start()

    lost = server.lose_acks(2)
    threads = [await service.ask(ada, general)]
    await try_all_again(server)
    assert lost.met == 2

    server.deliver_twice(2)
    threads.append(await service.ask(ada, general))
    for parcel in [one for one in server.parcels if one.name in ("app_mention", "message")]:
        server.redeliver(parcel)  # long after it was answered
    await server.settle()

    lost = server.lose_acks(8, "*")  # all deliveries of both events
    threads.append(await ada.mention(general, QUESTION))
    await try_all_again(server)
    assert lost.met == 8
    threads.append(await service.ask(ada, general, NEXT_QUESTION))
    assert [len(server.answers(general, thread=thread)) for thread in threads] == [1, 1, 1, 1]
    assert len(server.posts(general)) == 4


async def test_an_event_is_acknowledged_when_it_is_stored_and_not_before(hurried_service: SlackService) -> None:
    service, server = hurried_service, hurried_service.server
    general, ada = service.settle_in()
    await service.start()

    database = sqlite3.connect(service.data / "footnote.db", isolation_level=None)
    database.execute("BEGIN IMMEDIATE")  # nobody else can write
    asked = await ada.mention(general, QUESTION)
    about = [one for one in server.parcels if one.event.get("ts") == asked.ts]
    await service.until(lambda: all(one.failures for one in about), "the first deliveries' end")
    assert [one.acknowledged for one in about] == [False, False]
    database.execute("ROLLBACK")
    database.close()
    server.delivery.ack_seconds = ACK_SECONDS  # from here on they are not the point
    server.advance(MINUTE)
    await service.until(lambda: any(one.acknowledged for one in about), "a further delivery")
    await service.process.kill()  # what was acknowledged is not lost
    await service.start()
    await service.answered(general, thread=asked)
    await service.ask(ada, general)
    assert len(server.posts(general)) == 2


async def test_what_is_said_while_the_service_is_away_is_answered_once_when_slack_tries_again(
    hurried_service: SlackService,
) -> None:
    service, server = hurried_service, hurried_service.server
    general, ada = service.settle_in()
    await service.start()
    asked = await service.ask(ada, general)
    await service.stop()

    missed = await ada.mention(general, QUESTION)
    await ada.reply(asked, NEXT_QUESTION)
    late = [parcel for parcel in server.parcels if not parcel.over]
    await service.until(lambda: all(len(parcel.failures) >= 2 for parcel in late), "two failed deliveries of each")
    server.delivery.ack_seconds = ACK_SECONDS  # from here on they are not the point
    await service.start()
    server.advance(MINUTE)
    await service.answered(general, thread=missed)
    await service.answered(general, 2, thread=asked)
    await server.settle()
    await service.ask(ada, general)
    assert len(server.posts(general)) == 4
    assert "Traceback" not in service.process.printed


@pytest.mark.parametrize("slack_service", ["socket"], indirect=True)
async def test_connections_that_end_are_renewed_and_nothing_is_lost_or_doubled(slack_service: SlackService) -> None:
    service, server = slack_service, slack_service.server
    general, ada = service.settle_in()
    await service.start()
    threads = [await service.ask(ada, general)]

    for reason in ("warning", "refresh_requested"):
        opened = server.socket.opened
        await server.disconnect(reason)
        threads.append(await service.ask(ada, general))
        assert server.socket.opened == opened + 1
    for politely in (True, False):
        opened = server.socket.opened
        hang = server.hang_next("chat.startStream")
        threads.append(await ada.mention(general, QUESTION))
        await service.until(hang.reached.is_set, "an answer that begins")
        await server.drop_sockets(politely=politely)
        threads.append(await ada.mention(general, NEXT_QUESTION))
        hang.release()
        await server.wait_for_connection(opened + 1)
        for thread in threads[-2:]:
            await service.answered(general, thread=thread)
    server.socket.refused = True  # no address is given
    tries = len(server.calls("apps.connections.open"))
    await server.drop_sockets()
    threads.append(await ada.mention(general, QUESTION))
    await service.until(lambda: len(server.calls("apps.connections.open")) > tries + 1, "two tries to connect")
    server.socket.refused = False
    await service.answered(general, thread=threads[-1])
    async with server.sockets_down():
        threads.append(await ada.mention(general, QUESTION))
    await service.answered(general, thread=threads[-1])
    await server.settle()
    threads.append(await service.ask(ada, general))

    assert [len(server.answers(general, thread=thread)) for thread in threads] == [1] * len(threads)
    assert len(server.posts(general)) == len(threads)
    assert len(server.socket.connected) == 1
    assert "Traceback" not in service.process.printed
