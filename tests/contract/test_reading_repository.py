"""The contract of ReadingRepository, on every database."""

import asyncio
from datetime import date
from typing import Any, NamedTuple

import pytest

from core.domain.corpus import Document
from core.domain.extracts import ModelReading, Spending
from core.ports import CorpusRepository
from core.ports.documents import ReadingRepository
from storage.database import Database
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.readings import SqlReadingRepository
from tests.builders import NOON, build_document, build_pages, build_passages, build_source

HANDBOOK = build_source("handbook")
TODAY, TOMORROW = date(2026, 3, 4), date(2026, 3, 5)
ONCE = Spending(requests=1, tokens=1_200)


class Store(NamedTuple):
    corpus: CorpusRepository
    readings: ReadingRepository


@pytest.fixture
async def store(database: Database) -> Store:
    made = Store(SqlCorpusRepository(database), SqlReadingRepository(database))
    await made.corpus.save_source(HANDBOOK)
    return made


async def put(store: Store, path: str = "guide.md", revision: str = "r1") -> Document:
    document = build_document(path, HANDBOOK, revision=revision)
    pages = build_pages(document, "The pier opens at seven.")
    await store.corpus.switch_revision(document, pages, build_passages(pages))
    return document


def reading(document: Document, piece: str, **fields: Any) -> ModelReading:
    given = {"extractor": "model_meetings", "version": 1, "read_at": NOON, "said": ({"quote": "seven"},)}
    return ModelReading(**{"document_id": document.id, "piece": piece, **given, **fields})


async def test_readings_come_back_as_they_were_saved_by_piece_and_extractor(store: Store) -> None:
    document, other = await put(store), await put(store, "other.md")
    late = reading(document, "b", said=(), error="the answer was cut off")
    early, pages = reading(document, "a", extractor="model_pages"), reading(document, "a")
    await store.readings.save([late, early, pages, reading(other, "a")], TODAY, ONCE)
    assert await store.readings.readings(document.id) == [pages, early, late]
    assert await store.readings.readings("unknown") == []


async def test_a_piece_that_is_read_again_has_one_reading(store: Store) -> None:
    document = await put(store)
    await store.readings.save([reading(document, "a"), reading(document, "b")], TODAY, ONCE)
    newer = reading(document, "a", version=2, said=())
    await store.readings.save([newer], TODAY, ONCE)
    assert await store.readings.readings(document.id) == [newer, reading(document, "b")]


async def test_what_was_spent_adds_up_by_day_also_at_once(store: Store) -> None:
    document = await put(store)
    await asyncio.gather(*(store.readings.save([reading(document, str(n))], TODAY, ONCE) for n in range(5)))
    await store.readings.save([], TOMORROW, Spending(requests=1))
    assert await store.readings.spent(TODAY) == Spending(requests=5, tokens=6_000)
    assert await store.readings.spent(TOMORROW) == Spending(requests=1, tokens=0)
    assert await store.readings.spent(date(2026, 3, 6)) == Spending()


async def test_readings_outlast_a_revision_and_go_with_their_document(store: Store) -> None:
    document = await put(store)
    await store.readings.save([reading(document, "a")], TODAY, ONCE)
    await put(store, revision="r2")
    assert await store.readings.readings(document.id) == [reading(document, "a")]
    await store.corpus.remove_documents([document.id])
    assert await store.readings.readings(document.id) == []
    await store.readings.save([reading(document, "b")], TODAY, ONCE)
    assert await store.readings.readings(document.id) == []
    assert (await store.readings.spent(TODAY)).requests == 2


async def test_only_readings_of_pieces_that_are_still_there_are_kept(store: Store) -> None:
    document, other = await put(store), await put(store, "other.md")
    await store.readings.save([reading(document, name) for name in "abc"], TODAY, ONCE)
    await store.readings.save([reading(other, "a")], TODAY, ONCE)
    await store.readings.keep_only(document.id, {"b"})
    assert [item.piece for item in await store.readings.readings(document.id)] == ["b"]
    assert [item.piece for item in await store.readings.readings(other.id)] == ["a"]
    await store.readings.keep_only(document.id, set())
    assert await store.readings.readings(document.id) == []
