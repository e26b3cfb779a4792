"""Limits on questions through the inbox, exact over all processes on one database."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.limits import ParallelLimits
from core.domain.service import InboxStatus
from core.service.inbox import Inbox, QuestionLimits, platform_gates
from storage.database import Database
from storage.database.repositories.inbox import SqlInboxStore
from storage.database.repositories.settings import SqlSettingsRepository
from tests.fakes import ManualClock

DISCORD = frozenset({"discord"})


class Process:
    """A process with a database connection of its own."""

    def __init__(self, database: Database, clock: ManualClock, **limits: int) -> None:
        self.database = database
        self.clock = clock
        self.settings = SqlSettingsRepository(database)
        self.store = SqlInboxStore(database, clock, parallel=ParallelLimits(person=2, platforms=DISCORD))
        allowed = QuestionLimits(settings=self.settings, platforms=DISCORD, **limits)
        self.inbox = Inbox(self.store, platform_gates(self.settings), clock, lambda: None, limits=allowed)

    async def ask(self, id: str, person: str = "ada", channel: str = "c", **fields: object) -> str:
        """The code of the decision. Each question has its own thread."""
        address = ThreadAddress(platform="discord", workspace="local", channel=channel, thread=id)
        given = {"address": address, "author": person, "event_key": id, "text": "Where is the key?", **fields}
        return (await self.inbox.receive(IncomingMessage(**given))).decision.code  # type: ignore[arg-type]

    async def claim(self, most: int) -> list[str]:
        return [entry.incoming.author for entry in await self.store.claim(most, DISCORD)]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def other(database_location: Path | str) -> AsyncIterator[Database]:
    opened = await Database.open(database_location)
    yield opened
    await opened.close()


async def let_pass(process: Process, seconds: float) -> None:
    """On PostgreSQL, whose own clock counts, the windows move back instead."""
    process.clock.advance(seconds)
    if process.database.is_postgres:
        earlier = "UPDATE question_window SET started_at = started_at - make_interval(secs => :seconds)"
        await process.database.write(lambda connection: connection.execute(text(earlier), {"seconds": seconds}))


async def test_fifty_people_at_once_in_two_processes_ask_exactly_so_often(database, other, clock):
    one, two = Process(database, clock, person=3), Process(other, clock, person=3)
    asked = [
        process.ask(f"{person}-{number}-{place}", f"person {person}")
        for number in range(2)
        for person in range(50)
        for place, process in enumerate((one, two))
    ]
    codes = await asyncio.gather(*asked)
    assert Counter(codes) == {"accepted": 150, "over_limit": 50}
    stored = await one.store.recent("local", limit=1000)
    accepted = Counter(entry.incoming.author for entry in stored if entry.status is InboxStatus.QUEUED)
    assert set(accepted.values()) == {3}
    assert len(stored) == 200


async def test_limits_of_channel_and_workspace_are_as_exact(database, other, clock):
    limits = {"person": 4, "channel": 7, "workspace": 12}
    one, two = Process(database, clock, **limits), Process(other, clock, **limits)
    asked = [
        process.ask(f"{channel}-{person}-{place}", f"{channel}{person}", channel)
        for channel in "abc"
        for person in range(6)
        for place, process in enumerate((one, two))
    ]
    codes = Counter(await asyncio.gather(*asked))
    assert codes["accepted"] == 12
    stored = await one.store.recent("local", limit=1000)
    accepted = Counter(entry.address.channel for entry in stored if entry.status is InboxStatus.QUEUED)
    assert max(accepted.values()) <= 7


async def test_a_window_outlives_the_process_and_ends(database, other, clock):
    first, later = Process(database, clock, person=2), Process(other, clock, person=2)
    assert [await first.ask(id) for id in "ab"] == ["accepted", "accepted"]
    assert await later.ask("c") == "over_limit"
    await let_pass(later, 3599)
    assert await later.ask("d") == "over_limit_again"
    await let_pass(later, 1)
    assert [await later.ask(id) for id in "efg"] == ["accepted", "accepted", "over_limit"]


async def test_a_limit_is_announced_once_to_each_person_and_later_refusals_are_stored(database, clock):
    process = Process(database, clock, channel=1)
    codes = [await process.ask(f"{name}{number}", name) for number in range(3) for name in ("ada", "ben")]
    assert codes == ["accepted", "over_limit", "over_limit", "over_limit_again", "over_limit_again", "over_limit_again"]
    entries = await process.store.recent("local")
    assert [entry.status for entry in entries].count(InboxStatus.REFUSED) == 5
    refused = entries[0]
    assert refused.decision.sentence.startswith("People in this channel have asked 1 question in this hour. You can")
    assert (refused.incoming.text, refused.finished_at is not None) == ("", True)
    assert await process.claim(9) == ["ada"]


async def test_the_same_event_in_two_processes_counts_once(database, other, clock):
    one, two = Process(database, clock, person=2), Process(other, clock, person=2)
    assert await asyncio.gather(one.ask("a"), two.ask("a"), one.ask("a")) == ["accepted"] * 3
    assert [await two.ask("b"), await two.ask("c")] == ["accepted", "over_limit"]


async def test_a_flood_of_one_person_delays_another_by_no_answer(database, other, clock):
    process, beside = Process(database, clock), Process(other, clock)
    for number in range(40):
        await process.ask(f"flood {number}", "ada")
    assert await process.claim(1) == ["ada"]
    await process.ask("one question", "ben", "elsewhere")
    assert await beside.claim(1) == ["ben"]
    assert await beside.claim(9) == ["ada"]
    assert await process.claim(9) == []  # two at a time, in all processes


async def test_after_a_restart_turns_go_on_where_they_were(database, other, clock):
    process, later = Process(database, clock), Process(other, clock)
    for number in range(3):
        await process.ask(f"a{number}", "ada")
    [entry] = await process.store.claim(1, DISCORD)
    await process.store.finish(entry.seq, InboxStatus.DONE)
    await process.ask("b", "ben", "elsewhere")
    assert await later.claim(1) == ["ben"]


async def test_windows_and_turns_are_purged_with_the_inbox(database, clock):
    process = Process(database, clock, person=1)
    await process.ask("a")
    await process.claim(1)
    later = (await process.store.recent("local"))[0].created_at.replace(year=2999)
    await process.store.purge(later)
    for table in ("question_window", "queue_turn"):
        assert await database.rows(text(f"SELECT * FROM {table}")) == []
