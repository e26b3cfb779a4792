import asyncio
from importlib.metadata import version
from types import SimpleNamespace

import pytest

from bot.cli.app import hoist_globals, run
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


def test_a_question_asked_again_that_ends_before_any_step_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class RefusedJobs:
        async def retry(self, job_id: str, workspace: str, progress: object) -> Answer:
            return Answer(status=AnswerStatus.REFUSED, text=f"Too many questions: {job_id} has to wait.")

    app = SimpleNamespace(jobs=RefusedJobs(), workspace="local")
    monkeypatch.setattr("bot.cli.session.Session.run", lambda self, work: asyncio.run(work(app)))

    assert run(["jobs", "retry", "j1"]) == 1
    assert capsys.readouterr().err == "footnote: Too many questions: j1 has to wait.\n"


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"footnote {version('footnote')}\n"
