"""The contract of InboxStore, on every database."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from sqlalchemy import text

from core.answering.answers.stored import stored_ids
from core.domain.answer import QueryType
from core.domain.incoming import IncomingMessage, Talk, ThreadAddress, event_key, message_key
from core.domain.service import ACCEPTED, NO_ANSWER, WITHDRAWN, Decision, InboxStatus, PostFate
from core.ports.service import InboxStore
from storage.database import Database
from storage.database.repositories import inbox as inbox_module
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.inbox import SqlInboxStore
from storage.database.repositories.jobs import SqlJobRepository
from tests.builders import NOON, build_conversation, build_job
from tests.fakes import ManualClock

NO = Decision(code="no", sentence="Not here.", accepted=False)
WEB = frozenset({"web"})
LEASE = 30.0  # seconds

StoreFactory = Callable[..., InboxStore]
Pass = Callable[[float], Awaitable[None]]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def time_passes(database: Database, clock: ManualClock) -> Pass:
    """Lets so many seconds pass. On PostgreSQL, whose own clock counts, the times that are set move back instead."""
    earlier = text(
        "UPDATE inbox SET lease_until = lease_until - make_interval(secs => :seconds), "
        "waits_until = waits_until - make_interval(secs => :seconds)"
    )

    async def let_pass(seconds: float) -> None:
        clock.advance(seconds)
        if database is not None and database.is_postgres:
            await database.write(lambda connection: connection.execute(earlier, {"seconds": seconds}))

    return let_pass


@pytest.fixture
def new_store(database: Database, clock: ManualClock) -> StoreFactory:
    """Makes stores over one inbox: each is an owner of its own, as each process is."""

    def make() -> InboxStore:
        return SqlInboxStore(database, clock, LEASE)

    return make


@pytest.fixture
def store(new_store: StoreFactory) -> InboxStore:
    return new_store()


def incoming(id: str = "1", *, thread: str = "t", platform: str = "web", edit: str = "", **fields: object):
    address = ThreadAddress(platform=platform, workspace="local", channel="c", thread=thread)
    values = {"author": "ada", "text": f"Question {id}?", **fields}
    return IncomingMessage(
        address=address, event_key=event_key(address, id, edit), message_key=message_key(address, id), **values
    )


async def accept(store: InboxStore, *messages: IncomingMessage) -> list[int]:
    return [(await store.accept(message, ACCEPTED))[0].seq for message in messages]


async def claim(store: InboxStore, limit: int = 10) -> list[str]:
    return [entry.incoming.text for entry in await store.claim(limit, WEB)]


async def test_an_entry_comes_back_as_it_went_in(store):
    message = incoming(
        query_type=QueryType.SUMMARY, position="3", conversation_id="c1", document="d", metadata={"a": "ü"}
    )
    entry, is_new = await store.accept(message, ACCEPTED)
    assert is_new
    assert (entry.incoming, entry.decision, entry.status) == (message, ACCEPTED, InboxStatus.QUEUED)
    assert (entry.attempts, entry.failures, entry.finished_at, entry.message_key) == (0, 0, None, "web:local:c:1")
    assert await store.find(message.event_key) == entry
    assert await store.find("unknown") is None


async def test_a_repeated_event_changes_nothing_and_an_edit_is_another_event(store):
    first, _ = await store.accept(incoming(), ACCEPTED)
    again = await store.accept(incoming(text="Something else?"), NO)
    edited, is_new = await store.accept(incoming(edit="2"), ACCEPTED)
    assert again == (first, False)
    assert is_new
    assert [entry.seq for entry in await store.find_open("web:local:c:1")] == [first.seq, edited.seq]


LEFT = Decision(code="needs_mention", sentence="Mention me.", accepted=False)


async def test_what_was_overheard_is_an_entry_for_every_later_read_and_write(store):
    store.overhear(incoming("1", text="Said to people."), LEFT)
    [entry] = await store.recent("local")
    assert (entry.decision, entry.status, entry.incoming.text) == (LEFT, InboxStatus.REFUSED, "")
    store.overhear(incoming("2"), LEFT)
    later, _ = await store.accept(incoming("3"), ACCEPTED)
    assert [found.message_key[-1] for found in await store.recent("local")] == ["3", "2", "1"]
    assert later.seq > entry.seq


async def test_of_a_message_with_a_known_version_nothing_is_overheard(store):
    await store.accept(incoming("1", edit="2"), ACCEPTED)
    for _ in range(2):
        store.overhear(incoming("1"), LEFT)
        store.overhear(incoming("2"), LEFT)
    assert [entry.decision for entry in await store.list_versions("web:local:c:1")] == [ACCEPTED]
    assert [entry.decision for entry in await store.list_versions("web:local:c:2")] == [LEFT]


async def test_an_accepted_edit_withdraws_the_open_versions_before_it_and_no_other(store):
    await accept(store, incoming("1"), incoming("2"), incoming("1", edit="2"))
    assert [entry.cancelled_by for entry in await store.find_open("web:local:c:1")] == [WITHDRAWN, None]
    await store.accept(incoming("1", edit="3"), NO)
    await accept(store, incoming("1", edit="2"))
    assert [entry.cancelled_by for entry in await store.find_open("web:local:c:1")] == [WITHDRAWN, None]
    assert [entry.cancelled_by for entry in await store.find_open("web:local:c:2")] == [None]


async def test_what_has_ended_is_not_withdrawn_and_its_version_stays_listed(store):
    [first] = await accept(store, incoming("1"))
    await store.claim(1, WEB)
    await store.finish(first, InboxStatus.DONE, post_ref="c/9")
    await accept(store, incoming("1", edit="2"))
    await store.accept(incoming("1", edit="3"), NO)
    versions = await store.list_versions("web:local:c:1")
    assert [(entry.status, entry.post_ref, entry.cancelled_by) for entry in versions] == [
        (InboxStatus.DONE, "c/9", None),
        (InboxStatus.QUEUED, None, None),
        (InboxStatus.REFUSED, None, None),
    ]
    assert await store.list_versions("unknown") == []


async def test_what_is_refused_is_final_and_its_text_is_not_kept(store):
    entry, is_new = await store.accept(incoming(), NO)
    assert is_new
    assert (entry.status, entry.decision, entry.incoming.text) == (InboxStatus.REFUSED, NO, "")
    assert entry.finished_at is not None
    assert await claim(store) == []


async def test_many_repeats_at_once_are_one_entry(store):
    results = await asyncio.gather(*(store.accept(incoming(), ACCEPTED) for _ in range(20)))
    assert sum(is_new for _, is_new in results) == 1
    assert len({entry.seq for entry, _ in results}) == 1


async def test_each_thread_gives_its_first_entry_and_the_next_when_that_has_ended(store):
    await accept(store, incoming("1"), incoming("2"), incoming("3", thread="u"))
    assert await claim(store) == ["Question 1?", "Question 3?"]
    assert await claim(store) == []
    first = await store.find("web:local:c:1")
    assert (first.status, first.attempts) == (InboxStatus.RUNNING, 1)
    assert await store.finish(first.seq, InboxStatus.DONE, post_ref="c/9")
    assert await claim(store) == ["Question 2?"]
    done = await store.find(first.event_key)
    assert (done.status, done.post_ref, done.finished_at is None) == (InboxStatus.DONE, "c/9", False)


async def test_a_claim_takes_no_more_than_its_limit_and_only_its_platforms(store):
    await accept(
        store, incoming("1", thread="a"), incoming("2", thread="b"), incoming("3", platform="slack"), incoming("4")
    )
    assert await claim(store, 2) == ["Question 1?", "Question 2?"]
    assert await claim(store, 2) == ["Question 4?"]


async def test_claims_side_by_side_share_the_work(new_store):
    one, two = new_store(), new_store()
    await accept(one, *(incoming(str(n), thread=str(n)) for n in range(12)))
    claimed = await asyncio.gather(*(claim(store, 3) for store in (one, two, one, two)))
    texts = [text for batch in claimed for text in batch]
    assert len(texts) == len(set(texts))
    assert len(texts) + len(await claim(one, 12)) == 12


async def test_an_ended_lease_is_taken_over_and_its_owner_can_write_no_more(new_store, time_passes):
    slow, other = new_store(), new_store()
    [seq] = await accept(slow, incoming())
    await slow.claim(1, WEB)
    assert await other.claim(1, WEB) == []
    await time_passes(LEASE * 1.5)
    [taken] = await other.claim(1, WEB)
    assert (taken.seq, taken.attempts) == (seq, 2)
    assert await slow.renew([seq]) == {}
    assert not await slow.finish(seq, InboxStatus.DONE)
    assert not await slow.retry(seq, delay_seconds=0, error="late")
    await slow.release([seq])
    assert await other.renew([seq]) == {seq: None}
    assert await other.finish(seq, InboxStatus.DONE)


async def test_a_renewed_lease_lasts(new_store, time_passes):
    owner, other = new_store(), new_store()
    [seq] = await accept(owner, incoming())
    await owner.claim(1, WEB)
    for _ in range(4):
        await time_passes(LEASE / 2)
        assert await owner.renew([seq]) == {seq: None}
    assert await other.claim(1, WEB) == []


async def test_an_entry_to_be_tried_again_waits_and_holds_its_thread_back(store, time_passes):
    [seq, _] = await accept(store, incoming("1"), incoming("2"))
    await store.claim(5, WEB)
    assert await store.retry(seq, delay_seconds=60, error="It broke.")
    assert await store.claim(5, WEB) == []
    waiting = (await store.find_open("web:local:c:1"))[0]
    assert (waiting.status, waiting.failures, waiting.error) == (InboxStatus.QUEUED, 1, "It broke.")
    assert waiting.waits_until is not None
    await time_passes(60)
    [entry] = await store.claim(5, WEB)
    assert (entry.seq, entry.attempts, entry.failures, entry.waits_until) == (seq, 2, 1, None)


async def test_what_was_given_up_comes_back_with_the_sentence_to_post(store):
    [seq] = await accept(store, incoming())
    await store.claim(1, WEB)
    await store.retry(seq, delay_seconds=0, error="E", final_error="Sorry.")
    [entry] = await store.claim(1, WEB)
    assert entry.final_error == "Sorry."
    await store.retry(seq, delay_seconds=0, error="The post failed.", failed=False)
    [entry] = await store.claim(1, WEB)
    assert (entry.final_error, entry.error, entry.failures, entry.attempts) == ("Sorry.", "The post failed.", 1, 3)
    assert await store.finish(seq, InboxStatus.FAILED, error="The end.")
    ended = await store.find(entry.event_key)
    assert (ended.status, ended.error) == (InboxStatus.FAILED, "The end.")


async def test_a_released_entry_is_as_if_never_claimed(new_store):
    one, two = new_store(), new_store()
    [seq] = await accept(one, incoming())
    await one.claim(1, WEB)
    await two.release([seq])
    assert await two.claim(1, WEB) == []
    await one.release([seq])
    [entry] = await two.claim(1, WEB)
    assert entry.attempts == 1


async def test_the_only_process_ends_the_leases_of_its_dead_predecessor(new_store):
    dead, only = new_store(), new_store()
    await accept(dead, incoming("1"), incoming("2", thread="u"), incoming("3", thread="v"))
    await dead.claim(2, WEB)
    assert await only.release_abandoned() == 2
    assert [entry.attempts for entry in await only.claim(5, WEB)] == [2, 2, 1]


async def test_a_cancel_marks_what_is_open_of_a_message_but_not_what_is_withdrawn(new_store):
    one, two = new_store(), new_store()
    [seq, *_] = await accept(one, incoming("1"), incoming("1", edit="2"), incoming("2"))
    await one.claim(1, WEB)
    assert [entry.cancelled_by for entry in await two.cancel("web:local:c:1", "ada")] == ["ada"]
    assert await one.renew([seq]) == {seq: WITHDRAWN}
    await one.retry(seq, delay_seconds=60, error="E")
    await two.cancel("web:local:c:2", "ada")
    [edited] = await one.cancel("web:local:c:1", WITHDRAWN)
    assert (edited.incoming.event_key, edited.cancelled_by) == ("web:local:c:1@2", WITHDRAWN)
    assert await one.cancel("web:local:c:1", "ada") == []


async def test_a_cancel_ends_the_wait_for_the_next_try(new_store):
    one, two = new_store(), new_store()
    [seq] = await accept(one, incoming("1"))
    await one.claim(1, WEB)
    await one.retry(seq, delay_seconds=60, error="E")
    await two.cancel("web:local:c:1", "ada")
    assert [entry.cancelled_by for entry in await one.claim(1, WEB)] == ["ada"]
    await one.finish(seq, InboxStatus.CANCELLED)
    assert await two.cancel("unknown", "ada") == []


async def test_recent_entries_are_newest_first_of_an_author_and_a_thread(store):
    await accept(store, incoming("1"), incoming("2", author="bob"), incoming("3", thread="u"))
    await store.accept(incoming("4"), NO)
    assert [entry.event_key[-1] for entry in await store.recent("local")] == ["4", "3", "2", "1"]
    assert [entry.event_key[-1] for entry in await store.recent("local", author="ada", limit=2)] == ["4", "3"]
    found = await store.recent("local", author="ada", address=incoming().address)
    assert [entry.event_key[-1] for entry in found] == ["4", "1"]
    assert await store.recent("elsewhere") == []


async def test_what_is_open_is_listed_newest_first_by_workspace(store):
    await accept(store, incoming("1"), incoming("2"), incoming("3", thread="u"))
    await store.accept(incoming("4"), NO)
    [first, _] = await store.claim(2, WEB)
    assert [entry.event_key[-1] for entry in await store.list_open("local")] == ["3", "2", "1"]
    await store.finish(first.seq, InboxStatus.DONE)
    assert [entry.event_key[-1] for entry in await store.list_open("local", limit=1)] == ["3"]
    assert [entry.status for entry in await store.list_open("local")] == [InboxStatus.RUNNING, InboxStatus.QUEUED]
    assert await store.list_open("elsewhere") == []


async def test_the_depth_counts_what_is_open(store):
    assert await store.depth() == {}
    await accept(store, incoming("1"), incoming("2"), incoming("3", thread="u"))
    await store.accept(incoming("4"), NO)
    await store.claim(1, WEB)
    assert await store.depth() == {InboxStatus.RUNNING: 1, InboxStatus.QUEUED: 2}


async def test_a_purge_forgets_what_ended_before_and_nothing_open(store, clock):
    [seq, _] = await accept(store, incoming("1"), incoming("2"))
    await store.claim(1, WEB)
    await store.finish(seq, InboxStatus.DONE)
    now = clock.now()
    assert await store.purge(now - timedelta(hours=1)) == 0
    assert await store.purge(now + timedelta(hours=1)) == 1
    assert [entry.event_key[-1] for entry in await store.recent("local")] == ["2"]


async def test_entries_of_a_thread_become_visible_in_the_order_of_their_numbers(store):
    async def accept_some(name: str) -> None:
        for n in range(10):
            await store.accept(incoming(f"{name}{n}"), ACCEPTED)

    await asyncio.gather(*(accept_some(name) for name in "abc"))
    order = []
    while batch := await store.claim(5, WEB):
        order += [entry.seq for entry in batch]
        await store.finish(batch[0].seq, InboxStatus.DONE)
    assert len(order) == 30
    assert order == sorted(order)


async def test_what_no_database_can_keep_becomes_a_replacement_character(store):
    entry, _ = await store.accept(incoming("\x00", text="a\ud800b?"), ACCEPTED)
    assert (entry.incoming.text, entry.event_key) == ("a\ufffdb?", "web:local:c:\ufffd")
    assert not (await store.accept(incoming("\x00"), ACCEPTED))[1]


@pytest.mark.parametrize("database_location", ["postgres"], indirect=True)
async def test_who_watches_is_woken_when_another_process_accepts_or_gives_back(new_store):
    one, two = new_store(), new_store()
    woken = asyncio.Event()
    async with two.watch(woken.set):
        woken.clear()
        for change in (one.accept(incoming(), ACCEPTED), one.cancel("web:local:c:1", "ada")):
            await change
            await asyncio.wait_for(woken.wait(), 60)
            woken.clear()
        [entry] = await one.claim(1, WEB)
        await one.release([entry.seq])
        assert await asyncio.wait_for(woken.wait(), 60)


@pytest.mark.parametrize("database_location", ["postgres"], indirect=True)
async def test_a_watch_whose_connection_breaks_is_resumed_and_wakes_for_what_it_missed(
    new_store, database, monkeypatch, caplog
):
    monkeypatch.setattr(inbox_module, "PAUSE_SECONDS", 0.01)
    watching, other = new_store(), new_store()
    woken = asyncio.Event()
    async with watching.watch(woken.set):
        woken.clear()
        end = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = :name")
        ended = await database.read(
            lambda connection: connection.execute(end, {"name": f"footnote inbox {watching._owner}"}).scalars().all()
        )
        assert ended == [True]
        await asyncio.wait_for(woken.wait(), 60)
        woken.clear()
        await other.accept(incoming(), ACCEPTED)
        await asyncio.wait_for(woken.wait(), 60)
    assert "only seen at the next poll" in caplog.text


async def test_who_watches_is_not_woken_by_what_it_did_itself(store):
    woken = asyncio.Event()
    async with store.watch(woken.set):
        woken.clear()
        await store.accept(incoming(), ACCEPTED)
        await store.accept(incoming("2"), NO)
        assert not woken.is_set()
    assert await claim(store) == ["Question 1?"]


@pytest.mark.parametrize("database_location", ["postgres"], indirect=True)
async def test_the_notices_of_what_it_did_itself_wake_nobody(new_store):
    one, two = new_store(), new_store()
    woken, wakes = asyncio.Event(), []

    def wake() -> None:
        wakes.append(1)
        woken.set()

    async with two.watch(wake):
        wakes.clear()
        woken.clear()
        await two.accept(incoming(), ACCEPTED)
        await one.accept(incoming("2"), ACCEPTED)  # notices come in order: with this one, the one before is over
        await asyncio.wait_for(woken.wait(), 60)
    assert len(wakes) == 1


async def answered(store: InboxStore, *messages: IncomingMessage) -> list[int]:
    """Their posts are `c/` and the number of the entry."""
    seqs = await accept(store, *messages)
    await store.claim(10, WEB)
    for seq in seqs:
        assert await store.finish(seq, InboxStatus.DONE, post_ref=f"c/{seq}")
    return seqs


async def due(store: InboxStore) -> list[tuple[int, str | None]]:
    due = await store.list_removals(WEB, 10)
    assert {removal.fate for removal in due} <= {PostFate.DELETED}
    return [(removal.entry.seq, removal.entry.post_ref) for removal in due]


async def test_a_deleted_conversation_leaves_no_text_and_has_its_posts_deleted(database, new_store):
    store, conversations, jobs = new_store(), SqlConversationRepository(database), SqlJobRepository(database)
    asked = incoming("1", about=Talk(message_id="9", author="ben", text="Secret.", said_at=NOON))
    kept = incoming("3", thread="other")
    [first] = await answered(store, asked)
    [other] = await answered(store, kept)
    await accept(store, incoming("2"))  # open: whoever deletes ends it first
    root = build_job(stored_ids(asked).request, input={"question": asked.text})
    await jobs.save(root, build_job("step", parent_id=root.id, input={"query": asked.text}))
    await jobs.save(build_job(stored_ids(kept).request))
    await conversations.add(build_conversation(address=asked.address))
    await conversations.delete("c1")

    entry = await store.find(asked.event_key)
    assert (entry.seq, entry.post_ref, entry.incoming.text, entry.incoming.about) == (first, f"c/{first}", "", None)
    assert (await store.find(kept.event_key)).incoming.text == "Question 3?"
    assert [entry.incoming.text for entry in await store.list_open("local")] == ["Question 2?"]
    assert [job.id for job in await jobs.list_roots("local")] == [stored_ids(kept).request]
    assert await jobs.list_tree(root.id) == []
    assert await due(new_store()) == [(first, f"c/{first}")] and other != first
    assert await store.list_removals({"discord"}, 10) == []
    await store.removed(first, PostFate.DELETED)
    await store.removed(first, PostFate.DELETED)
    assert await due(store) == []


async def test_a_post_that_stays_is_due_again_after_a_while(database, store, clock):
    [seq] = await answered(store, incoming())
    conversations = SqlConversationRepository(database)
    await conversations.add(build_conversation(address=incoming().address))
    await conversations.delete("c1")
    await store.removal_failed(seq, 300)
    assert await due(store) == []
    clock.advance(301)
    assert await due(store) == [(seq, f"c/{seq}")]
    await store.purge(clock.now() + timedelta(days=1))
    assert await due(store) == []


async def test_a_forgotten_message_leaves_no_text_of_its_versions(database, store):
    jobs = SqlJobRepository(database)
    versions = [incoming("1"), incoming("1", edit="2")]
    for version in versions:
        await answered(store, version)
        await jobs.save(build_job(stored_ids(version).request))
    await answered(store, incoming("2"))
    await store.forget(versions[0].message_key)

    assert [entry.incoming.text for entry in await store.list_versions(versions[0].message_key)] == ["", ""]
    assert (await store.find(incoming("2").event_key)).incoming.text == "Question 2?"
    assert await jobs.list_roots("local") == []
    assert await due(store) == []


async def test_an_entry_that_is_left_is_refused_and_keeps_no_text(store: InboxStore) -> None:
    entry, _ = await store.accept(incoming("1"), ACCEPTED)
    assert not await store.leave(entry.seq, NO_ANSWER)  # not owned
    [claimed] = await store.claim(1, WEB)
    assert await store.leave(claimed.seq, NO_ANSWER)
    assert not await store.leave(claimed.seq, NO_ANSWER)

    left = await store.find(entry.event_key)
    assert left is not None
    assert (left.status, left.decision, left.incoming.text) == (InboxStatus.REFUSED, NO_ANSWER, "")
    assert await store.list_open(entry.workspace) == []
