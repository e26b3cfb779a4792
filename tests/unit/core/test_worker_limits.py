"""How much a worker does at once, how often it tries, and what its leases cost."""

import asyncio
from dataclasses import replace

import pytest

from core.domain.service import ACCEPTED
from core.errors import ProviderOverloaded
from core.work.retries import MOST_CRASHES
from tests.unit.core.service.test_worker import Gate, Office, failing, message, until


async def test_no_more_questions_than_allowed_run_at_once():
    office = Office()
    for number in range(9):
        await office.accept(f"q{number}", thread=str(number))
        office.answers.behaviour[f"q{number}"] = lambda attempt: asyncio.sleep(0.01, "Yes.")
    slow = office.answers.behaviour["q0"] = Gate()
    async with office.working(parallel=3):
        await until(lambda: len(office.wall.posts) == 8)
        slow.opened.set()
        await office.all_done()
    assert office.answers.most_at_once == 3


async def test_tries_that_failed_are_no_crashes():
    office = Office()
    office.answers.behaviour["q"] = failing(MOST_CRASHES + 2, ProviderOverloaded("Busy."))
    await office.accept("q")
    async with office.working(tries=MOST_CRASHES + 5, pause_scale=0):
        await office.all_done()
    assert office.wall.posts == {"q": "At last."}
    assert (await office.store.find("q")).failures == MOST_CRASHES + 2


@pytest.mark.parametrize(("lease_seconds", "asked"), [(30, 0), (0.01, 1)], ids=["surely ours", "perhaps over"])
async def test_a_post_asks_the_database_only_where_its_lease_may_be_over(
    lease_seconds: float, asked: int, monkeypatch: pytest.MonkeyPatch
):
    office, renewals = Office(lease_seconds=lease_seconds), []

    async def renew(seqs: list[int]) -> dict[int, str | None]:
        renewals.append(seqs)
        return dict.fromkeys(seqs)

    monkeypatch.setattr(office.store, "renew", renew)
    monkeypatch.setattr("core.service.worker.POLL_SECONDS", 60)
    monkeypatch.setattr("core.service.worker.BEATS", 1e-6)  # no beat before the post
    office.answers.behaviour["q"] = lambda attempt: asyncio.sleep(0.02, "Yes.")
    await office.accept("q")
    async with office.working():
        await office.all_done()
    assert (office.wall.posts, len(renewals)) == ({"q": "Yes."}, asked)


async def test_a_flood_of_five_hundred_questions_delays_another_person_by_the_answer_in_progress():
    office = Office()
    for number in range(500):
        await office.accept(f"flood {number}", thread=str(number))
    held = office.answers.behaviour["flood 0"] = Gate()
    async with office.working(parallel=1):
        await held.reached.wait()
        await office.store.accept(replace(message("one question", "elsewhere"), author="ben"), ACCEPTED)
        held.opened.set()
        await until(lambda: "one question" in office.wall.posts)
    assert office.wall.order[:2] == ["flood 0", "one question"]
