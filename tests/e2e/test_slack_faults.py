"""The real service when Slack refuses, is slow or shuts it out: each question has one answer, or one clear sentence."""

import time

import pytest
from aiohttp import ClientSession

from tests.e2e.platform_service import ANSWER, NEXT_ANSWER, NEXT_QUESTION, QUESTION
from tests.e2e.slack_service import FINAL, SlackService, buttons
from tests.slack_server import Channel, Message, SlackServer, text_of

pytestmark = pytest.mark.slow


def final_updates(server: SlackServer, message: Message) -> int:
    """How often a message was changed into a whole answer."""
    made = [call for call in server.calls("chat.update") if call.carried_out and call.params["ts"] == message.ts]
    return sum(FINAL in str(call.params.get("blocks")) for call in made)


async def test_refused_failed_and_lost_calls_end_in_one_answer_each(slack_service: SlackService) -> None:
    service, server = slack_service, slack_service.server
    general, ada = service.settle_in()
    await service.start()

    async def one_answer(question: str = QUESTION) -> None:
        asked = await service.ask(ada, general, question)
        [message] = server.answers(general, thread=asked)
        assert final_updates(server, message) <= 1
        assert "Stop" not in buttons(message)

    refused = server.fail_next("chat.*", status=429, times=3, retry_after_seconds=1)
    await one_answer()
    failed = server.fail_next("chat.*", status=500, times=2)
    await one_answer(NEXT_QUESTION)
    server.fail_next("chat.*", "internal_error", times=2)
    await one_answer()
    assert (refused.met, failed.met) == (3, 2)

    for method in ("chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update"):
        lost = server.lose_reply_of_next(method)
        await one_answer()
        assert lost.met == 1
    server.fail_next("chat.startStream", "method_not_supported_for_channel_type")
    lost = server.lose_reply_of_next("chat.postMessage", status=504)
    await one_answer()
    assert lost.met == 1
    assert len(server.answers(general)) == len(server.posts(general)) == 8
    assert "Traceback" not in service.process.printed


@pytest.mark.parametrize("slack_service", ["socket"], indirect=True)
async def test_slacks_own_limits_for_apps_like_ours_hold_no_answer_back(slack_service: SlackService) -> None:
    service, server = slack_service, slack_service.server
    general, ada = service.settle_in()
    server.use_tiers(distributed=True)
    await service.start()

    begun = time.monotonic()
    talk = await ada.say(general, "The kite is late again.")
    await ada.mention(general, QUESTION, thread=talk)
    await service.answered(general, thread=talk)
    threads = [await ada.mention(general, question) for question in (QUESTION, NEXT_QUESTION) * 3]
    await ada.mention(general, NEXT_QUESTION, thread=talk)
    for thread in threads:
        await service.answered(general, thread=thread)
    assert NEXT_ANSWER in (await service.answered(general, 2, thread=talk))[1]
    read = [call for call in server.calls("conversations.replies") if call.carried_out]
    assert len(read) <= 1 + (time.monotonic() - begun) // 60  # Slack allows one a minute
    assert len(server.posts(general)) == len(threads) + 2


async def test_a_token_that_is_revoked_is_said_to_be_and_ends_nothing(slack_service: SlackService) -> None:
    service, server = slack_service, slack_service.server
    general, ada = service.settle_in()
    await service.start()
    asked = await service.ask(ada, general)

    hang = server.hang_next("chat.startStream")
    cut_off = await ada.mention(general, QUESTION)
    await service.until(hang.reached.is_set, "an answer that begins")
    server.revoke(service.team)
    hang.release()
    await service.until(lambda: "My access to this Slack workspace was revoked" in service.process.printed, "a word")
    async with ClientSession() as browser, browser.get(f"{service.url}healthz") as reply:
        assert reply.status == 200
    assert service.team.install is not None
    service.team.install.refusal = None
    await ada.reply(asked, NEXT_QUESTION)
    await service.answered(general, 2, thread=asked)
    assert len(server.answers(general, thread=cut_off)) <= 1
    await ada.uninstall()
    gone = "removed the app, or revoked its token"
    await service.until(lambda: gone in service.process.printed, "a word about the end")
    await server.settle()
    assert service.process.running
    assert "Traceback" not in service.process.printed


@pytest.mark.parametrize("slack_service", ["socket"], indirect=True)
async def test_channels_that_are_left_archived_or_deleted_are_dealt_with(slack_service: SlackService) -> None:
    service, server = slack_service, slack_service.server
    general, ada = service.settle_in()
    secret = server.create_channel(service.team, "secret", ada, private=True)
    await service.start()

    async def caught(place: Channel) -> None:
        """In the middle of an answer."""
        hang = server.hang_next("chat.startStream")
        await ada.mention(place, QUESTION)
        await service.until(hang.reached.is_set, "an answer that begins")
        if place is general:
            await ada.archive(place)
        else:
            await ada.remove(place)
        hang.release()

    await caught(general)
    await service.told(ada, ada.dm, "is archived")
    await caught(secret)
    await service.told(ada, ada.dm, "I can't see this channel")
    assert server.posts(general) == server.posts(secret) == []
    assert ANSWER not in server.transcript(ada.dm)

    await ada.unarchive(general)
    await ada.invite(secret)
    asked = await service.ask(ada, general)
    assert ANSWER in text_of(server.answers(general, thread=asked)[0])
    await service.ask(ada, secret)

    before = (await service.run("conversations", "list"))["conversations"]
    await ada.delete_channel(general)
    while (left := (await service.run("conversations", "list"))["conversations"]) == before:
        continue  # another process forgets
    assert left == [one for one in before if general.id not in one["thread"]]
    assert len(left) < len(before)
    assert "Traceback" not in service.process.printed
