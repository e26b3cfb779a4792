"""The entry point's frame around the command line."""

import io
import sys

import pytest

import bot.cli.app
from bot.__main__ import main
from bot.cli.app import run


def leave_with(monkeypatch: pytest.MonkeyPatch, outcome: "int | BaseException") -> object:
    def fake_run(arguments: list[str]) -> int:
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    monkeypatch.setattr(bot.cli.app, "run", fake_run)
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code


def test_the_exit_code_is_that_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    assert leave_with(monkeypatch, 0) == 0
    assert leave_with(monkeypatch, 2) == 2
    assert leave_with(monkeypatch, KeyboardInterrupt()) == 130


def test_streams_that_were_closed_take_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)

    assert leave_with(monkeypatch, 0) == 0
    assert sys.stdout is not None
    for stream in (sys.stdout, sys.stderr):
        stream.close()


def test_what_an_encoding_can_not_show_becomes_an_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))

    leave_with(monkeypatch, 0)
    sys.stdout.write("…")
    sys.stdout.flush()

    assert written.getvalue() == b"\\u2026"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            OSError(28, "No space left on device"),
            1,
            "footnote: system error: [Errno 28] No space left on device\n",
        ),
        (BrokenPipeError(), 1, ""),
        (KeyboardInterrupt(), 130, "footnote: stopped\n"),
        (SystemExit(130), 130, "footnote: stopped\n"),
        (SystemExit("text"), 1, ""),
        (None, 0, ""),
    ],
)
def test_what_ends_a_command_is_said_once(
    error: BaseException | None,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fake_app(**options: object) -> None:
        if error is not None:
            raise error

    monkeypatch.setattr(bot.cli.app, "app", fake_app)

    assert run([]) == code
    assert capsys.readouterr().err == said


def test_arguments_that_are_no_text_are_refused_unless_they_name_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "\udcff"]) == 2
    assert "isn't valid UTF-8" in capsys.readouterr().err
