"""The contract of CassetteRepository, on every database."""

from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

import pytest

from core.domain.features import StoredCassette
from core.errors import NotFound
from core.ports import ConversationRepository, CorpusRepository
from core.ports.service import CassetteRepository
from storage.database import Database
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.replay import SqlCassetteRepository
from tests.builders import (
    NOON,
    build_conversation,
    build_document,
    build_message,
    build_pages,
    build_passages,
    build_source,
)

GUIDE = build_document()
PAGES = build_pages(GUIDE, "The key is in the shed.")
RUN = StoredCassette(
    message_id="answer-1",
    workspace="local",
    question="Where is the key?",
    recorded_at=NOON,
    document_ids=frozenset({GUIDE.id}),
    data=b"\x00packed\xff",
)


class Store(NamedTuple):
    conversations: ConversationRepository
    corpus: CorpusRepository
    cassettes: CassetteRepository


@pytest.fixture
async def store(database: Database) -> Store:
    """With a document and a conversation of three answers."""
    made = Store(SqlConversationRepository(database), SqlCorpusRepository(database), SqlCassetteRepository(database))
    await made.corpus.save_source(build_source())
    await made.corpus.switch_revision(GUIDE, PAGES, build_passages(PAGES))
    await made.conversations.add(build_conversation(), [build_message(f"answer-{n}", "Yes.") for n in (1, 2, 3)])
    return made


async def listed(store: Store, workspace: str = "local", *, cases_only: bool = False) -> list[str]:
    return [item.message_id for item in await store.cassettes.list_cassettes(workspace, cases_only=cases_only)]


async def test_a_run_is_found_by_its_id_and_by_how_that_begins(store: Store) -> None:
    await store.cassettes.save(RUN)

    for wanted in ("answer-1", "answer"):
        found = await store.cassettes.find(wanted, "local")
        assert (found.data, found.question, found.recorded_at) == (RUN.data, RUN.question, NOON)


@pytest.mark.parametrize(
    ("wanted", "workspace"), [("answer-9", "local"), ("ans", "local"), ("answer-1", "other"), ("%nswer", "local")]
)
async def test_what_is_not_there_is_one_clear_error(store: Store, wanted: str, workspace: str) -> None:
    await store.cassettes.save(RUN)
    with pytest.raises(NotFound, match="`footnote replay` lists them"):
        await store.cassettes.find(wanted, workspace)


async def test_a_beginning_that_several_have_names_none_unless_it_is_one(store: Store) -> None:
    await store.conversations.append("c1", [build_message("answer-10", "Yes.")])
    for name in ("answer-1", "answer-10"):
        await store.cassettes.save(replace(RUN, message_id=name))

    assert (await store.cassettes.find("answer-1", "local")).message_id == "answer-1"
    with pytest.raises(NotFound):
        await store.cassettes.find("answer", "local")


async def test_they_are_listed_newest_first_without_their_data(store: Store) -> None:
    for number, hours in ((1, 0), (2, 5), (3, 2)):
        await store.cassettes.save(
            replace(RUN, message_id=f"answer-{number}", recorded_at=NOON + timedelta(hours=hours))
        )

    assert await listed(store) == ["answer-2", "answer-3", "answer-1"]
    assert await listed(store, "other") == []
    assert {item.data for item in await store.cassettes.list_cassettes("local")} == {b""}
    assert len(await store.cassettes.list_cassettes("local", limit=2)) == 2


async def test_a_case_stays_when_old_runs_go_until_it_is_none_any_more(store: Store) -> None:
    for name in ("answer-1", "answer-2"):
        await store.cassettes.save(replace(RUN, message_id=name))
    await store.cassettes.mark_case("answer-1", is_case=True)

    assert await listed(store, cases_only=True) == ["answer-1"]
    assert await store.cassettes.purge(NOON) == 0
    assert await store.cassettes.purge(NOON + timedelta(seconds=1)) == 1
    assert await listed(store) == ["answer-1"]
    await store.cassettes.mark_case("answer-1", is_case=False)
    assert await store.cassettes.purge(NOON + timedelta(seconds=1)) == 1
    with pytest.raises(NotFound):
        await store.cassettes.mark_case("answer-1", is_case=True)


async def test_a_run_that_is_saved_again_is_replaced(store: Store) -> None:
    await store.cassettes.save(RUN)
    await store.cassettes.save(replace(RUN, data=b"new", document_ids=frozenset()))

    assert (await store.cassettes.find("answer-1", "local")).data == b"new"


async def test_it_goes_with_its_conversation(store: Store) -> None:
    await store.cassettes.save(RUN)
    await store.conversations.delete("c1")

    assert await listed(store) == []


async def test_it_goes_with_a_document_whose_text_it_holds_even_a_case(store: Store) -> None:
    await store.cassettes.save(RUN)
    await store.cassettes.mark_case("answer-1", is_case=True)
    await store.corpus.remove_documents([GUIDE.id])

    assert await listed(store) == []
    with pytest.raises(NotFound):
        await store.cassettes.find("answer-1", "local")
    assert await store.cassettes.purge(NOON - timedelta(days=1)) == 0  # it went with the document


async def test_a_new_revision_of_a_document_leaves_it_as_it_is(store: Store) -> None:
    await store.cassettes.save(RUN)
    changed = replace(GUIDE, revision="r2")
    pages = build_pages(changed, "The key is gone.")
    await store.corpus.switch_revision(changed, pages, build_passages(pages))

    assert await listed(store) == ["answer-1"]


@pytest.mark.parametrize("gone", [{"message_id": "never"}, {"document_ids": frozenset({"never"})}])
async def test_a_run_of_what_is_gone_is_not_kept(store: Store, gone: dict[str, object]) -> None:
    await store.cassettes.save(replace(RUN, **gone))  # type: ignore[arg-type]

    assert await listed(store) == []
