"""Entries whose message was edited or deleted meanwhile end without a post, whatever state they are in."""

import asyncio
from dataclasses import replace

import pytest

from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import IncomingMessage
from core.domain.service import ACCEPTED, WITHDRAWN, InboxEntry, InboxStatus
from core.errors import BadInput
from core.service.inbox import Inbox
from core.service.worker import Worker
from tests.fakes import RealClock
from tests.unit.core.service.test_worker import Gate, Office, failing, message


def edited(text: str = "What now?", version: str = "2", key: str = "q") -> IncomingMessage:
    return replace(message(text), event_key=f"{key}@{version}", message_key=key)


def door(office: Office, worker: Worker) -> Inbox:
    return Inbox(office.store, (), RealClock(), worker.wake, worker.withdraw)


async def test_an_edit_ends_the_earlier_version_while_it_runs_and_only_the_new_one_is_posted():
    office = Office()
    gate = office.answers.behaviour["q"] = Gate()
    await office.accept("q", "next")
    async with office.working() as worker:
        await gate.reached.wait()
        await door(office, worker).receive(edited())
        await office.all_done()
    assert office.wall.posts == {"q": "Yes.", "next": "Yes."}
    assert (office.wall.raw["q"], office.wall.looked) == (1, [False, True])
    assert office.answers.started == ["q", "next", "What now?"]
    assert "q" not in office.answers.stored
    assert await office.status("q") is InboxStatus.CANCELLED
    assert await office.status("q@2") is InboxStatus.DONE


async def test_what_ends_the_versions_before_a_new_one_leaves_that_one_alone():
    office = Office()
    gate = office.answers.behaviour["q"] = Gate()
    await office.accept("q")
    async with office.working() as worker:
        await gate.reached.wait()
        [entry] = worker.running
        worker.withdraw("q", entry.seq)
        gate.opened.set()
        await office.all_done()
    assert office.wall.posts == {"q": "Let through."}


async def test_an_edit_of_a_question_that_waits_is_answered_alone():
    office = Office()
    gate = office.answers.behaviour["first"] = Gate()
    await office.accept("first", "q")
    async with office.working() as worker:
        await gate.reached.wait()
        for version in ("2", "3"):
            await door(office, worker).receive(edited(f"Version {version}?", version))
        gate.opened.set()
        await office.all_done()
    assert office.answers.started == ["first", "Version 3?"]
    assert (office.wall.raw, office.wall.posts["q"]) == ({"first": 1, "q": 1}, "Yes.")


async def test_an_edit_while_the_answer_is_being_posted_comes_after_it():
    office, reached, opened = Office(), asyncio.Event(), asyncio.Event()
    post = office.wall.post

    async def slow(*args: object, **options: object) -> str:
        reached.set()
        await opened.wait()
        return await post(*args, **options)

    office.wall.post = slow
    office.answers.behaviour["What now?"] = lambda attempt: asyncio.sleep(0, "The new answer.")
    await office.accept("q")
    async with office.working() as worker:
        await reached.wait()
        await door(office, worker).receive(edited())
        opened.set()
        await office.all_done()
    assert office.wall.posts == {"q": "The new answer."}
    assert office.wall.looked == [False, True]
    assert await office.status("q") is InboxStatus.DONE


async def test_an_edit_reaches_another_process_with_its_next_beat():
    office = Office(lease_seconds=1)
    gate = office.answers.behaviour["q"] = Gate()
    await office.accept("q")
    elsewhere = Office(office.stores)
    async with office.working():
        await gate.reached.wait()
        await elsewhere.store.accept(edited(), ACCEPTED)
        await office.all_done()
    assert (office.wall.posts, office.wall.raw["q"]) == ({"q": "Yes."}, 1)
    assert list(office.answers.stored) == ["What now?"]


async def test_a_crash_after_the_edit_leaves_one_post_with_the_new_answer():
    office = Office()
    await office.accept("q")
    await office.store.claim(1, {"web"})
    await office.answers.settle(message("q"), Answer(status=AnswerStatus.ANSWERED, text="Made before the edit."))
    await office.wall.post(message("q").address, "q", office.answers.stored["q"], look_first=False)
    await office.store.accept(edited(), ACCEPTED)
    await office.store.release_abandoned()
    async with office.working():
        await office.all_done()
    assert office.wall.posts == {"q": "Yes."}
    assert office.wall.looked == [False, True]
    assert await office.status("q") is InboxStatus.CANCELLED


async def test_what_is_withdrawn_and_had_failed_for_good_posts_no_error():
    office = Office()
    office.answers.behaviour["q"] = failing(99, BadInput("No."))
    office.wall.failures = 1
    await office.accept("q")
    await office.store.claim(1, {"web"})
    await office.store.retry(1, delay_seconds=0, error="No.", final_error="No.")
    await office.store.cancel("q", WITHDRAWN)
    async with office.working():
        await office.all_done()
    assert (office.wall.posts, office.wall.failures) == ({}, 1)
    assert await office.status("q") is InboxStatus.CANCELLED


async def test_a_deleted_question_that_its_asker_had_stopped_ends_silently():
    office = Office()
    gate = office.answers.behaviour["first"] = Gate()
    await office.accept("first", "q")
    async with office.working() as worker:
        await gate.reached.wait()
        await worker.cancel("q", "ada")
        await office.store.cancel("q", WITHDRAWN)
        worker.withdraw("q")
        gate.opened.set()
        await office.all_done()
    assert office.wall.posts == {"first": "Let through."}


@pytest.mark.parametrize(("by", "posts"), [(WITHDRAWN, {}), ("ada", {"q": "Stopped."})])
async def test_a_stop_between_the_claim_and_the_first_step_of_the_work_is_heeded(by, posts, monkeypatch):
    office = Office()
    worker, claim = office.worker(), office.store.claim

    async def stopped_at_once(*args: object) -> list[InboxEntry]:
        claimed = await claim(*args)
        if claimed:
            await office.store.cancel("q", by)
            asyncio.get_running_loop().call_soon(worker._stop_run, claimed[0].seq, by)
        return claimed

    monkeypatch.setattr(office.store, "claim", stopped_at_once)
    await office.accept("q")
    working = asyncio.create_task(worker.run())
    await office.all_done()
    await worker.stop()
    await working
    assert (office.wall.posts, office.answers.started, worker.running) == (posts, [], ())
    assert await office.status("q") is InboxStatus.CANCELLED
