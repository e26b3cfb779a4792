"""The contract of ExtractRepository, on every database."""

from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from core.domain.corpus import Document, Page
from core.domain.extracts import Extract, Extraction, ExtractQuery, ExtractType
from core.domain.passages import Span
from core.errors import NotFound
from core.ports import CorpusRepository
from core.ports.documents import ExtractRepository
from storage.database import Database
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.extracts import SqlExtractRepository
from tests.builders import NOON, build_document, build_pages, build_passages, build_scope, build_source

HANDBOOK, SECRETS = build_source("handbook"), build_source("secrets")
SCOPE = build_scope(HANDBOOK)
ALL = ExtractQuery()


class Store(NamedTuple):
    corpus: CorpusRepository
    extracts: ExtractRepository


@pytest.fixture
async def store(database: Database) -> Store:
    made = Store(SqlCorpusRepository(database), SqlExtractRepository(database))
    await made.corpus.save_source(HANDBOOK)
    await made.corpus.save_source(SECRETS)
    return made


async def put(store: Store, *texts: str, path: str = "guide.md", **fields: Any) -> tuple[Document, list[Page]]:
    document = build_document(path, fields.pop("source", HANDBOOK), **fields)
    pages = build_pages(document, *texts)
    await store.corpus.switch_revision(document, pages, build_passages(pages))
    return document, list(pages)


def found(document: Document, page: Page, **fields: Any) -> Extract:
    """One entity on a page."""
    given: dict[str, Any] = {
        "id": f"{document.path}:{page.number}",
        "document_id": document.id,
        "document": document.path,
        "document_title": document.title,
        "source_id": document.source_id,
        "page_id": page.id,
        "page_number": page.number,
        "revision": page.revision,
        "extractor": "entities",
        "type": ExtractType.ENTITY,
        "schema": "entity/1",
        "span": Span(0, 3),
        "confidence": 0.5,
        "data": {"name": f"Thing {page.number}", "kind": "term"},
    }
    return Extract(**{**given, **fields})


def run(document: Document, extractor: str = "entities", **fields: Any) -> Extraction:
    assert document.revision is not None
    given: dict[str, Any] = {"version": 1, "revision": document.revision, "extracts": 0, "extracted_at": NOON}
    return Extraction(document_id=document.id, extractor=extractor, **{**given, **fields})


async def test_extracts_come_back_as_they_were_stored_in_the_order_of_their_places(store: Store) -> None:
    document, pages = await put(store, "one", "two")
    other, others = await put(store, "three", path="a.md")
    extracts = [found(document, pages[1]), found(document, pages[0])]
    await store.extracts.replace(run(document, extracts=2), extracts)
    await store.extracts.replace(run(other, extracts=1), [found(other, others[0])])
    assert await store.extracts.list_extracts(ALL, SCOPE) == [found(other, others[0]), extracts[1], extracts[0]]
    assert await store.extracts.counts(SCOPE) == {ExtractType.ENTITY: 3}


async def test_a_new_run_takes_the_place_of_the_extractors_last_one_alone(store: Store) -> None:
    document, pages = await put(store, "one")
    await store.extracts.replace(run(document, extracts=1), [found(document, pages[0])])
    table = found(
        document, pages[0], id="t", extractor="tables", type=ExtractType.TABLE, data={"columns": ["a"], "rows": []}
    )
    await store.extracts.replace(run(document, "tables", extracts=1), [table])
    await store.extracts.replace(run(document, version=2, error="refused: 1"), [])
    assert await store.extracts.list_extracts(ALL, SCOPE) == [table]
    assert [item.extracted_at for item in await store.corpus.list_documents("local")] == [NOON]
    assert await store.extracts.extractions("local") == [
        run(document, version=2, error="refused: 1"),
        run(document, "tables", extracts=1),
    ]
    assert await store.extracts.extractions("local", "another") == []
    assert await store.extracts.extractions("elsewhere") == []


async def test_an_old_revision_is_never_extracted_and_its_extracts_go_with_it(store: Store) -> None:
    document, pages = await put(store, "one")
    await store.extracts.replace(run(document, extracts=1), [found(document, pages[0])])
    newer, newer_pages = await put(store, "one, but new", revision="newer")
    assert newer.id == document.id
    assert await store.extracts.list_extracts(ALL, SCOPE) == []
    assert await store.extracts.counts(SCOPE) == {}
    with pytest.raises(NotFound, match="changed meanwhile"):
        await store.extracts.replace(run(document), [found(document, pages[0])])
    with pytest.raises(NotFound, match="changed meanwhile"):
        await store.extracts.replace(replace(run(document), document_id="unknown"), [])
    await store.extracts.replace(run(newer, extracts=1), [found(newer, newer_pages[0])])
    assert [item.revision for item in await store.extracts.list_extracts(ALL, SCOPE)] == ["newer"]


