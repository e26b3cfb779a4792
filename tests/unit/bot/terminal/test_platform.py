"""The terminal as a platform: a post is the stored answer."""

from bot.terminal.platform import TerminalPlatform
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import ThreadAddress

ADDRESS = ThreadAddress(platform="terminal", workspace="local", channel="cli", thread="t")


async def test_a_post_names_the_stored_answer_and_an_error_post_names_none() -> None:
    platform = TerminalPlatform()
    answer = Answer(status=AnswerStatus.ANSWERED, text="Here.", conversation_id="c1", message_id="m1")

    assert await platform.post(ADDRESS, "k", answer, look_first=True) == "c1/m1"
    assert await platform.fail(ADDRESS, "k", "It broke.") == ""
