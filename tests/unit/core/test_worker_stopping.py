"""A worker that is told to stop at an odd moment."""

import asyncio

import pytest

from core.domain.audit import Deed
from core.domain.service import InboxStatus
from core.errors import StorageError
from storage.database.repositories.audit import SqlAuditLog
from tests.unit.core.service.test_worker import Office


async def test_a_moderator_can_stop_what_another_person_asked_and_it_is_noted():
    office = Office()
    await office.accept("q")
    await office.worker().cancel("q", "bob", is_moderator=True)

    assert (await office.store.find("q")).cancelled_by == "bob"
    [entry] = await SqlAuditLog(office.stores.database).newest(None, 10)
    assert (entry.note.actor, entry.note.deed, entry.note.about) == ("bob", Deed.ANSWER_STOPPED, "q")


async def test_a_worker_that_is_stopped_before_it_begins_never_begins():
    office = Office()
    await office.accept("one")
    worker = office.worker()
    working = asyncio.create_task(worker.run())
    await worker.stop()
    async with asyncio.timeout(60):
        await working
    assert await office.status("one") is InboxStatus.QUEUED


async def test_a_stop_does_not_wait_for_a_database_that_can_not_be_written(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.service.worker.POLL_SECONDS", 0.01)
    monkeypatch.setattr("core.service.worker.GRACE_SECONDS", 600)
    office, tried = Office(), asyncio.Event()

    async def broken(*args: object, **options: object) -> bool:
        tried.set()
        raise StorageError("The disk is full.")

    monkeypatch.setattr(office.store, "finish", broken)
    await office.accept("one")
    async with asyncio.timeout(60), office.working():
        await tried.wait()
    monkeypatch.undo()
    await office.store.release_abandoned()
    async with office.working():
        await office.all_done()
    assert (office.wall.posts, office.wall.looked) == ({"one": "Yes."}, [False, True])  # the next start looks for it
