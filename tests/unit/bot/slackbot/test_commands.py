"""What stands behind the slash command, taken apart."""

import pytest

from bot.slackbot.actions.commands import read_line


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("", "help", ""),
        ("  \n", "help", ""),
        ("stop", "stop", ""),
        ("/stop", "stop", ""),
        ("STOP  ", "stop", ""),
        ("search wild  magic", "search", "wild  magic"),
        ("ask first line\nsecond line", "ask", "first line\nsecond line"),
        ("search fish &amp; chips &lt;3", "search", "fish & chips <3"),
        ("ask what does <@U1|ada> say in <#C1|general>", "ask", "what does @ada say in #general"),
        ("search <https://example.org/a|example.org/a>", "search", "https://example.org/a"),
        ("where's the key?", "where's", "the key?"),
        ("?", "?", ""),
    ],
)
def test_a_line_is_a_name_and_an_argument(text: str, name: str, argument: str) -> None:
    line = read_line(text)
    assert (line.name, line.argument) == (name, argument)
