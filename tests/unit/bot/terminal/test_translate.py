import pytest

from bot.terminal.translate import Typed, to_typed


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
