"""SearchIndex: the embedded engine, the local mode of the client, a real server where there is one, and the fake."""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from qdrant_client import QdrantClient

from core.domain.corpus import SearchScope, document_id
from core.ports import SearchIndex
from storage.index.index import QdrantIndex
from storage.index.opening import embedded_index, index_meta, server_index
from storage.index.server import open_local, open_memory
from tests.fakes import HashEmbedder, MemoryIndex
from tests.unit.storage.search_builders import ask, build_entry, within

SERVER_VARIABLE = "FOOTNOTE_TEST_QDRANT_URL"  # where there is none, the server's contract is not collected
COLLECTION = f"footnote-test-{uuid4()}"
GUIDE = document_id("local", "handbook", "guide.md")

LIBRARY = [
    build_entry("The dragon sleeps on a heap of gold.", ordinal=0, page=1),
    build_entry("A spyglass costs 1,000 gp in the harbour shop.", ordinal=1, page=2),
    build_entry("The harbour master hides the key under a barrel.", ordinal=2, page=3),
    build_entry("Invoices are paid within thirty days.", document="finance.md", kind="pdf", title="Finance"),
    build_entry("The dragon of the other guild is blue.", source="secret", document="secret.md"),
    build_entry("The dragon of another workspace is green.", workspace="elsewhere"),
]


SERVER = ["server"] if os.environ.get(SERVER_VARIABLE) else []


@pytest.fixture(params=["edge", "local", "memory_mode", *SERVER, "fake"])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SearchIndex]:
    opened = make_index(request.param, tmp_path)
    await opened.add(LIBRARY)
    yield opened
    await opened.close()
    if request.param == "server":
        QdrantClient(url=os.environ[SERVER_VARIABLE]).delete_collection(COLLECTION)


def make_index(engine: str, folder: Path) -> SearchIndex:
    embedder = HashEmbedder()
    meta = index_meta(embedder)
    match engine:
        case "edge":
            return embedded_index(folder, embedder)
        case "local":
            return QdrantIndex(lambda: open_local(folder, meta), embedder)
        case "memory_mode":
            return QdrantIndex(lambda: open_memory(meta), embedder)
        case "fake":
            return MemoryIndex()
    return server_index(os.environ[SERVER_VARIABLE], COLLECTION, embedder)


async def pages_found(index: SearchIndex, text: str, scope: SearchScope | None = None, **fields: object) -> list[str]:
    return [hit.page_id for hit in await index.search(ask(text, **fields), scope or within())]


def page(entry_number: int) -> str:
    return LIBRARY[entry_number].passage.page_id


async def test_the_passage_that_holds_the_words_comes_first(index: SearchIndex) -> None:
    assert (await pages_found(index, "What does a spyglass cost?"))[0] == page(1)


async def test_hits_come_best_first_and_at_most_as_many_as_asked_for(index: SearchIndex) -> None:
    hits = await index.search(ask("harbour key", limit=2), within())

    assert len(hits) == 2
    assert hits[0].page_id == page(2)
    assert hits[0].score > hits[1].score


async def test_copies_of_a_passage_come_in_the_same_order_each_time(index: SearchIndex) -> None:
    copies = [build_entry("The ferry bell was cast in Tern.", document=f"copy-{number}.md") for number in range(8)]
    await index.add(copies)

    orders = [[hit.passage_id for hit in await index.search(ask("ferry bell"), within())][:8] for _ in range(5)]

    assert orders == [sorted(entry.passage.id for entry in copies)] * 5


async def test_a_hit_says_which_passage_page_and_revision_it_is(index: SearchIndex) -> None:
    hit = (await index.search(ask("spyglass", limit=1), within()))[0]

    wanted = LIBRARY[1].passage
    assert (hit.passage_id, hit.document_id, hit.page_id, hit.revision) == (
        wanted.id,
        wanted.document_id,
        wanted.page_id,
        "r1",
    )


async def test_title_and_headings_are_searched_with_the_text(index: SearchIndex) -> None:
    await index.add(
        [build_entry("Fill in form 12.", document="leave.md", title="Holidays", heading_path=("Sickness",))]
    )

    assert (await index.search(ask("holidays", limit=1), within()))[0].document_id == document_id(
        "local", "handbook", "leave.md"
    )
    assert (await index.search(ask("sickness", limit=1), within()))[0].document_id == document_id(
        "local", "handbook", "leave.md"
    )


@pytest.mark.parametrize("text", ["", "   ", "?!", "...", "_", "😀"])
async def test_a_query_without_letter_or_digit_finds_nothing(index: SearchIndex, text: str) -> None:
    assert await index.search(ask(text), within()) == []


async def test_a_query_of_stop_words_alone_still_stays_in_scope(index: SearchIndex) -> None:
    found = await pages_found(index, "what is it")

    assert page(4) not in found
    assert page(5) not in found


async def test_nothing_outside_the_readable_sources_is_found(index: SearchIndex) -> None:
    found = await pages_found(index, "dragon")

    assert page(0) in found
    assert page(4) not in found


async def test_an_empty_set_of_sources_finds_nothing(index: SearchIndex) -> None:
    assert await index.search(ask("dragon"), SearchScope(workspace="local", sources=frozenset())) == []


