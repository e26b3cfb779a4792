"""The real service when Discord fails, or the service itself: each question has one answer in the end."""

import signal
from collections.abc import Sequence

import pytest
from simcord.builders import ChannelHandle

from tests.discord_server import Person, text_of
from tests.e2e.discord_service import FINAL, DiscordService
from tests.e2e.platform_service import ANSWER, NEXT_ANSWER, NEXT_QUESTION, QUESTION, TEAM
from tests.e2e.serving import QUICK_END_SECONDS

pytestmark = pytest.mark.slow
POSTS = "/channels/*/messages"
EDITS = "/channels/*/messages/*"


def settle_in(service: DiscordService) -> tuple[ChannelHandle, Person]:
    """A guild with a channel and a person."""
    guild = service.join("House", TEAM)
    return guild.create_text_channel("general"), service.server.person("ada", guild)


async def test_refused_failed_and_lost_posts_end_in_one_answer_each(discord_service: DiscordService) -> None:
    service, server = discord_service, discord_service.server
    general, ada = settle_in(service)
    await service.start()

    refused = server.fail_next("POST", POSTS, 429, times=2, retry_after_seconds=0.2)
    thread = await service.ask(ada, general)
    assert (refused.met, len(server.posts(thread))) == (2, 1)

    failed = server.fail_next("POST", POSTS, 500)
    await ada.say(thread, NEXT_QUESTION)
    await service.answered(thread, 2)
    assert failed.met == 1

    server.lose_reply_of_next("POST", POSTS, status=504)  # made, but nobody is told
    await ada.say(thread, QUESTION)
    await service.answered(thread, 3)
    assert (len(server.posts(thread)), server.api.deduplicated) == (4, 1)

    server.lose_reply_of_next("POST", POSTS)
    await ada.say(thread, NEXT_QUESTION)
    await service.answered(thread, 4)
    server.lose_reply_of_next("PATCH", EDITS)
    await ada.say(thread, QUESTION)
    assert len(await service.answered(thread, 5)) == 5

    opened = server.lose_reply_of_next("POST", "/channels/*/messages/*/threads", status=504)
    other = await service.ask(ada, general)
    assert opened.met == 1
    assert len(server.answers(other)) == 1
    assert len(general.threads) == 2


async def test_what_is_said_while_the_gateway_or_the_service_is_away_is_answered_once(
    discord_service: DiscordService,
) -> None:
    service, server = discord_service, discord_service.server
    general, ada = settle_in(service)
    old = await ada.mention(general, QUESTION)  # before the bot was ever here
    await service.start()
    thread = await service.ask(ada, general)

    async with server.gateway_down():
        await ada.say(thread, NEXT_QUESTION)
    await service.answered(thread, 2)
    assert (server.gateway.identified, server.gateway.resumed) == (1, 1)

    async with server.gateway_down(resume=False):
        await ada.say(thread, QUESTION)
    await service.answered(thread, 3)
    assert server.gateway.identified == 2

    await service.stop()
    await ada.say(thread, NEXT_QUESTION)
    missed = await ada.mention(general, QUESTION)
    await service.start()
    await service.answered(thread, 4)
    other = await service.thread_on(general, missed.id)
    await service.answered(other)

    await service.restart()
    last = await service.ask(ada, general)  # by then it has read all that was said before
    assert [len(server.answers(place)) for place in (thread, other, last)] == [4, 1, 1]
    assert service.find_thread(general, old.id) is None


# Where the service is ended, by the call that hangs: question, answer, method, path, carried out before, what it says.
BEFORE_THE_POST = (NEXT_QUESTION, NEXT_ANSWER, "POST", POSTS, False, "")
POST_MADE = (QUESTION, ANSWER, "POST", POSTS, True, "")  # but nobody was told
BEING_WRITTEN = (NEXT_QUESTION, NEXT_ANSWER, "PATCH", EDITS, False, "")
ANSWER_MADE = (QUESTION, ANSWER, "PATCH", EDITS, True, FINAL)  # but the inbox does not know


@pytest.mark.parametrize(
    ("number", "moments"),
    [
        (signal.SIGKILL, (BEFORE_THE_POST, POST_MADE, BEING_WRITTEN, ANSWER_MADE)),
        (signal.SIGTERM, (BEING_WRITTEN, ANSWER_MADE)),
    ],
)
async def test_an_answer_that_a_signal_breaks_off_is_finished_in_the_same_message(
    discord_service: DiscordService,
    number: signal.Signals,
    moments: Sequence[tuple[str, str, str, str, bool, str]],
) -> None:
    service, server = discord_service, discord_service.server
    general, ada = settle_in(service)
    await service.start()
    thread = await service.ask(ada, general)

    for question, answer, method, path, after, saying in moments:
        before = server.answers(thread)
        hang = server.hang_next(method, path, after=after, saying=saying)
        await ada.say(thread, question)
        await service.until(hang.reached.is_set, f"{method} {saying}")
        begun = {message.id for message in server.answers(thread)[len(before) :]}
        assert begun or not after
        if number is signal.SIGKILL:
            await service.process.kill()
        else:
            assert await service.stop() < QUICK_END_SECONDS
        hang.release()
        await service.start()
        await service.answered(thread, len(before) + 1)
        [*earlier, last] = server.answers(thread)
        assert [message.id for message in earlier] == [message.id for message in before]
        assert begun <= {last.id}
        assert answer in text_of(last)
    assert "Traceback" not in service.process.printed
