"""The real service is ended at each moment of an answer on Slack: the same message holds the answer in the end."""

import signal
from collections.abc import Sequence

import pytest

from tests.e2e.platform_service import ANSWER, NEXT_ANSWER, NEXT_QUESTION, QUESTION
from tests.e2e.serving import QUICK_END_SECONDS
from tests.e2e.slack_service import FINAL, SlackService
from tests.slack_server import text_of

pytestmark = pytest.mark.slow

# Where the service is ended, by the call that hangs: question, answer, method, carried out before, what it says.
JUST_HEARD = (NEXT_QUESTION, NEXT_ANSWER, "assistant.threads.setStatus", False, "")
BEFORE_THE_STREAM = (QUESTION, ANSWER, "chat.startStream", False, "")
STREAM_BEGUN = (NEXT_QUESTION, NEXT_ANSWER, "chat.startStream", True, "")  # but nobody was told
BEING_WRITTEN = (QUESTION, ANSWER, "chat.appendStream", False, "")
STREAM_ENDED = (NEXT_QUESTION, NEXT_ANSWER, "chat.stopStream", True, "")
BEFORE_THE_ANSWER = (QUESTION, ANSWER, "chat.update", False, FINAL)
ANSWER_MADE = (NEXT_QUESTION, NEXT_ANSWER, "chat.update", True, FINAL)  # but the inbox does not know

ALL = (
    JUST_HEARD,
    BEFORE_THE_STREAM,
    STREAM_BEGUN,
    BEING_WRITTEN,
    STREAM_ENDED,
    BEFORE_THE_ANSWER,
    ANSWER_MADE,
)
SOME = (BEING_WRITTEN, ANSWER_MADE)


@pytest.mark.parametrize(
    ("slack_service", "number", "moments"),
    [("socket", signal.SIGKILL, ALL), ("http", signal.SIGKILL, SOME), ("socket", signal.SIGTERM, SOME)],
    indirect=["slack_service"],
)
async def test_an_answer_that_a_signal_breaks_off_is_finished_in_the_same_message(
    slack_service: SlackService, number: signal.Signals, moments: Sequence[tuple[str, str, str, bool, str]]
) -> None:
    service, server = slack_service, slack_service.server
    general, ada = service.settle_in()
    await service.start()

    for question, answer, method, after, saying in moments:
        hang = server.hang_next(method, after=after, saying=saying)
        asked = await ada.mention(general, question)
        await service.until(hang.reached.is_set, f"{method} {saying}")
        await server.settle()
        begun = server.answers(general, thread=asked)
        if number is signal.SIGKILL:
            await service.process.kill()
        else:
            assert await service.stop() < QUICK_END_SECONDS
        hang.release()
        await service.start()
        [said] = await service.answered(general, thread=asked)
        assert answer in said
        [final] = server.answers(general, thread=asked)
        assert begun in ([], [final])

    last = await service.ask(ada, general)  # by then all that was broken off is over
    assert len({message.root for message in server.answers(general)}) == len(moments) + 1
    assert len(server.answers(general)) == len(server.posts(general)) == len(moments) + 1
    assert ANSWER in text_of(server.answers(general, thread=last)[0])
    assert "Traceback" not in service.process.printed


@pytest.mark.parametrize("slack_service", ["socket"], indirect=True)
async def test_a_private_answer_that_is_broken_off_is_one_direct_message_and_never_for_the_channel(
    slack_service: SlackService,
) -> None:
    service, server = slack_service, slack_service.server
    general, ada = service.settle_in()
    ben = server.person("ben", general)
    await service.start()

    async def is_direct(count: int) -> None:
        """What was shown in the channel for one reader's eyes can't be found again."""
        await service.until(lambda: len(service.finals(ada.dm)) == count, "the answer as a direct message")

    for count, after in enumerate((False, True), start=1):
        hang = server.hang_next("response_url", after=after, saying=FINAL)
        await ada.slash(general, f"ask {QUESTION} --private")
        await service.until(hang.reached.is_set, "the private answer")
        await service.process.kill()
        hang.release()
        await service.start()
        await is_direct(count)
        assert [ANSWER in text_of(one) for one in service.finals(ada.dm)] == [True] * count
    assert ANSWER not in server.transcript(general, ben)
    assert "Traceback" not in service.process.printed