async def test_extracts_of_a_removed_document_are_gone(store: Store) -> None:
    document, pages = await put(store, "one")
    await store.extracts.replace(run(document, extracts=1), [found(document, pages[0])])
    await store.corpus.remove_documents([document.id])
    assert await store.extracts.list_extracts(ALL, SCOPE) == []
    assert await store.extracts.extractions("local") == []


async def test_extracts_of_some_pages_alone_can_be_asked_for(store: Store) -> None:
    document, pages = await put(store, "one", "two")
    await store.extracts.replace(run(document, extracts=2), [found(document, page) for page in pages])
    wanted = ExtractQuery(page_ids=frozenset({pages[1].id}))
    assert [item.page_number for item in await store.extracts.list_extracts(wanted, SCOPE)] == [2]


async def test_what_has_other_names_can_be_asked_for_alone(store: Store) -> None:
    document, pages = await put(store, "one", "two", "three")
    named = [
        found(document, pages[0], data={"name": "Ben", "kind": "person", "aliases": []}),
        found(document, pages[1], data={"name": "Ann", "kind": "person", "aliases": ["Annie"]}),
        found(document, pages[2], data={"title": '"aliases":["x"]'}),
    ]
    await store.extracts.replace(run(document, extracts=3), named)
    assert await store.extracts.list_extracts(ExtractQuery(with_aliases=True), SCOPE) == [named[1]]


async def test_nothing_outside_of_the_scope_is_listed_or_counted(store: Store) -> None:
    document, pages = await put(store, "one")
    secret, secrets = await put(store, "two", path="s.md", source=SECRETS)
    await store.extracts.replace(run(document, extracts=1), [found(document, pages[0])])
    await store.extracts.replace(run(secret, extracts=1), [found(secret, secrets[0])])
    assert [item.document for item in await store.extracts.list_extracts(ALL, SCOPE)] == ["guide.md"]
    assert await store.extracts.counts(SCOPE) == {ExtractType.ENTITY: 1}
    for nowhere in (replace(SCOPE, sources=frozenset()), replace(SCOPE, workspace="elsewhere")):
        assert await store.extracts.list_extracts(ALL, nowhere) == []
        assert await store.extracts.counts(nowhere) == {}


async def test_what_tells_of_pages_beyond_a_position_is_kept_back_whole(store: Store) -> None:
    document, pages = await put(store, "one", "two", "three")
    later = {"title": "Council", "decisions": [{"text": "go", "page_number": 3, "span": [0, 2]}]}
    meeting = found(document, pages[0], id="m", type=ExtractType.MEETING, data=later)
    extracts = [meeting, *(found(document, page) for page in pages)]
    await store.extracts.replace(run(document, extracts=4), extracts)
    upto = replace(SCOPE, positions={document.id: 2})
    assert [item.id for item in await store.extracts.list_extracts(ALL, upto)] == ["guide.md:1", "guide.md:2"]
    assert await store.extracts.counts(upto) == {ExtractType.ENTITY: 2}
    assert len(await store.extracts.list_extracts(ALL, SCOPE)) == 4
    hidden = replace(SCOPE, hidden=frozenset({document.id}))
    assert await store.extracts.list_extracts(ALL, hidden) == []
    assert await store.extracts.counts(hidden) == {}


async def test_filters_have_to_fit_all_and_the_limit_holds(store: Store) -> None:
    document, pages = await put(store, "one", "two")
    other, others = await put(store, "three", path="b.md")
    rows = {"columns": ["Owner"], "rows": [["Ann_O 100%"], ["Ben"]]}
    table = found(document, pages[0], id="t", type=ExtractType.TABLE, data=rows)
    await store.extracts.replace(run(document, extracts=3), [table, *(found(document, page) for page in pages)])
    await store.extracts.replace(run(other, extracts=1), [found(other, others[0])])

    async def ids(**query: Any) -> list[str]:
        return [item.id for item in await store.extracts.list_extracts(ExtractQuery(**query), SCOPE)]

    assert await ids(type=ExtractType.TABLE) == ["t"]
    assert await ids(document_ids=frozenset({other.id})) == ["b.md:1"]
    assert await ids(text="THING 2") == ["guide.md:2"]
    assert await ids(text="ann_o 100%") == ["t"]
    assert await ids(text="ann-o") == []
    assert await ids(text="n_1") == []
    assert await ids(limit=2) == ["b.md:1", "guide.md:1"]
