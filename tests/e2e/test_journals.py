"""Questions about journals, whole way: synced journals of a world, agent loop, real SDK over HTTP, proof, links.

Each integration case of seed 1 is a test by its name.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.cli.app import run
from bot.cli.questions import question_message
from bot.config import Config
from bot.wiring.parts import Parts, open_parts
from bot.wiring.pipeline import build_pipeline
from core.domain.answer import Answer, AnswerStatus
from core.domain.jobs import JobKind, JobStatus
from tests.anthropic_server import AnthropicServer, Call, Cite, Fault, Reply, Say
from tests.anthropic_server.server import KEY, MODEL
from tests.copying import copy_folder
from tests.fakes import RecordingProgress

Json = dict[str, Any]
Page = tuple[str, str]  # name, HTML
LINKS = "https://vtt.example.org/game#{uuid}"
ROAD, KEEP, LONG = "saltroad00000000", "glasskeep0000000", "archive000000000"
TOLL = "The toll keeper Ilse Brandt hides a brass key in the salt barrel."
GUARD = "Corporal Wim Haas guards the glass stair and fears only moths."
ROOMS = 6


def archive_room(number: int) -> Page:
    """A long page, of which one sentence names a person; the last room names the first one's again.

    All rooms together are more than an eighth of the model's window, which a summary reads at once.
    """
    shelf = " ".join(f"Shelf {number}-{place} holds ledgers of salt and rope and nothing else." for place in range(290))
    who = number if number < ROOMS else 1
    return f"Room {number}", f"<p>Archivist Number{who} sleeps in room {number}.</p><p>{shelf}</p>"


WORLD: dict[str, tuple[str, list[Page]]] = {
    ROAD: (
        "The Salt Road",
        [
            ("Chapter 1: The Ford", "<h2>The ferry</h2><p>The ferryman Jory Pell carries no iron over the ford.</p>"),
            (
                "Chapter 2: The Toll House",
                f"<h2>Inside</h2><p>{TOLL}</p><h2>Treasure</h2><p>The strongbox holds 90 silver.</p>",
            ),
            ("Chapter 3: The Pans", "<p>Salt workers sing to keep the drowned asleep.</p>"),
        ],
    ),
    LONG: ("The Long Archive", [archive_room(number) for number in range(1, ROOMS + 1)]),
    KEEP: (
        "The Glass Keep",
        [("The stair", f"<p>{GUARD}</p>"), ("The vault", "<h2>Treasure</h2><p>The strongbox holds 40 gold.</p>")],
    ),
}


def page_id(journal: str, number: int) -> str:
    return f"{journal[:10]}page{number:02}"


def link(journal: str, number: int) -> str:
    return f"JournalEntry.{journal}.JournalEntryPage.{page_id(journal, number)}"


def write_journal(folder: Path, journal: str, name: str, pages: list[Page]) -> None:
    built = [
        {"_id": page_id(journal, number), "name": title, "type": "text", "sort": number, "text": {"content": text}}
        for number, (title, text) in enumerate(pages, start=1)
    ]
    (folder / f"{journal}.json").write_text(json.dumps({"_id": journal, "name": name, "pages": built}))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with configuration, journals, and a data directory that they are synced to."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "journals").mkdir()
    for journal, (name, pages) in WORLD.items():
        write_journal(folder / "journals", journal, name, pages)
    source = f'name = "world"\nkind = "folder"\npath = "{folder / "journals"}"\nlink_template = "{LINKS}"\n'
    (folder / "config.toml").write_text(f"[[sources]]\n{source}")
    assert run(["--config", str(folder / "config.toml"), "--data-dir", str(folder / "data"), "sync", "--json"]) == 0
    return folder


class Desk:
    """An app whose model is the test server."""

    def __init__(self, app: Parts, server: AnthropicServer) -> None:
        self.app = app
        self.server = server

    async def ask(self, text: str, **fields: Any) -> Answer:
        message = replace(question_message("local", text), **fields)
        return await build_pipeline(self.app).answer(message, RecordingProgress())

    def told(self, request: int = -1) -> str:
        """All text of a request's messages."""
        return json.dumps(self.server.requests[request]["messages"], ensure_ascii=False)


