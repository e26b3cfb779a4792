"""Kept answers: written down, ingested at once, and cited by later questions with the link of their message."""

import asyncio
from pathlib import Path

import pytest

from core.domain.chat import ToolInvocation
from core.domain.corpus import SearchScope
from core.errors import BadInput, InvalidState, StorageError
from core.keeping import KEPT_SOURCE, KeptAnswers
from core.providers.scripted import calls, says
from tests.builders import build_source
from tests.fakes import ManualClock
from tests.integration.ingest_place import counts
from tests.integration.platform_files import Files
from tests.unit.core.shelf import Shelf
from tests.unit.core.test_answering import Desk

LINK = "https://chat.example/channels/1/2/3"


class Journal:
    def __init__(self, folder: Path, files: Files | None = None) -> None:
        self.folder = folder
        self.files = files or Files()
        self.kept = KeptAnswers(corpus=self.files.corpus, ingest=self.files.ingest, folder=folder, clock=ManualClock())

    async def keep(self, answer: str = "It hangs under the stairs.", link: str = LINK, **fields: object):
        values = {"workspace": "local", "question": "Where is the key?", "by": "Ada", **fields}
        return await self.kept.keep(answer=answer, link=link, **values)

    async def pages(self, workspace: str = "local") -> list[tuple[str, str | None]]:
        source = await self.files.corpus.find_source(workspace, KEPT_SOURCE)
        scope = SearchScope(workspace=workspace, sources=frozenset({source.id}))
        [document] = await self.files.corpus.list_documents(workspace)
        return [(page.text, page.deep_link) for page in await self.files.corpus.list_pages(document.id, scope)]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "kept")


async def test_a_kept_answer_is_a_page_of_the_workspaces_own_document(journal: Journal) -> None:
    kept = await journal.keep()

    assert (kept.document.title, kept.document.source, kept.document.kind) == ("Kept answers", KEPT_SOURCE, "kept")
    assert (kept.title, kept.replaced) == ("Where is the key?", False)
    text = "## Where is the key?\n\nIt hangs under the stairs.\n\nKept by Ada on 2026-03-01."
    assert await journal.pages() == [(text, LINK)]


async def test_the_same_message_again_is_replaced_and_another_is_added(journal: Journal) -> None:
    await journal.keep()
    await journal.keep("On the door.", f"{LINK}4", question="And the lock?")
    again = await journal.keep("It hangs on the hook.")

    assert again.replaced
    assert [(text.split("\n\n")[1], link) for text, link in await journal.pages()] == [
        ("It hangs on the hook.", LINK),
        ("On the door.", f"{LINK}4"),
    ]
    assert [counts(report) for report in journal.files.reports] == [(1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (0, 1, 0, 0, 0)]


async def test_numbers_of_footnotes_are_taken_out_of_our_own_answers_alone(journal: Journal) -> None:
    await journal.keep("It hangs under the stairs [1][2].", is_ours=True)
    await journal.keep("Use items[1].", f"{LINK}4")

    assert [text.split("\n\n")[1] for text, _ in await journal.pages()] == [
        "It hangs under the stairs.",
        "Use items[1].",
    ]


async def test_answers_kept_at_once_are_all_kept(journal: Journal) -> None:
    await asyncio.gather(*(journal.keep(f"Answer {n}.", f"{LINK}{n}") for n in range(5)))

    assert sorted(text.split("\n\n")[1] for text, _ in await journal.pages()) == [f"Answer {n}." for n in range(5)]
    assert [path.name for path in journal.folder.rglob("*") if path.is_file()] == ["Kept answers.md"]


async def test_each_workspace_has_its_own(journal: Journal) -> None:
    await journal.keep("Ours.")
    await journal.keep("Theirs.", workspace="../elsewhere")

    assert [text.split("\n\n")[1] for text, _ in await journal.pages("../elsewhere")] == ["Theirs."]
    assert [text.split("\n\n")[1] for text, _ in await journal.pages()] == ["Ours."]
    assert [path.parent.parent for path in journal.folder.rglob("*.md")] == [journal.folder] * 2


async def test_it_goes_on_where_another_process_left_off(journal: Journal) -> None:
    await journal.keep("First.")
    await Journal(journal.folder, journal.files).keep("Second.", f"{LINK}4")

    assert len(await journal.pages()) == 2


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"link": "javascript:alert(1)"}, "no web address"),
        ({"link": "https://a.example/ -->"}, "no web address"),
        ({"answer": " \n…"}, "no text"),
        ({"answer": "[1]", "is_ours": True}, "no text"),
    ],
)
async def test_what_can_not_be_kept_is_refused_and_nothing_is_written(journal: Journal, fields, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        await journal.keep(**fields)
    assert not journal.folder.exists()


async def test_a_source_of_the_same_name_is_left_alone(journal: Journal) -> None:
    await journal.files.corpus.save_source(build_source(KEPT_SOURCE))
    with pytest.raises(InvalidState):
        await journal.keep()


async def test_a_folder_that_can_not_be_written_is_one_clear_sentence(journal: Journal) -> None:
    journal.folder.write_text("a file")
    with pytest.raises(StorageError, match="can't be kept"):
        await journal.keep()


async def test_a_later_question_cites_it_with_the_link_of_its_message(tmp_path: Path) -> None:
    shelf = Shelf()
    await shelf.add("garden.md", "# Garden\n\nThe garden has a shed.", title="Garden")
    await Journal(tmp_path, Files(shelf.corpus, shelf.index)).keep()
    search = calls(ToolInvocation(id="t1", name="search", arguments={"query": "where hangs the key"}))
    answer = await Desk(shelf, search, says("It hangs under the stairs [1].")).ask()

    [citation] = answer.citations
    assert (citation.document_title, citation.url, citation.deep_link) == ("Kept answers", LINK, None)
    assert "under the stairs" in citation.quote
