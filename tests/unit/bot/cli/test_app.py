from importlib.metadata import version

import pytest
from typer.main import get_command

from bot.cli.app import COMMANDS, app, hoist_globals, run
from core.domain.answer import Answer, AnswerStatus


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["ask", "why?", "--json"], ["--json", "ask", "why?"]),
        (["ask", "--data-dir", "d", "why?"], ["--data-dir", "d", "ask", "why?"]),
        (["jobs", "list", "--workspace=w", "--json"], ["--workspace=w", "--json", "jobs", "list"]),
        (["search", "--", "--json"], ["search", "--", "--json"]),
        (["export", "--format", "json"], ["export", "--format", "json"]),
        (["ask", "--config"], ["--config", "ask"]),
    ],
)
def test_global_options_may_stand_anywhere_before_a_double_dash(given: list[str], wanted: list[str]) -> None:
    assert hoist_globals(given) == wanted


def test_a_retry_that_ends_before_its_first_step_prints_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = Answer(status=AnswerStatus.REFUSED, text="Too many questions: j1 has to wait.")
    monkeypatch.setattr("bot.cli.session.Session.call", lambda self, operation, request: refused)

    assert run(["jobs", "retry", "j1"]) == 1
    assert capsys.readouterr().err == "footnote: Too many questions: j1 has to wait.\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_summary_in_the_list_of_commands_begins_the_command_s_help(name: str) -> None:
    command = get_command(app).get_command(None, name)

    assert command.help.startswith(COMMANDS[name][1].removesuffix("."))


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"footnote {version('footnote')}\n"