async def test_nothing_of_another_workspace_is_found(index: SearchIndex) -> None:
    assert await pages_found(index, "dragon", within("handbook", workspace="elsewhere")) == [page(5)]
    assert page(5) not in await pages_found(index, "dragon")


async def test_nothing_beyond_the_reading_position_is_found(index: SearchIndex) -> None:
    found = await pages_found(index, "harbour", within(**{GUIDE: 2}))

    assert page(1) in found
    assert page(2) not in found
    assert page(3) in found  # documents without a position are open to their end


async def test_nothing_of_a_hidden_document_is_found(index: SearchIndex) -> None:
    found = await pages_found(index, "harbour", replace(within(**{GUIDE: 2}), hidden=frozenset({GUIDE})))

    assert page(1) not in found
    assert page(3) in found


async def test_a_position_hides_better_matches_instead_of_crowding_out_what_may_be_read(index: SearchIndex) -> None:
    later = [build_entry("harbour harbour harbour", ordinal=n, page=9) for n in range(10, 90)]
    await index.add(later)

    found = await pages_found(index, "harbour", within(**{GUIDE: 2}), limit=5)

    assert page(1) in found
    assert later[0].passage.page_id not in found


async def test_filters_narrow_to_a_kind_and_to_documents(index: SearchIndex) -> None:
    assert await pages_found(index, "gold", kind="pdf") == [page(3)]
    assert set(await pages_found(index, "invoices", document_ids=frozenset({GUIDE}))) == {page(0), page(1), page(2)}
    assert await pages_found(index, "gold", kind="epub") == []


async def test_a_filter_does_not_widen_the_scope(index: SearchIndex) -> None:
    secret = document_id("local", "secret", "secret.md")

    assert await pages_found(index, "dragon", document_ids=frozenset({secret})) == []


async def test_adding_a_passage_again_replaces_it(index: SearchIndex) -> None:
    before = await index.count()

    await index.add([build_entry("The dragon sleeps on a heap of silver.", ordinal=0, page=1)])

    assert await index.count() == before
    assert (await pages_found(index, "silver", limit=1)) == [page(0)]


async def test_adding_nothing_changes_nothing(index: SearchIndex) -> None:
    await index.add([])

    assert await index.count() == len(LIBRARY)


async def test_removing_a_revision_leaves_the_others(index: SearchIndex) -> None:
    await index.add([build_entry("The dragon sleeps on silver.", revision="r2")])

    await index.remove_revision(GUIDE, "r1")

    assert {pair: count for pair, count in (await index.revisions()).items() if pair[0] == GUIDE} == {(GUIDE, "r2"): 1}
    assert {hit.revision for hit in await index.search(ask("dragon"), within()) if hit.document_id == GUIDE} == {"r2"}


async def test_removing_a_document_forgets_all_its_revisions(index: SearchIndex) -> None:
    await index.add([build_entry("The dragon sleeps on silver.", revision="r2")])

    await index.remove_document(GUIDE)

    assert GUIDE not in {document for document, _ in await index.revisions()}
    assert page(3) in await pages_found(index, "invoices")


async def test_removing_what_is_unknown_is_no_error(index: SearchIndex) -> None:
    await index.remove_document("nobody")
    await index.remove_revision(GUIDE, "r9")

    assert await index.count() == len(LIBRARY)


async def test_revisions_are_counted_over_all_workspaces(index: SearchIndex) -> None:
    assert await index.revisions() == Counter((e.passage.document_id, e.passage.revision) for e in LIBRARY)


async def test_optimising_loses_nothing(index: SearchIndex) -> None:
    await index.optimise()

    assert await index.count() == len(LIBRARY)
    assert (await pages_found(index, "spyglass"))[0] == page(1)


async def test_a_passage_without_any_word_can_be_stored(index: SearchIndex) -> None:
    await index.add([build_entry("--- ***", document="rule.md", title="")])

    assert await index.count() == len(LIBRARY) + 1


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("会議は毎週火曜日に東京の本社で行われます。", "東京本社"),
        ("テスト用の日本語文書です。", "日本語"),
        ("회의는 화요일에 열립니다", "화요일"),
        ("团队在北京开会", "北京"),
    ],
)
async def test_scripts_without_spaces_are_found_by_a_part_of_a_run(index: SearchIndex, text: str, query: str) -> None:
    entry = build_entry(text, document="cjk.md", title="")
    await index.add([entry])

    assert (await pages_found(index, query, limit=1)) == [entry.passage.page_id]


async def test_searches_may_run_beside_each_other_and_beside_writes(index: SearchIndex) -> None:
    writing = [index.add([build_entry(f"note {n}", document=f"n{n}.md")]) for n in range(10)]
    reading = [pages_found(index, "spyglass", limit=1) for _ in range(20)]

    *_, last = await asyncio.gather(*writing, *reading)

    assert last == [page(1)]
    assert await index.count() == len(LIBRARY) + 10


async def test_closing_twice_is_no_error(index: SearchIndex) -> None:
    for _ in range(2):
        closed = asyncio.create_task(index.close())
        await asyncio.wait({closed})
        assert closed.exception() is None
