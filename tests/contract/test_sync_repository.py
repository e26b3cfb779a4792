"""The contract of SyncRepository, on every database."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.domain.sources import SyncResult, SyncState
from core.ports.documents import SyncRepository
from storage.database import Database
from storage.database.repositories.syncing import SqlSyncRepository

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
GOOD = SyncState(
    workspace="local",
    source="wiki",
    kind="git",
    result=SyncResult.DONE,
    started_at=NOON,
    ended_at=NOON + timedelta(seconds=3),
    good_at=NOON + timedelta(seconds=3),
    counts={"added": 2, "failed": 1},
    warnings=("One page answered 500.",),
    job_id="j1",
)
FAILED = replace(GOOD, result=SyncResult.FAILED, failing_since=NOON, error="No such branch.", warnings=(), counts={})


@pytest.fixture
def syncs(database: Database) -> SyncRepository:
    return SqlSyncRepository(database)


async def test_what_was_never_synced_has_no_state(syncs: SyncRepository) -> None:
    assert await syncs.find("local", "wiki") is None
    assert await syncs.list_states("local") == []
    await syncs.remove("local", "wiki")


async def test_the_last_state_takes_the_place_of_the_one_before(syncs: SyncRepository) -> None:
    for state in (GOOD, FAILED, replace(GOOD, kind="folder", job_id=None, good_at=None)):
        await syncs.save(state)
        assert await syncs.find("local", "wiki") == state
        assert await syncs.list_states("local") == [state]


async def test_states_are_listed_by_name_within_their_workspace(syncs: SyncRepository) -> None:
    for name in ("wiki", "Board", "notes"):
        await syncs.save(replace(GOOD, source=name))
    await syncs.save(replace(GOOD, workspace="elsewhere"))

    assert [state.source for state in await syncs.list_states("local")] == ["Board", "notes", "wiki"]
    assert [state.source for state in await syncs.list_states("elsewhere")] == ["wiki"]


async def test_a_removed_state_is_gone_and_the_others_stay(syncs: SyncRepository) -> None:
    for workspace in ("local", "elsewhere"):
        await syncs.save(replace(GOOD, workspace=workspace))
    await syncs.remove("local", "wiki")

    assert await syncs.find("local", "wiki") is None
    assert await syncs.find("elsewhere", "wiki") is not None


async def test_names_that_no_database_keeps_are_found_again(syncs: SyncRepository) -> None:
    for _ in range(2):
        await syncs.save(replace(FAILED, source="a\x00b\ud800", error="bad \x00 byte"))

    found = await syncs.find("local", "a\x00b\ud800")
    assert found is not None and found.error == "bad \ufffd byte"
