"""The search index in line with the database."""

from typing import Any

import pytest

from core.domain.corpus import Document, SearchQuery
from core.domain.ingest_report import IndexState, IngestProgress, RepairReport, ignore_progress
from core.domain.passages import IndexEntry
from storage.documents.index_repair import BATCH_PASSAGES, STAGE, compare, index_entries, repair_index
from tests.builders import build_document, build_pages, build_passages, build_scope, build_source
from tests.fakes import MemoryIndex
from tests.integration.ingest_place import Fuse, Killed
from tests.stores import Stores

NOTES, WIKI = build_source("notes"), build_source("wiki", workspace="elsewhere")
GUIDE, LOG = build_document("guide.md", NOTES, title="Guide"), build_document("log.md", WIKI)


class Shelf:
    """Two documents of two workspaces, three passages and one, in the database and in the index."""

    def __init__(self) -> None:
        self.corpus = Stores().corpus
        self.index: Any = MemoryIndex()

    async def fill(self) -> "Shelf":
        for source in (NOTES, WIKI):
            await self.corpus.save_source(source)
        await self.put(GUIDE, "A red kite.", "A blue boat.", "A grey gull.")
        await self.put(LOG, "Gale at noon.")
        return self

    async def put(self, document: Document, *texts: str) -> None:
        pages = build_pages(document, *texts)
        await self.corpus.switch_revision(document, pages, build_passages(pages))
        await self.index.add(list(index_entries(document, build_passages(pages))))

    async def found(self, text: str) -> list[str]:
        hits = await self.index.search(SearchQuery(text=text, limit=9), build_scope(NOTES))
        return [hit.page_id for hit in hits]


@pytest.fixture
async def shelf() -> Shelf:
    return await Shelf().fill()


async def test_an_index_that_holds_all_needs_nothing(shelf: Shelf) -> None:
    assert await compare(shelf.corpus, shelf.index) == IndexState(expected=4, lacking=0, incomplete=(), left_over=())
    assert await repair_index(shelf.corpus, shelf.index, ignore_progress) == RepairReport(
        documents=0, passages=0, left_over=0
    )


async def test_a_lost_index_is_made_again_as_it_was(shelf: Shelf) -> None:
    lost, shelf.index = shelf.index, MemoryIndex()
    told: list[IngestProgress] = []

    assert await repair_index(shelf.corpus, shelf.index, told.append) == RepairReport(
        documents=2, passages=4, left_over=0
    )
    assert shelf.index._entries == lost._entries
    assert {(item.done, item.total, item.stage) for item in told} == {(1, 2, STAGE), (2, 2, STAGE)}
    assert {item.path for item in told} == {"guide.md", "log.md"}


async def test_a_document_that_lacks_a_passage_is_indexed_again(shelf: Shelf) -> None:
    kept, _ = next(iter(shelf.index._entries.values()))
    shelf.index = MemoryIndex()
    await shelf.index.add([kept])

    state = await compare(shelf.corpus, shelf.index)
    assert (state.lacking, state.incomplete) == (3, (LOG.id, GUIDE.id))
    await repair_index(shelf.corpus, shelf.index, ignore_progress)
    assert await shelf.index.count() == 4
    assert (await shelf.found("boat"))[0] == "local/notes/guide.md@r1#2"


async def test_what_is_no_longer_live_is_taken_out_and_hides_nothing(shelf: Shelf) -> None:
    dead = build_document("guide.md", NOTES, revision="r0")
    await shelf.index.add(list(index_entries(dead, build_passages(build_pages(dead, "An old kite.", "Old boats.")))))
    await shelf.index.remove_document(LOG.id)

    state = await compare(shelf.corpus, shelf.index)
    assert (state.expected, state.lacking, state.incomplete) == (4, 1, (LOG.id,))
    assert state.left_over == ((GUIDE.id, "r0"),)
    assert await repair_index(shelf.corpus, shelf.index, ignore_progress) == RepairReport(
        documents=1, passages=1, left_over=1
    )
    assert await shelf.index.revisions() == await shelf.corpus.live_revisions()


@pytest.mark.parametrize("point", range(3))
async def test_killed_at_any_write_it_is_completed_by_the_next(shelf: Shelf, point: int) -> None:
    whole = shelf.index
    shelf.index = MemoryIndex()
    big = build_document("big.md", NOTES)
    pages = build_pages(big, *(f"Line {number}." for number in range(BATCH_PASSAGES)))
    await shelf.corpus.switch_revision(big, pages, build_passages(pages))
    fuse = Fuse(point)

    with pytest.raises(Killed):
        await repair_index(shelf.corpus, fuse.guard(shelf.index, "add", "remove_revision", "optimise"), ignore_progress)
    await repair_index(shelf.corpus, shelf.index, ignore_progress)

    assert await shelf.index.revisions() == await shelf.corpus.live_revisions()
    assert whole._entries.items() <= shelf.index._entries.items()


async def test_small_documents_share_a_write(shelf: Shelf) -> None:
    shelf.index, writes = MemoryIndex(), []

    class Told:
        async def add(self, entries: list[IndexEntry]) -> None:
            writes.append(len(entries))

        def __getattr__(self, name: str) -> Any:
            return getattr(shelf.index, name)

    await repair_index(shelf.corpus, Told(), ignore_progress)

    assert writes == [4]
