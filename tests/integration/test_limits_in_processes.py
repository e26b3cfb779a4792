"""Limits and budgets with 50 people at once in two processes, and after a kill: exact to the message and the call."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from storage.database import Database
from tests.forked import ROOT
from tests.postgres import postgres_schema

ALLOWED = 5
CALLS = 120  # of all people together, by their money: each reply costs 600 millionths of a dollar
LIMITS = {
    "person": {"questions_per_hour": ALLOWED, "tokens_per_day": 2_000},
    "workspace": {"dollars_per_day": CALLS * 600 / 1_000_000},
}
PEOPLE = [f"person {number}" for number in range(50)]


@pytest.fixture(params=["sqlite", "postgres"])
def environment(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The environment of processes that share a database."""
    if request.param == "sqlite":
        yield {**os.environ}
    else:
        with postgres_schema() as url:
            yield {**os.environ, "FOOTNOTE_DATABASE_URL": url}


@asynccontextmanager
async def process(folder: Path, environment: dict[str, str]) -> AsyncIterator[Process]:
    """Killed at the end."""
    command = (sys.executable, "-m", "tests.integration.limits_process", str(folder), json.dumps(LIMITS))
    started = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=environment, stdin=PIPE, stdout=PIPE)
    try:
        assert started.stdout is not None
        assert await started.stdout.readline() == b"ready\n"
        yield started
    finally:
        started.kill()
        await started.wait()


async def ask(running: Process, name: str, times: int) -> Counter[tuple[str, str]]:
    """All people ask so often, all at once; returns the codes by person."""
    assert running.stdin is not None and running.stdout is not None
    asked = [(f"{name} {person} {time}", person, f"c{time}") for time in range(times) for person in PEOPLE]
    running.stdin.write(json.dumps({"ask": asked}).encode() + b"\n")
    codes = json.loads(await running.stdout.readline())
    return Counter((person, code) for (_, person, _), code in zip(asked, codes, strict=True))


async def test_fifty_people_at_once_in_two_processes_get_exactly_what_is_allowed(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    async with process(tmp_path, environment) as one, process(tmp_path, environment) as two:
        codes = sum(await asyncio.gather(ask(one, "one", 4), ask(two, "two", 4)), Counter())
        for person in PEOPLE:
            found = [codes[person, code] for code in ("accepted", "over_limit", "over_limit_again")]
            assert found == [ALLOWED, 1, 8 - ALLOWED - 1]
    async with process(tmp_path, environment) as later:
        assert set(await ask(later, "later", 1)) == {(person, "over_limit_again") for person in PEOPLE}


async def order(running: Process, what: dict[str, object]) -> bytes:
    """Give an order; return the line that answers."""
    assert running.stdin is not None and running.stdout is not None
    running.stdin.write(json.dumps(what).encode() + b"\n")
    return await running.stdout.readline()


async def test_the_calls_of_fifty_people_in_two_processes_never_exceed_a_budget(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    url = environment.get("FOOTNOTE_DATABASE_URL")
    async with process(tmp_path, environment) as one, process(tmp_path, environment) as two:
        killed = {"hang": "person 0"}
        async with process(tmp_path, environment) as third:
            assert await order(third, killed) == b"hanging\n"
        while True:  # what was reserved and not taken is free again: ask until nothing more fits
            rounds = [order(running, {"call": PEOPLE * 2}) for running in (one, two)]
            if b"made" not in b"".join(await asyncio.gather(*rounds)):
                break
    database = await Database.open(url or tmp_path / "footnote.db")
    rows = await database.rows(
        text("SELECT person, cost_micros, input_tokens + output_tokens AS tokens FROM model_call")
    )
    await database.close()
    made = [row for row in rows if row.cost_micros is not None]
    tokens = Counter[str]()
    for row in made:
        tokens[row.person] += row.tokens
    assert len(rows) - len(made) == 1  # the killed process's reservation still counts
    assert CALLS - 3 <= len(made) <= CALLS - 1  # one more reservation must fit before each call
    assert max(tokens.values()) <= 2_000
