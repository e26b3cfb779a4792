"""The contract of SpendingStore, on every database, over two processes."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from core.domain.replies import Usage
from core.domain.spending import Account, BudgetScope, CallPurpose, DayBudget, Reservation
from storage.database import Database
from storage.database.repositories.spending import SqlSpendingStore
from tests.fakes import ManualClock

ADA = Account(workspace="local", channel="discord:c", person="discord:ada", answer="q1", purpose=CallPurpose.ANSWER)
LEASE = 60.0
LONG_AGO = date(2000, 1, 1)


def reservation(id: str, account: Account = ADA, *, tokens: int = 100, micros: int | None = 10) -> Reservation:
    return Reservation(id=id, account=account, model="claude", tokens=tokens, micros=micros)


def budget(scope: BudgetScope = BudgetScope.PERSON, **limits: int) -> DayBudget:
    return DayBudget(scope=scope, **limits)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(database: Database, clock: ManualClock) -> SqlSpendingStore:
    return SqlSpendingStore(database, clock)


@pytest.fixture
async def beside(database_location: Path | str, clock: ManualClock) -> AsyncIterator[SqlSpendingStore]:
    """Another process's store."""
    opened = await Database.open(database_location)
    yield SqlSpendingStore(opened, clock)
    await opened.close()


async def test_budgets_are_never_exceeded_by_calls_at_once_in_two_processes(store, beside):
    budgets = [
        budget(tokens=1000),
        budget(BudgetScope.CHANNEL, micros=150),
        budget(BudgetScope.WORKSPACE, tokens=2500),
    ]
    people = [replace(ADA, person=f"discord:{name}", channel=f"discord:{name % 2}") for name in range(4)]

    async def call(place: SqlSpendingStore, number: int) -> tuple[Account, DayBudget | None]:
        account = people[number % 4]
        refused = await place.reserve(reservation(f"r{number}", account), budgets, LEASE)
        if refused is None and number % 3 == 0:
            await place.settle(f"r{number}", Usage(input_tokens=90, output_tokens=10), 10)
        return account, refused

    done = await asyncio.gather(*(call((store, beside)[number % 2], number) for number in range(60)))
    admitted = [account for account, refused in done if refused is None]
    assert len(admitted) == 25  # 2,500 tokens of the workspace
    assert all(sum(account.channel == name for account in admitted) <= 15 for name in ("discord:0", "discord:1"))
    assert all(admitted.count(person) <= 10 for person in people)


async def test_what_was_reserved_and_not_taken_is_free_again(store):
    budgets = [budget(tokens=150)]
    assert await store.reserve(reservation("a"), budgets, LEASE) is None
    assert await store.reserve(reservation("b"), budgets, LEASE) == budgets[0]
    await store.settle("a", Usage(input_tokens=40, output_tokens=10), 5)
    assert await store.reserve(reservation("b"), budgets, LEASE) is None
    await store.settle("b", None, None)  # it failed before it began
    assert await store.reserve(reservation("c"), budgets, LEASE) is None
    report = await store.report("local", LONG_AGO)
    assert (report.total.calls, report.total.tokens, report.total.micros) == (1, 50, 5)


async def test_the_reservation_of_a_killed_process_counts_until_its_lease_ends(store, beside, database, clock):
    budgets = [budget(micros=10)]
    assert await store.reserve(reservation("lost"), budgets, LEASE) is None
    assert await beside.reserve(reservation("b"), budgets, LEASE) == budgets[0]
    clock.advance(LEASE + 1)
    if database.is_postgres:
        earlier = text("UPDATE model_call SET lease_until = lease_until - make_interval(secs => :seconds)")
        await database.write(lambda connection: connection.execute(earlier, {"seconds": LEASE + 1}))
    assert await beside.reserve(reservation("b"), budgets, LEASE) is None


async def test_each_day_and_each_person_has_a_budget_of_its_own(store, database):
    budgets = [budget(tokens=100)]
    assert await store.reserve(reservation("a"), budgets, LEASE) is None
    assert await store.reserve(reservation("b", replace(ADA, person="discord:ben")), budgets, LEASE) is None
    assert await store.reserve(reservation("c", replace(ADA, workspace="elsewhere")), budgets, LEASE) is None
    assert await store.reserve(reservation("d"), budgets, LEASE) == budgets[0]
    await store.settle("a", Usage(input_tokens=100), 10)
    await database.write(lambda connection: connection.execute(text("UPDATE model_call SET day = '2020-01-01'")))
    assert await store.reserve(reservation("d"), budgets, LEASE) is None


async def test_a_report_has_each_day_person_purpose_and_model(store):
    background = Account(workspace="local", purpose=CallPurpose.EXTRACTION)
    calls = [ADA, replace(ADA, purpose=CallPurpose.SECTION), replace(ADA, answer="q2"), background]
    for number, account in enumerate(calls):
        await store.reserve(reservation(str(number), account, micros=None if account is background else 10), [], LEASE)
        usage = Usage(input_tokens=10, output_tokens=1, cache_read_tokens=5)
        await store.settle(str(number), usage, None if account is background else 7)
    report = await store.report("local", LONG_AGO)
    sums = {(line.person, line.purpose): line.spent for line in report.lines}
    assert {key: (spent.calls, spent.micros, spent.unpriced) for key, spent in sums.items()} == {
        ("discord:ada", CallPurpose.ANSWER): (2, 14, 0),
        ("discord:ada", CallPurpose.SECTION): (1, 7, 0),
        ("", CallPurpose.EXTRACTION): (1, 0, 1),
    }
    assert report.answers == 2
    assert (await store.report("elsewhere", LONG_AGO)).lines == ()
    assert (await store.report(None, LONG_AGO)).total.tokens == 44
    tomorrow = report.lines[0].day + timedelta(days=1)
    assert (await store.report("local", tomorrow)).lines == ()
    assert await store.purge(tomorrow) == 4
