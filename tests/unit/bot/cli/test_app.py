import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version

import pytest
from typer.main import get_command

from bot.cli.app import COMMANDS, app, hoist_globals, run
from bot.config import Config
from bot.config.sections import WebConfig
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


def test_help_groups_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    headings = [line[:-1] for line in capsys.readouterr().out.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == ["Options", "Ask", "Library", "Run", "Look after"]


def complete(words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What `footnote` answers the shell for the last of the words."""
    asked = {"_FOOTNOTE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    code = "import sys; sys.argv[0] = 'footnote'; from bot.__main__ import main; main()"
    command = [sys.executable, "-X", "importtime", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **asked, **environment})


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("footnote do", {"documents", "doctor"}),
        ("footnote documents ", {"list", "show", "remove"}),
        ("footnote serve --", {"--port", "--host", "--help"}),
    ],
)
def test_the_shell_completes_commands_and_options(words: str, expected: set[str]) -> None:
    assert set(complete(words).stdout.split()) == expected


def test_completing_a_command_s_name_imports_no_command() -> None:
    done = complete("footnote ")
    assert set(done.stdout.split()) == set(COMMANDS)
    assert re.findall(r"bot\.cli\.(?!app|session)\w+", done.stderr) == []


@pytest.mark.parametrize(("shell", "marks"), [("bash", "complete -o default -F"), ("zsh", "#compdef footnote")])
def test_the_completion_of_a_shell_is_printed(shell: str, marks: str) -> None:
    command = [sys.executable, "-m", "bot", "--show-completion", shell]
    named = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = subprocess.run(command, capture_output=True, text=True, env=named, check=True).stdout
    assert marks.replace("footnote", "python -m bot") in shown


def test_the_example_configuration_is_printed_without_a_clone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "example"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# Footnote's configuration.")
    assert Config(**tomllib.loads(printed)) == Config()


def test_serve_takes_host_and_port_of_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[WebConfig] = []
    monkeypatch.setattr("bot.cli.serve.run_services", lambda session, load, ready: served.append(load().web))

    assert run(["serve", "--port", "0", "--host", "::1"]) == 0
    assert run(["serve"]) == 0
    assert run(["serve", "--port", "65536"]) == 2
    assert [(web.host, web.port) for web in served] == [("::1", 0), ("127.0.0.1", 8420)]


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"footnote {version('footnote')}\n"