@pytest.fixture
async def desk(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    data = copy_folder(world / "data", tmp_path / "data")
    async with AnthropicServer() as server:
        settings = {"name": "anthropic", "model": MODEL, "base_url": server.url, "stall_seconds": 60, "max_retries": 0}
        async with open_parts(Config.model_validate({"data_dir": data, "provider": settings})) as app:
            yield Desk(app, server)


def asks(query: str, query_type: str = "question", **more: str) -> Reply:
    return Reply.of(Call("query_journal", {"query": query, "query_type": query_type, **more}))


def says(text: str, *quotes: str) -> Reply:
    return Reply.of(Say(text, cites=tuple(map(Cite, quotes))))


# ------------------------------------------------------------------------------------------------ seed 1


async def test_query_specific_journal(desk: Desk) -> None:
    desk.server.script(
        asks("where is the brass key", journal_name="salt road"), says("In the salt barrel.", "brass key")
    )
    answer = await desk.ask("Where is the brass key in the Salt Road?")

    [citation] = answer.citations
    assert (answer.status, answer.text) == (AnswerStatus.ANSWERED, "In the salt barrel.[1]")
    assert (citation.document_title, citation.page_number, citation.quote, citation.proved) == (
        "The Salt Road",
        2,
        TOLL,
        True,
    )
    assert citation.heading_path == ("Chapter 2: The Toll House", "Inside")
    assert citation.deep_link == f"@UUID[{link(ROAD, 2)}]"
    assert citation.url == f"https://vtt.example.org/game#{link(ROAD, 2)}"


async def test_query_without_journal_name(desk: Desk) -> None:
    desk.server.script(asks("who guards the glass stair and fears moths"), says("Wim Haas.", "Wim Haas"))
    answer = await desk.ask("Who guards the stair and fears moths?")

    assert [citation.deep_link for citation in answer.citations] == [f"@UUID[{link(KEEP, 1)}]"]
    assert "Salt Road" not in desk.told().partition("Who guards")[2]  # the catalogue before names it


async def test_summary_request(desk: Desk) -> None:
    desk.server.script(
        asks("summarise chapter 2", "summary", journal_name="The Salt Road"),
        Reply.of(
            Say("Ilse Brandt hides a key. ", cites=(Cite("Ilse Brandt"),)),
            Say("There are 90 silver.", cites=(Cite("90 silver"),)),
        ),
    )
    answer = await desk.ask("Summarise chapter 2 of the Salt Road")

    assert [citation.page_number for citation in answer.citations] == [2, 2]
    assert "90 silver" in desk.told() and "Jory Pell" not in desk.told() and "Salt workers" not in desk.told()


async def test_extraction_request(desk: Desk) -> None:
    desk.server.script(
        asks("all people", "extraction", journal_name="The Salt Road"),
        Reply.of(Say("- Jory Pell\n", cites=(Cite("Jory Pell"),)), Say("- Ilse Brandt", cites=(Cite("Ilse Brandt"),))),
    )
    answer = await desk.ask("List all NPCs of the Salt Road")

    assert [(citation.page_number, citation.url) for citation in answer.citations] == [
        (number, f"https://vtt.example.org/game#{link(ROAD, number)}") for number in (1, 2)
    ]
    assert "Jory Pell" in answer.text and "Ilse Brandt" in answer.text


async def test_followup_uses_context(desk: Desk) -> None:
    desk.server.script(asks("toll keeper", journal_name="Salt Road"), says("Ilse Brandt.", "Ilse Brandt"))
    first = await desk.ask("Who keeps the toll on the Salt Road?")
    desk.server.script(asks("silver in the strongbox"), says("90 silver.", "90 silver"))
    second = await desk.ask("And how much silver is there?", conversation_id=first.conversation_id)

    assert [citation.document_title for citation in second.citations] == ["The Salt Road"]
    assert "90 silver" in desk.told() and "40 gold" not in desk.told()


async def test_clarification_when_ambiguous(desk: Desk) -> None:
    desk.server.script(asks("what does the strongbox hold"))
    answer = await desk.ask("What is in the strongbox?")

    assert (answer.status, answer.text, answer.citations) == (AnswerStatus.CLARIFY, "Which journal do you mean?", ())
    assert set(answer.choices) == {"The Salt Road", "The Glass Keep"}
    assert len(desk.server.requests) == 1


# ------------------------------------------------------------------------------------------------ long journals


def is_section(body: Json) -> bool:
    return "one section of a longer document" in json.dumps(body["system"])


def section_reply(body: Json) -> Reply:
    """What a model notes of one room: its archivist, by the first passage."""
    text = body["messages"][0]["content"][0]["text"]
    name = text.partition("Archivist ")[2].partition(" ")[0]
    return Reply.of(Say(f"- Archivist {name}: sleeps there [1]"))


ALL = asks("all archivists", "extraction", journal_name="The Long Archive")
SUM = asks("all of it", "summary", journal_name="The Long Archive")
LISTED = Reply.of(*(Say(f"- Number{n}\n", cites=(Cite(f"Number{n} sleeps in room {n}"),)) for n in range(1, ROOMS)))


async def test_a_list_from_a_long_journal_is_complete_with_a_footnote_each(desk: Desk) -> None:
    desk.server.script(ALL, *[section_reply] * ROOMS, LISTED)
    answer = await desk.ask("List all archivists of the Long Archive")

    assert [is_section(body) for body in desk.server.requests] == [False, *[True] * ROOMS, False]
    notes = desk.told()
    assert all(notes.count(f"- Archivist Number{n}:") == 1 for n in range(1, ROOMS))
    assert [(c.page_number, c.deep_link) for c in answer.citations] == [
        (n, f"@UUID[{link(LONG, n)}]") for n in range(1, ROOMS)
    ]
    sections = [job for job in answer.jobs if job.name == "read a section"]
    [tool] = [job for job in answer.jobs if job.kind is JobKind.TOOL and job.name == "query_journal"]
    assert [job.status for job in sections] == [JobStatus.DONE] * ROOMS
    assert {job.parent_id for job in sections} == {tool.id}


async def test_the_second_summary_of_a_long_journal_reads_no_section_again(desk: Desk) -> None:
    desk.server.script(SUM, *[section_reply] * ROOMS, says("Archivists sleep.", "Number1 sleeps"))
    await desk.ask("Summarise the Long Archive")
    desk.server.script(SUM, says("They sleep.", "Number2 sleeps"))
    again = await desk.ask("Summarise the Long Archive in a word")

    assert len(desk.server.requests) == ROOMS + 4
    assert again.status is AnswerStatus.ANSWERED and "- Archivist Number5: sleeps there" in desk.told()


async def test_sections_that_fail_are_named_to_the_model_and_the_rest_is_answered_from(desk: Desk) -> None:
    desk.server.script(ALL, *[section_reply] * (ROOMS - 1), Fault(400), says("Number1.", "Number1 sleeps"))
    answer = await desk.ask("List all archivists of the Long Archive")

    assert (answer.status, len(answer.citations)) == (AnswerStatus.ANSWERED, 1)
    assert "Not read: Room " in desk.told()
    statuses = sorted(job.status for job in answer.jobs if job.name == "read a section")
    assert statuses == [*[JobStatus.DONE] * (ROOMS - 1), JobStatus.FAILED]


async def test_where_no_section_can_be_read_the_model_is_told_and_goes_on(desk: Desk) -> None:
    search = Reply.of(Call("search", {"query": "archivist sleeps in room 3"}))
    desk.server.script(ALL, *[Fault(400)] * ROOMS, search, says("Number3.", "Number3 sleeps"))
    answer = await desk.ask("List all archivists of the Long Archive")

    assert answer.status is AnswerStatus.ANSWERED and answer.citations[0].page_number == 3
    assert "too long to be shown whole and could not be read" in desk.told()


async def test_a_deep_question_has_no_tool_that_asks_a_model(desk: Desk) -> None:
    desk.server.script(Reply.of(Call("query_journal", dict(SUM.parts[0].arguments))))  # type: ignore[union-attr]
    await desk.ask("deep: Summarise the Long Archive")

    assert not any(map(is_section, desk.server.requests))
    assert "did not fit" in desk.told(1)


# ------------------------------------------------------------------------------------------------ the terminal's door


def test_without_a_model_a_footnote_opens_on_the_foundry_server(
    world: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data = copy_folder(world / "data", tmp_path / "data")
    base = ["--config", str(world / "config.toml"), "--data-dir", str(data)]
    question = "Where does the toll keeper hide the brass key?"
    capfd.readouterr()
    assert run([*base, "ask", "--json", "--journal", "Salt Road", question]) == 0
    [citation] = json.loads(capfd.readouterr().out)["citations"][:1]

    assert citation["url"] == f"https://vtt.example.org/game#{link(ROAD, 2)}"
    assert citation["deep_link"] == f"@UUID[{link(ROAD, 2)}]"
    assert run([*base, "search", "brass key salt barrel", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["hits"][0]["url"] == citation["url"]
