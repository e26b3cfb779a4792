"""The rules of a reading companion, one test each, with the real SDK over HTTP: a book, its reader and a model."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.config import Config
from bot.wiring.parts import open_parts
from core.domain.answer import AnswerStatus
from tests.anthropic_server import AnthropicServer, Call, Cite, Reply, Say
from tests.anthropic_server.server import KEY, MODEL
from tests.e2e.test_anthropic_answers import Desk

LANDING = "The ferryman Tobias waits at the landing."
STORM = "The ferry Halcyon sinks in the storm."
THIEF = "The thief was Captain Anselm."
BOOK = "\n\n".join(
    f"# Chapter {number}: Day {number}\n\n{text}" for number, text in enumerate((LANDING, STORM, THIEF), start=1)
)
SEARCH = Call("search", {"query": "Tobias ferryman landing"})
ANSWER = Reply.of(Say("Tobias waits there.", cites=(Cite(LANDING),)))


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "ferry.md").write_text(f"---\ntitle: The Ferry\n---\n{BOOK}\n", encoding="utf-8")
    async with AnthropicServer() as server:
        settings = {"name": "anthropic", "model": MODEL, "base_url": server.url, "max_retries": 0}
        config = Config.model_validate({"data_dir": tmp_path / "data", "provider": settings})
        async with open_parts(config) as app:
            await app.ingests.add(
                [tmp_path / "book"], app.workspace, source=None, kind="auto", force=False, progress=lambda _: None
            )
            yield Desk(app, server)


async def test_answer_only_from_retrieved_passages_or_prior_conversation_context(desk: Desk) -> None:
    desk.server.script(Reply.of(SEARCH), Reply.of("Tobias has a wooden leg and nine brothers."))
    answer = await desk.ask("Who is Tobias?")

    assert (answer.status, answer.citations) == (AnswerStatus.NOT_FOUND, ())
    assert "wooden leg" not in answer.text


async def test_use_the_search_tool_when_information_from_the_book_is_needed(desk: Desk) -> None:
    desk.server.script(Reply.of(SEARCH), ANSWER)
    answer = await desk.ask("Who waits at the landing?")

    assert "search" in [tool["name"] for tool in desk.server.requests[0]["tools"]]
    assert LANDING in json.dumps(desk.server.requests[1]["messages"])
    assert answer.citations[0].quote == LANDING


async def test_do_not_retrieve_when_the_answer_is_already_in_the_conversation_context(desk: Desk) -> None:
    desk.server.script(Reply.of(SEARCH), ANSWER, ANSWER)
    first = await desk.ask("Who waits at the landing?")
    second = await desk.ask("Say that again.", conversation_id=first.conversation_id)

    assert "do not search again" in json.dumps(desk.server.requests[2]["system"])
    assert [job.name for job in second.jobs].count("search") == 0
    assert second.citations[0].quote == LANDING


async def test_reformulate_search_queries_to_be_self_contained(desk: Desk) -> None:
    desk.server.script(Reply.of(SEARCH), ANSWER, Reply.of(SEARCH), ANSWER)
    first = await desk.ask("Who waits at the landing?")
    await desk.ask("And what does he do there?", conversation_id=first.conversation_id)

    asked = json.dumps(desk.server.requests[2])
    assert "understood on its own" in asked and "And what does he do there?" in asked
    assert "Tobias" in asked  # what "he" stands for is in the prompt


async def test_cite_page_numbers(desk: Desk) -> None:
    desk.server.script(Reply.of(Call("search", {"query": "Halcyon"})), Reply.of(Say("It sinks.", cites=(Cite(STORM),))))
    answer = await desk.ask("What becomes of the Halcyon?")

    assert [(item.page_number, item.heading_path) for item in answer.citations] == [(2, ("Chapter 2: Day 2",))]


async def test_do_not_reveal_content_beyond_the_readers_current_position(desk: Desk) -> None:
    told = await desk.ask("I've finished chapter 1 of The Ferry")
    assert "beyond page 1" in told.text and desk.server.requests == []
    everything = [
        Call("search", {"query": "thief Anselm Halcyon storm"}),
        Call("get_page", {"document": "The Ferry", "page_number": 3}),
        Call("query_journal", {"query": "summarise it", "query_type": "summary", "journal_name": "The Ferry"}),
        Call("get_ontology", {}),
    ]
    desk.server.script(Reply.of(*everything), ANSWER)
    answer = await desk.ask("Who was the thief?")

    sent = json.dumps(desk.server.requests)
    assert LANDING in sent
    for secret in ("Captain", "sinks", "Day 2", "Day 3"):
        assert secret not in sent and secret not in answer.text
