"""The worker over the in-memory inbox, with answers and a platform that do what a test says."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.jobs import JobKind, JobStatus
from core.domain.service import ACCEPTED, InboxEntry, InboxStatus
from core.errors import AccessDenied, BadInput, InvalidState, PlatformError, ProviderOverloaded, StorageError
from core.service.worker import POST_TRIES, Worker
from core.work.attempts import Attempt
from core.work.progress import SilentProgress
from core.work.retries import MOST_CRASHES
from storage.database.tables import InboxRow
from tests.fakes import RealClock
from tests.stores import Stores

Behaviour = Callable[[Attempt], Awaitable[str]]


def message(text: str, thread: str = "t") -> IncomingMessage:
    address = ThreadAddress(platform="web", workspace="local", channel="c", thread=thread)
    return IncomingMessage(address=address, author="ada", text=text, event_key=text, message_key=text)


class ScriptedAnswers:
    """Answers by name of the question; keeps what was stored, as the history does."""

    def __init__(self) -> None:
        self.behaviour: dict[str, Behaviour] = {}
        self.stored: dict[str, Answer] = {}
        self.started: list[str] = []
        self.at_once = self.most_at_once = 0

    async def answer(self, incoming: IncomingMessage, progress: object, attempt: Attempt) -> Answer:
        self.started.append(incoming.text)
        if incoming.text in self.stored:
            return self.stored[incoming.text]
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            text = await self.behaviour.get(incoming.text, failing(0, BadInput("")))(attempt)
        except asyncio.CancelledError:
            if attempt.is_stopped():
                self.stored[incoming.text] = Answer(status=AnswerStatus.STOPPED, text="Stopped.")
            raise
        finally:
            self.at_once -= 1
        return await self.settle(incoming, Answer(status=AnswerStatus.ANSWERED, text=text))

    async def leave(self, incoming: IncomingMessage) -> None:
        self.stored.pop(incoming.text, None)

    async def settle(self, incoming: IncomingMessage, answer: Answer) -> Answer:
        return self.stored.setdefault(incoming.text, answer)


class WallPlatform:
    """One post for each key; counts raw posts, and fails when it is told to."""

    name = "web"

    def __init__(self) -> None:
        self.posts: dict[str, str] = {}
        self.order: list[str] = []
        self.raw: Counter[str] = Counter()
        self.failures = 0
        self.failing: type[PlatformError] = PlatformError
        self.looked: list[bool] = []

    async def open(self, entry: InboxEntry) -> SilentProgress:
        return SilentProgress()

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> str:
        self.looked.append(look_first)
        return self._put(message_key, answer.text)

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> str:
        return self._put(message_key, f"Error: {sentence}")

    async def remove(self, entry: InboxEntry) -> None:
        self.posts.pop(entry.message_key)

    async def redact(self, entry: InboxEntry, sentence: str) -> None:
        self.posts[entry.message_key] = sentence

    def _put(self, key: str, text: str) -> str:
        if self.failures:
            self.failures -= 1
            raise self.failing("The wall is wet.")
        self.raw[key] += 1
        self.posts[key] = text
        self.order.append(key)
        return f"wall/{key}"


class Office:
    def __init__(self, stores: Stores | None = None, lease_seconds: float = 30) -> None:
        self.stores = stores or Stores()
        self.store = self.stores.inbox(RealClock(), lease_seconds)
        self.answers, self.wall = ScriptedAnswers(), WallPlatform()

    def worker(self, **options: object) -> Worker:
        return Worker(self.store, self.answers, {"web": self.wall}, RealClock(), **{"pause_scale": 0.001, **options})

    async def accept(self, *texts: str, thread: str = "t") -> None:
        for text in texts:
            await self.store.accept(message(text, thread), ACCEPTED)

    async def lease_end(self) -> datetime:
        return await self.stores.database.read(
            lambda connection: connection.scalars(select(InboxRow.lease_until)).one()
        )

    async def status(self, text: str) -> InboxStatus:
        return (await self.store.find(text)).status

    @asynccontextmanager
    async def working(self, **options: object) -> AsyncIterator[Worker]:
        worker = self.worker(**options)
        task = asyncio.create_task(worker.run())
        try:
            yield worker
        finally:
            await worker.stop()
            await task

    async def all_done(self) -> None:
        async with asyncio.timeout(60):
            while await self.store.depth():  # noqa: ASYNC110 - the store tells nobody
                await asyncio.sleep(0.005)


def failing(times: int, error: Exception) -> Behaviour:
    left = [error] * times

    async def behave(attempt: Attempt) -> str:
        if left:
            raise left.pop()
        return "At last." if times else "Yes."

    return behave


class Gate:
    """A question that waits until it is let through."""

    def __init__(self) -> None:
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    async def __call__(self, attempt: Attempt) -> str:
        self.reached.set()
        await self.opened.wait()
        return "Let through."


async def until(condition: Callable[[], bool], then: str = "") -> str:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - any condition
            await asyncio.sleep(0.005)
    return then


async def test_a_thread_is_answered_in_order_and_threads_side_by_side():
    office = Office()
    slow = office.answers.behaviour["a1"] = Gate()
    await office.accept("a1", "a2", thread="a")
    await office.accept("b1", "b2", thread="b")
    async with office.working():
        await until(lambda: "b2" in office.wall.posts)
        assert office.wall.order == ["b1", "b2"]
        slow.opened.set()
        await office.all_done()
    assert office.wall.order == ["b1", "b2", "a1", "a2"]
    assert (await office.store.find("a1")).post_ref == "wall/a1"


async def test_what_may_pass_by_itself_is_tried_again_and_posted_once():
    office = Office()
    office.answers.behaviour["q"] = failing(2, ProviderOverloaded("Busy."))
    await office.accept("q")
    async with office.working():
        await office.all_done()
    entry = await office.store.find("q")
    assert (entry.status, entry.attempts, entry.failures) == (InboxStatus.DONE, 3, 2)
    assert office.wall.posts == {"q": "At last."}
    assert office.wall.raw["q"] == 1
    assert office.wall.looked == [True]


async def test_the_last_try_is_told_that_it_is_the_last():
    office, seen = Office(), []

    async def behave(attempt: Attempt) -> str:
        seen.append((attempt.number, attempt.is_last))
        if attempt.is_last:
            return "As good as it gets."
        raise ProviderOverloaded("Busy.")

    office.answers.behaviour["q"] = behave
    await office.accept("q")
    async with office.working(tries=3):
        await office.all_done()
    assert seen == [(1, False), (2, False), (3, True)]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (BadInput("No such document."), "Error: No such document."),
        (
            KeyError("x"),
            "Error: Something went wrong in Footnote (KeyError). Try again. If it keeps happening, tell your Footnote "
            "admin.",
        ),
    ],
)
async def test_what_is_given_up_ends_in_one_clear_error_post_and_the_thread_goes_on(error, sentence):
    office = Office()
    office.answers.behaviour["q"] = failing(99, error)
    await office.accept("q", "next")
    async with office.working():
        await office.all_done()
    assert office.wall.posts == {"q": sentence, "next": "Yes."}
    assert office.wall.raw["q"] == 1
    assert (await office.status("q"), await office.status("next")) == (InboxStatus.FAILED, InboxStatus.DONE)
    assert office.answers.stored["q"].status is AnswerStatus.ERROR


async def test_a_post_the_platform_refuses_is_made_again_without_answering_again():
    office = Office()
    office.wall.failures = 2
    await office.accept("q")
    async with office.working():
        await office.all_done()
    assert (office.wall.posts, office.wall.raw["q"]) == ({"q": "Yes."}, 1)
    assert (await office.store.find("q")).failures == 2


async def test_a_post_is_one_job_however_often_it_is_tried():
    office, jobs = Office(), Stores().jobs
    office.wall.failures = 2
    await office.accept("q")
    async with office.working(jobs=jobs):
        await office.all_done()
    [post] = await jobs.list_roots("local")
    assert (post.kind, post.status, post.attempts) == (JobKind.POST, JobStatus.DONE, 3)
    assert post.output == {"post": f"wall/{post.input['message_key']}"}


async def test_the_error_post_is_tried_again_too():
    office = Office()
    office.answers.behaviour["q"] = failing(99, BadInput("No."))
    office.wall.failures = 3
    await office.accept("q")
    async with office.working():
        await office.all_done()
    assert office.wall.posts == {"q": "Error: No."}


async def test_a_platform_that_is_gone_does_not_hold_its_thread_for_ever():
    office = Office()
    office.answers.behaviour["q"] = failing(99, BadInput("No."))
    office.wall.failures = 3 + POST_TRIES
    await office.accept("q", "next")
    async with office.working():
        await office.all_done()
    assert office.wall.posts == {"next": "Yes."}
    entry = await office.store.find("q")
    assert (entry.status, entry.error) == (InboxStatus.FAILED, "No.")


async def test_a_question_that_takes_too_long_is_given_up_at_once():
    office = Office()
    office.answers.behaviour["q"] = Gate()
    await office.accept("q")
    async with office.working(timeout_seconds=0.02):
        await office.all_done()
    assert "took too long" in office.wall.posts["q"]
    assert (await office.store.find("q")).failures == 1


async def test_a_message_that_keeps_killing_the_process_is_given_up():
    office = Office()
    await office.accept("q")
    for _ in range(MOST_CRASHES):
        await office.store.claim(1, {"web"})
        await office.store.release_abandoned()
    async with office.working():
        await office.all_done()
    assert "stopped unexpectedly 10 times" in office.wall.posts["q"]
    assert office.answers.started == []


async def test_the_asker_can_stop_a_running_answer_and_the_post_says_so():
    office = Office()
    gate = office.answers.behaviour["q"] = Gate()
    await office.accept("q", "next")
    async with office.working() as worker:
        await gate.reached.wait()
        assert [entry.message_key for entry in worker.running] == ["q"]
        await worker.cancel("q", "ada")
        await office.all_done()
    assert office.wall.posts == {"q": "Stopped.", "next": "Yes."}
    assert await office.status("q") is InboxStatus.CANCELLED


async def test_a_question_that_waits_can_be_stopped_before_it_began():
    office = Office()
    gate = office.answers.behaviour["q"] = Gate()
    await office.accept("q", "next")
    async with office.working() as worker:
        await gate.reached.wait()
        await worker.cancel("next", "ada")
        gate.opened.set()
        await office.all_done()
    assert office.wall.posts == {"q": "Let through.", "next": "Stopped."}
    assert office.answers.started == ["q"]


async def test_a_stop_in_another_process_arrives_with_the_next_beat():
    office = Office(lease_seconds=1)
    gate = office.answers.behaviour["q"] = Gate()
    await office.accept("q")
    elsewhere = Office(office.stores)
    async with office.working():
        await gate.reached.wait()
        await elsewhere.worker().cancel("q", "ada")
        await office.all_done()
    assert office.wall.posts == {"q": "Stopped."}


async def test_only_the_asker_can_stop_and_only_what_is_open():
    office = Office()
    await office.accept("q")
    worker = office.worker()
    with pytest.raises(AccessDenied, match="Only ada or a moderator"):
        await worker.cancel("q", "bob")
    with pytest.raises(InvalidState, match="nothing to stop"):
        await worker.cancel("unknown", "ada")
    assert (await office.store.find("q")).cancelled_by is None


async def test_a_shutdown_is_no_cancel_and_leaves_the_work_for_the_next_start():
    office = Office()
    gate = office.answers.behaviour["q"] = Gate()
    await office.accept("q")
    async with office.working():
        await gate.reached.wait()
    entry = await office.store.find("q")
    assert (entry.status, entry.attempts, office.wall.posts, office.answers.stored) == (InboxStatus.QUEUED, 0, {}, {})
    gate.opened.set()
    async with office.working():
        await office.all_done()
    assert office.wall.posts == {"q": "Let through."}


async def test_who_lost_the_lease_posts_nothing():
    office = Office(lease_seconds=0.2)
    other = Office(office.stores)

    async def stall(attempt: Attempt) -> str:
        time.sleep(0.25)  # noqa: ASYNC251 - the whole loop stands still, and no lease is renewed
        await other.store.claim(1, {"web"})
        return "Too late."

    office.answers.behaviour["q"] = stall
    await office.accept("q")
    async with office.working():
        await until(lambda: "q" in office.answers.stored)
        await until(lambda: office.answers.at_once == 0)
    assert office.wall.posts == {}
    assert await other.store.renew([1]) == {1: None}


async def test_a_lost_lease_ends_the_work_with_the_next_beat():
    office = Office(lease_seconds=1)
    gate = office.answers.behaviour["q"] = Gate()
    await office.accept("q")
    other = Office(office.stores)
    async with office.working():
        await gate.reached.wait()
        await other.store.release_abandoned()
        await other.store.claim(1, {"web"})
        await until(lambda: office.answers.at_once == 0)
    assert (office.wall.posts, office.answers.stored) == ({}, {})
    assert await other.store.renew([1]) == {1: None}


async def test_leases_of_long_answers_are_renewed():
    office = Office(lease_seconds=2)
    gate = office.answers.behaviour["q"] = Gate()
    await office.accept("q")
    other = Office(office.stores)
    async with office.working():
        await gate.reached.wait()
        claimed_until = await office.lease_end()
        async with asyncio.timeout(60):
            while await office.lease_end() <= claimed_until + timedelta(seconds=1):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert await other.store.claim(1, {"web"}) == []
        gate.opened.set()
        await office.all_done()
    assert office.wall.posts == {"q": "Let through."}


async def test_a_crash_between_history_and_post_posts_the_stored_answer():
    office = Office()
    await office.accept("q")
    await office.store.claim(1, {"web"})
    await office.answers.settle(message("q"), Answer(status=AnswerStatus.ANSWERED, text="Made before the crash."))
    await office.store.release_abandoned()
    async with office.working():
        await office.all_done()
    assert office.wall.posts == {"q": "Made before the crash."}
    assert office.wall.looked == [True]


async def test_an_edited_question_is_answered_again_in_the_same_post():
    office = Office()
    edited = replace(message("What now?"), event_key="q@2", message_key="q")
    async with office.working() as worker:
        await office.accept("q")
        worker.wake()
        await office.all_done()
        await office.store.accept(edited, ACCEPTED)
        worker.wake()
        await office.all_done()
    assert office.answers.started == ["q", "What now?"]
    assert (office.wall.posts, office.wall.looked) == ({"q": "Yes."}, [False, True])


async def test_a_platform_that_does_not_reply_is_asked_again(monkeypatch):
    monkeypatch.setattr("core.answering.answers.posting.POST_TIMEOUT_SECONDS", 0.02)
    office = Office()
    post, hangs = office.wall.post, [True]

    async def hang_once(*args: object, **options: object) -> str:
        if hangs:
            hangs.clear()
            await asyncio.sleep(60)
        return await post(*args, **options)

    monkeypatch.setattr(office.wall, "post", hang_once)
    await office.accept("q")
    async with office.working():
        await office.all_done()
    entry = await office.store.find("q")
    assert (entry.status, entry.error) == (InboxStatus.DONE, "web did not take the post in 0.02 s.")


async def test_a_post_under_way_is_finished_before_a_shutdown():
    office = Office()
    reached, post = asyncio.Event(), office.wall.post

    async def slow(*args: object, **options: object) -> str:
        reached.set()
        await asyncio.sleep(0.05)
        return await post(*args, **options)

    office.wall.post = slow
    await office.accept("q")
    async with office.working():
        await reached.wait()
    assert (office.wall.posts, await office.status("q")) == ({"q": "Yes."}, InboxStatus.DONE)


async def test_the_worker_lives_through_a_database_that_can_not_be_written(monkeypatch):
    office = Office(lease_seconds=1)
    broke: list[str] = []

    office.answers.behaviour["q"] = lambda attempt: until(lambda: "renew" in broke, "Yes.")
    monkeypatch.setattr("core.service.worker.POLL_SECONDS", 0.01)
    for name in ("claim", "finish", "renew"):
        monkeypatch.setattr(office.store, name, _broken_at_first(getattr(office.store, name), broke))
    await office.accept("q")
    async with office.working():
        await office.all_done()
    assert office.wall.posts == {"q": "Yes."}
    assert office.wall.raw["q"] == 1
    assert sorted(broke) == ["claim", "finish", "renew"]


def _broken_at_first(call: Callable[..., Awaitable[object]], broke: list[str]) -> Callable[..., Awaitable[object]]:
    async def broken(*args: object, **options: object) -> object:
        if call.__name__ not in broke:
            broke.append(call.__name__)
            raise StorageError("The disk is full.")
        return await call(*args, **options)

    return broken
