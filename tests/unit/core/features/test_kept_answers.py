"""/keep: the last answer becomes a page of its workspace."""

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import core.features.kept_answers
from core.domain.corpus import Source
from core.domain.ingest_report import IngestReport
from core.domain.kept_answers import KeptSection
from core.domain.service import TO_THE_END, PersonAddress
from core.errors import BadInput
from core.features.kept_answers import KeptAnswers
from storage.database.repositories.corpus import SqlCorpusRepository
from tests.builders import build_document, build_pages
from tests.fakes import ManualClock
from tests.scripted import says
from tests.unit.core.answering.test_service import SEARCH, Desk
from tests.unit.core.library_builder import Shelf
from tests.unit.core.service.commands.counter import HERE, Counter

LINK = "https://chat.example/general/1"


class WholeFiles:
    """An ingest that reads each file of a folder as one page."""

    def __init__(self, corpus: SqlCorpusRepository) -> None:
        self._corpus = corpus

    async def __call__(
        self, source: Source, root: Path, only: str | None = None, *, kind: str | None = None
    ) -> IngestReport:
        for name, text in read_folder(root).items():
            document = build_document(name, source, title=name.removesuffix(".md"), pages=1)
            await self._corpus.switch_revision(document, build_pages(document, text), [])
        return IngestReport()


def read_folder(root: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in root.iterdir()}


@pytest.fixture
async def run(tmp_path: Path) -> Counter:
    shelf = Shelf()
    await shelf.add("house.md", "# Keys\n\nThe key hangs under the stairs.", title="House")
    desk = Desk(shelf, SEARCH, says("Under the stairs [1]."))
    kept = KeptAnswers(
        corpus=shelf.corpus,
        settings=shelf.settings,
        ingest=WholeFiles(shelf.corpus),
        folder=tmp_path,
        clock=ManualClock(),
    )
    return Counter(shelf, desk, kept=kept)


async def test_an_answer_from_a_book_that_somebody_still_reads_is_not_kept(run: Counter) -> None:
    await answer(run)
    ben = PersonAddress(workspace="local", person="ben")
    await run.shelf.settings.save_position(ben, "local/handbook/house.md", 1)
    with pytest.raises(BadInput, match="still reading"):
        await run("keep", link=LINK)
    await run.shelf.settings.save_position(ben, "local/handbook/house.md", TO_THE_END)

    assert (await run("keep", link=LINK)).is_public


async def answer(run: Counter) -> None:
    found = await run.desk.ask()
    run.conversation = await run.desk.store.get(found.conversation_id, "local")


async def test_the_last_answer_is_kept_with_its_question_its_link_and_who_kept_it(run: Counter) -> None:
    await answer(run)
    first = await run("keep", link=LINK, author_name="Ada L.")
    again = await run("keep", link=LINK, author_name="Ada L.")
    documents = await run.shelf.library.documents(await run.shelf.access.scope("local"))
    page = await run.shelf.library.page_by_number("Kept answers", 1, await run.shelf.access.scope("local"))

    assert first.is_public and first.text.startswith("Kept as “Where is the key?")
    assert again.text.startswith("Kept again")
    assert [document.title for document in documents] == ["House", "Kept answers"]
    words = ("Where is the key?", "Under the stairs", f"{LINK}#", "Kept by Ada L.")
    assert all(each in page.page.text for each in words)
    assert "[1]" not in page.page.text


async def test_there_is_nothing_to_keep_without_an_answer_a_conversation_or_a_link(run: Counter) -> None:
    with pytest.raises(BadInput, match="needs a conversation"):
        await run("keep", link=LINK)
    run.conversation = await run.begin("t1")
    with pytest.raises(BadInput, match="no answer to keep"):
        await run("keep", link=LINK)
    await answer(run)
    with pytest.raises(BadInput, match="no web address"):
        await run("keep")


async def test_an_answer_for_one_person_alone_is_not_kept_for_all(run: Counter) -> None:
    await answer(run)
    run.conversation = replace(run.conversation, address=replace(HERE, thread="private:ada"))
    with pytest.raises(BadInput, match="answer is private"):
        await run("keep", link=LINK)


async def test_keep_is_in_the_table_where_answers_can_be_kept(run: Counter) -> None:
    assert "keep" in run.commands.table
    assert "/keep" in (await run("help")).text
    assert "/keep" not in (await run("help", address=None)).text


async def test_the_next_answer_is_kept_when_the_thread_of_a_cancelled_one_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both write the same file."""
    begun, go_on, events = threading.Event(), threading.Event(), list[str]()
    put = core.features.kept_answers._put

    def slow(path: Path, new: KeptSection) -> bool:
        events.append(f"{new.title} begins")
        begun.set()
        assert go_on.wait(30)
        replaced = put(path, new)
        events.append(f"{new.title} ends")
        return replaced

    monkeypatch.setattr(core.features.kept_answers, "_put", slow)
    shelf = Shelf()
    kept = KeptAnswers(
        corpus=shelf.corpus,
        settings=shelf.settings,
        ingest=WholeFiles(shelf.corpus),
        folder=tmp_path,
        clock=ManualClock(),
    )
    first, second = (
        asyncio.create_task(kept.keep("local", question=name, answer="It is.", link=LINK + name, by="ada"))
        for name in ("One", "Two")
    )
    await asyncio.to_thread(begun.wait, 30)
    first.cancel()
    await asyncio.sleep(0.05)
    go_on.set()
    await asyncio.wait({first, second})

    assert first.cancelled()
    assert events == ["One begins", "One ends", "Two begins", "Two ends"]
