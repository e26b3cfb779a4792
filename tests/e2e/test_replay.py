"""`footnote replay`: what a model and its tools said is played again with the model out of reach."""

from pathlib import Path

import pytest

from bot.cli.questions import question_message
from bot.config import Config
from bot.wiring.parts import open_parts
from bot.wiring.pipeline import build_pipeline
from core.work.progress import SilentProgress
from tests.anthropic_server import AnthropicServer, Call, Cite, Reply, Say
from tests.anthropic_server.server import KEY, MODEL
from tests.e2e.conftest import Footnote

WAIT = "Wait a full minute."
SEARCH = Call("search", {"query": "restart the gate controller"})
ANSWER = Reply.of(Say("Wait one full minute first.", cites=(Cite(WAIT),)))
QUESTION = "How long before the gate controller starts again?"


async def recorded(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of an answer that the real SDK got over HTTP, from a model that is gone afterwards."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    async with AnthropicServer() as server:
        server.script(
            Reply.of("Let me look.", SEARCH), Reply.of(Say("Wait one full minute first.", cites=(Cite(WAIT),)))
        )
        settings = {"name": "anthropic", "model": MODEL, "base_url": server.url, "max_retries": 0}
        async with open_parts(Config.model_validate({"data_dir": data_dir, "provider": settings})) as app:
            answer = await build_pipeline(app).answer(question_message("local", QUESTION), SilentProgress())
    assert answer.citations
    return answer.message_id


@pytest.fixture
async def answer_id(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return await recorded(data_dir, monkeypatch)


def test_an_answer_is_made_again_without_network_and_equal_to_the_byte(answer_id: str, footnote: Footnote) -> None:
    listed = footnote("replay", "--json").json["runs"]
    shown = footnote("replay", answer_id[:10])
    played = footnote("replay", answer_id, "--json").json

    assert [(run["id"], run["question"], run["is_case"]) for run in listed] == [(answer_id, QUESTION, False)]
    assert shown.code == 0
    assert "Wait one full minute first." in shown.out and "Identical to the recorded answer." in shown.out
    assert (played["equal"], played["answer"]) == (True, "Wait one full minute first.[1]")
    assert WAIT in played["citations"][0]["quote"]


def test_a_case_is_played_by_every_evaluation_until_it_is_dropped(
    answer_id: str, footnote: Footnote, tmp_path: Path
) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text("")
    kept = footnote("replay", answer_id[:10], "--keep")
    report = footnote("eval", str(questions), "--json").json
    told = " ".join(footnote("eval", str(questions)).out.split())
    dropped = footnote("replay", answer_id, "--drop", "--json").json

    assert "is now a regression case" in kept.out
    assert report["cases"] == {"played": 1, "equal": 1, "different": []}
    assert f"case {answer_id[:8]}" in told and "as recorded, to the byte" in told
    assert dropped == {"id": answer_id, "is_case": False}
    nothing = footnote("eval", str(questions), "--json")
    assert (nothing.code, nothing.out, "holds no question" in nothing.err) == (1, "", True)


def test_what_is_asked_wrongly_is_one_clear_error(footnote: Footnote) -> None:
    for arguments, words in (
        (["nothing"], "There is no recorded run 'nothing'"),
        (["--keep"], "Missing answer ID"),
        (["x", "--keep", "--drop"], "exclude each other"),
    ):
        refused = footnote("replay", *arguments)
        assert (refused.code, words in " ".join(refused.err.split())) == (1, True), refused.err


def test_nothing_is_recorded_where_that_is_switched_off(
    footnote: Footnote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_REPLAY__RECORD", "false")
    answer = footnote("ask", QUESTION, "--json").json

    assert answer["citations"]
    assert footnote("replay", "--json").json == {"runs": []}
    assert "No recorded answers" in footnote("replay").out


def test_a_recording_goes_with_its_conversation(answer_id: str, footnote: Footnote) -> None:
    conversation = footnote("conversations", "list", "--json").json["conversations"][0]["id"]
    footnote("conversations", "delete", conversation)

    assert footnote("replay", answer_id).code == 1
