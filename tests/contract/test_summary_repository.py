"""The contract of SummaryRepository, on every database."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from core.domain.corpus import document_id
from core.domain.service import SummaryKey, SummaryKind
from core.ports import ConversationRepository, CorpusRepository
from core.ports.service import SummaryRepository
from storage.database import Database
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.library_reads import IDS_PER_QUERY
from storage.database.repositories.summaries import SqlSummaryRepository
from tests.builders import build_conversation, build_document, build_pages, build_passages, build_source

GUIDE = build_document()
SOURCE = build_source()
PAGES = build_pages(GUIDE, "The key is in the shed.", "The shed is green.")


class Store(NamedTuple):
    conversations: ConversationRepository
    corpus: CorpusRepository
    summaries: SummaryRepository


@pytest.fixture
async def store(database: Database) -> Store:
    """With a document of two pages and a conversation."""
    made = Store(SqlConversationRepository(database), SqlCorpusRepository(database), SqlSummaryRepository(database))
    await made.corpus.save_source(SOURCE)
    await made.corpus.switch_revision(GUIDE, PAGES, build_passages(PAGES))
    await made.conversations.add(build_conversation())
    return made


def build_key(kind: SummaryKind = SummaryKind.DOCUMENT_LINE, **fields: Any) -> SummaryKey:
    subject = {SummaryKind.DOCUMENT_LINE: GUIDE.id, SummaryKind.SECTION: PAGES[0].id}.get(kind, "c1")
    return replace(SummaryKey(workspace="local", kind=kind, subject=subject, revision="r1"), **fields)


ALL = [build_key(kind) for kind in SummaryKind]


async def saved(store: Store) -> None:
    for key in ALL:
        await store.summaries.save(key, f"of {key.kind}")


async def test_summaries_of_every_kind_come_back_by_their_keys(store: Store) -> None:
    assert await store.summaries.find(ALL) == {}
    await saved(store)

    assert await store.summaries.find(ALL) == {key: f"of {key.kind}" for key in ALL}
    assert await store.summaries.find(ALL[:1]) == {ALL[0]: "of document_line"}
    assert await store.summaries.find([]) == {}


async def test_one_of_another_revision_is_not_found_and_the_last_saved_replaces_it(store: Store) -> None:
    old, new = build_key(), build_key(revision="r2")
    await store.summaries.save(old, "Old.")
    assert await store.summaries.find([old, new]) == {old: "Old."}
    await store.summaries.save(new, "Newer.")
    await store.summaries.save(new, "New.")

    assert await store.summaries.find([old, new]) == {new: "New."}


async def test_other_workspaces_find_none_and_can_save_none(store: Store) -> None:
    await saved(store)
    elsewhere = [replace(key, workspace="elsewhere") for key in ALL]
    for key in elsewhere:
        await store.summaries.save(key, "Theirs.")

    assert await store.summaries.find(elsewhere) == {}
    assert len(await store.summaries.find(ALL)) == len(ALL)


@pytest.mark.parametrize("kind", SummaryKind)
async def test_what_is_not_there_has_no_summary(store: Store, kind: SummaryKind) -> None:
    unknown = build_key(kind, subject="unknown")
    await store.summaries.save(unknown, "Of nothing.")

    assert await store.summaries.find([unknown]) == {}


async def test_a_removed_document_takes_its_summaries_and_those_of_its_pages(store: Store) -> None:
    await saved(store)
    await store.corpus.remove_documents([GUIDE.id])
    left = {key for key in ALL if key.subject == "c1"}
    assert set(await store.summaries.find(ALL)) == left

    await store.corpus.switch_revision(GUIDE, PAGES, build_passages(PAGES))
    assert set(await store.summaries.find(ALL)) == left


async def test_a_removed_source_takes_them_too(store: Store) -> None:
    await saved(store)
    await store.corpus.remove_source(SOURCE.id)

    assert {key.subject for key in await store.summaries.find(ALL)} == {"c1"}


async def test_pages_of_a_new_revision_begin_without_and_the_document_keeps_its_old_line(store: Store) -> None:
    await saved(store)
    changed = replace(GUIDE, revision="r2")
    pages = build_pages(changed, "The key is gone.")
    await store.corpus.switch_revision(changed, pages, build_passages(pages))

    assert SummaryKind.SECTION not in {key.kind for key in await store.summaries.find(ALL)}
    assert build_key() in await store.summaries.find(ALL)  # found by nobody who asks for the live revision


async def test_a_deleted_conversation_takes_its_summaries(store: Store) -> None:
    await saved(store)
    await store.conversations.delete("c1")

    assert {key.kind for key in await store.summaries.find(ALL)} == {SummaryKind.DOCUMENT_LINE, SummaryKind.SECTION}


async def test_those_of_a_subject_that_stays_can_be_removed(store: Store) -> None:
    await saved(store)
    for subject in ("c1", "unknown"):
        await store.summaries.remove("elsewhere", subject)
    assert len(await store.summaries.find(ALL)) == len(ALL)
    for _ in range(2):
        await store.summaries.remove("local", "c1")

    assert {key.kind for key in await store.summaries.find(ALL)} == {SummaryKind.DOCUMENT_LINE, SummaryKind.SECTION}


async def test_odd_text_is_kept_as_every_database_can(store: Store) -> None:
    odd = build_key(revision="r\x00\ud800")
    await store.summaries.save(odd, "A\x00B")

    assert await store.summaries.find([odd]) == {odd: "A\ufffdB"}


async def test_any_number_of_keys_may_be_asked_for(store: Store) -> None:
    await saved(store)
    many = [build_key(subject=document_id("local", SOURCE.id, str(number))) for number in range(IDS_PER_QUERY)]

    assert await store.summaries.find([*many, *ALL]) == {key: f"of {key.kind}" for key in ALL}


async def test_two_processes_may_save_the_same_at_once(store: Store, database_location: Path | str) -> None:
    async with AsyncExitStack() as stack:
        both = []
        for _ in range(2):
            database = await Database.open(database_location)
            stack.push_async_callback(database.close)
            both.append(SqlSummaryRepository(database))
        for revision in map(str, range(20)):
            key = build_key(revision=revision)
            await asyncio.gather(*(summaries.save(key, "Same.") for summaries in both))
        assert [await summaries.find([key]) for summaries in both] == [{key: "Same."}] * 2
