"""The terminal as a platform: a post is the stored answer."""

import pytest

from bot.terminal.platform import TerminalPlatform, Typed, to_typed
from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import ThreadAddress

ADDRESS = ThreadAddress(platform="terminal", workspace="local", channel="cli", thread="t")


async def test_a_post_names_the_stored_answer_and_an_error_post_names_none() -> None:
    platform = TerminalPlatform()
    answer = Answer(status=AnswerStatus.ANSWERED, text="Here.", conversation_id="c1", message_id="m1")

    assert await platform.post(ADDRESS, "k", answer, look_first=True) == "c1/m1"
    assert await platform.fail(ADDRESS, "k", "It broke.") == ""


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("  Where is it? ", Typed(question="Where is it?")),
        ("", Typed()),
        ("quit", Typed(leave=True)),
        ("EXIT", Typed(leave=True)),
        ("/quit", Typed(leave=True)),
        ("/Rename  New title ", Typed(command="rename", argument="New title")),
        ("/", Typed(command="help")),
        ("how do I quit smoking?", Typed(question="how do I quit smoking?")),
    ],
)
def test_a_line_is_a_question_a_command_or_the_end(line: str, typed: Typed) -> None:
    assert to_typed(line) == typed
