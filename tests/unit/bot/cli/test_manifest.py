"""`footnote manifest slack`: YAML for people, JSON for scripts, for either transport."""

import json
from pathlib import Path

import pytest
import yaml

from bot.cli.app import run
from bot.slackbot.events.manifest import build_manifest

URL = "https://notes.example"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("FOOTNOTE_WEB__PUBLIC_URL", "FOOTNOTE_SLACK__TRANSPORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_it_prints_yaml_that_reads_back_as_the_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["manifest", "slack"]) == 0
    assert yaml.safe_load(capsys.readouterr().out) == build_manifest(by_socket=True, url=None)


def test_json_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["manifest", "slack", "--url", f"{URL}/", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == build_manifest(by_socket=False, url=URL)


def test_the_configuration_says_what_the_command_line_does_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_WEB__PUBLIC_URL", URL)
    run(["manifest", "slack", "--json"])
    by_socket = json.loads(capsys.readouterr().out)
    monkeypatch.setenv("FOOTNOTE_SLACK__TRANSPORT", "http")
    run(["manifest", "slack", "--json"])

    assert by_socket == build_manifest(by_socket=True, url=URL)
    assert json.loads(capsys.readouterr().out) == build_manifest(by_socket=False, url=URL)


@pytest.mark.parametrize("url", ["http://notes.example", "notes.example", ""])
def test_an_address_that_slack_refuses_is_one_sentence(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["manifest", "slack", "--url", url]) == 1
    told = capsys.readouterr()

    assert told.out == ""
    assert told.err.startswith("footnote: ")
    assert told.err.count("\n") == 1
