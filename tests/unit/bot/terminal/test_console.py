"""Text from documents and file names is shown, never obeyed."""

import io

import pytest
from rich.text import Text

from bot.terminal.console import PlainConsole, one_line


def shown(text: str) -> str:
    out = io.StringIO()
    PlainConsole(file=out, width=80).print(Text(text))
    return out.getvalue().rstrip("\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]8;;http://x\x07link", "␛]8;;http://xlink"),  # rich leaves bells out itself
        ("a\x00b\x7f", "a␀b␡"),
        ("\x9b31m", "\ufffd31m"),
        ("\u202egpj.exe", "\ufffdgpj.exe"),
        *((f"{mark}gpj.exe", "\ufffdgpj.exe") for mark in "\u202a\u202b\u202c\u202d\u2066\u2067\u2068\u2069"),
        *((f"{mark}gpj.exe", "gpj.exe") for mark in "\u061c\u200e\u200f\u206a\u206f"),
        ("two\nlines", "two\nlines"),
        ("[red]x[/red] – 🎲", "[red]x[/red] – 🎲"),
    ],
)
def test_control_characters_are_shown_as_pictures(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_a_terminal_still_gets_its_own_styles() -> None:
    out = io.StringIO()
    PlainConsole(file=out, force_terminal=True, color_system="standard").print(Text("x\x1b", style="red"))

    assert out.getvalue() == "\x1b[31mx␛\x1b[0m\n"


def test_a_name_takes_one_line() -> None:
    assert one_line("a\nb\tc\rd") == "a␊b␉c␍d"
