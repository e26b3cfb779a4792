"""The audit log, on every database: what is noted by the commit of the change, and what is not."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.audit import AuditNote, Deed
from core.domain.identity import ApiToken, TokenScope
from core.domain.incoming import ChannelAddress
from core.domain.kept_answers import KeptState
from core.domain.service import ChannelSettings
from core.errors import InvalidState
from storage.database import Database
from storage.database.repositories.audit import SqlAuditLog
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.identity import SqlIdentityRepository
from storage.database.repositories.kept_answers import SqlKeptAnswerRepository
from storage.database.repositories.settings import SqlSettingsRepository
from tests.builders import NOON, build_source
from tests.contract.test_kept_answer_repository import ACCEPTED, KEPT

NOTE = AuditNote(workspace="local", actor="łódź", deed=Deed.SETTING, about="language of general")
CHANNEL = ChannelAddress(platform="web", workspace="local", channel="general")


@pytest.fixture
def log(database: Database) -> SqlAuditLog:
    return SqlAuditLog(database)


async def test_a_change_is_noted_with_the_person_and_the_time(database: Database, log: SqlAuditLog) -> None:
    await SqlSettingsRepository(database).save_channel(CHANNEL, ChannelSettings(), audit=NOTE)

    [entry] = await log.newest("local", 10)
    assert entry.note == NOTE and entry.done_at.utcoffset() == timedelta(0)


async def test_a_change_that_fails_is_not_noted(database: Database, log: SqlAuditLog) -> None:
    corpus = SqlCorpusRepository(database)
    await corpus.save_source(build_source("handbook"))

    with pytest.raises(InvalidState):
        await corpus.save_source(replace(build_source("handbook"), id="another"), audit=NOTE)

    assert await log.newest(None, 10) == []


async def test_a_change_that_came_too_late_is_not_noted(database: Database, log: SqlAuditLog) -> None:
    kept = SqlKeptAnswerRepository(database)
    await kept.add(KEPT)

    assert await kept.change(ACCEPTED, was=KeptState.PROPOSED, audit=NOTE)
    assert not await kept.change(ACCEPTED, was=KeptState.PROPOSED, audit=replace(NOTE, actor="late"))

    assert [entry.note.actor for entry in await log.newest("local", 10)] == [NOTE.actor]


async def test_a_token_is_noted_once_and_its_hash_is_not(database: Database, log: SqlAuditLog) -> None:
    identity = SqlIdentityRepository(database)
    token = ApiToken(id="t1", secret_hash="a hash", person="ada", scope=TokenScope.ASK, created_at=NOON)
    await identity.add_token(token, audit=replace(NOTE, deed=Deed.TOKEN_ADDED, about="ada"))

    gone = replace(NOTE, deed=Deed.TOKEN_REVOKED, about="t1 of ada")
    assert [await identity.remove_token("t1", audit=gone) for _ in range(2)] == [True, False]

    entries = await log.newest("local", 10)
    assert [entry.note.deed for entry in entries] == [Deed.TOKEN_REVOKED, Deed.TOKEN_ADDED]
    assert "a hash" not in str(entries)


async def test_a_workspace_lists_its_own_entries_newest_first(log: SqlAuditLog) -> None:
    for number in range(3):
        await log.add(replace(NOTE, about=str(number)))
        await log.add(replace(NOTE, workspace="crew", about=f"crew {number}"))

    assert [entry.note.about for entry in await log.newest("local", 2)] == ["2", "1"]
    assert [entry.note.about for entry in await log.newest(None, 3)] == ["crew 2", "2", "crew 1"]


async def test_old_entries_are_purged(log: SqlAuditLog) -> None:
    await log.add(NOTE)
    [entry] = await log.newest("local", 1)

    kept, gone = await log.purge(entry.done_at), await log.purge(entry.done_at + timedelta(seconds=1))

    assert (kept, gone, await log.newest(None, 1)) == (0, 1, [])
