"""The contract of IdentityRepository, on every database."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.identity import ApiToken, Role, TokenScope, WebSession
from core.ports.identity import IdentityRepository
from storage.database import Database
from storage.database.repositories.identity import SqlIdentityRepository
from tests.builders import NOON

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def session(secret_hash: str, lasts: timedelta = HOUR) -> WebSession:
    return WebSession(
        secret_hash=secret_hash, person="p", name="Ada", role=Role.ADMIN, created_at=NOON, expires_at=NOON + lasts
    )


def token(id: str) -> ApiToken:
    return ApiToken(id=id, secret_hash=f"hash of {id}", person="ada", scope=TokenScope.ASK, created_at=NOON)


@pytest.fixture
def identity(database: Database) -> IdentityRepository:
    return SqlIdentityRepository(database)


async def test_a_session_is_found_until_it_expires_or_ends(identity: IdentityRepository) -> None:
    for one in (session("a"), session("b"), session("c", DAY)):
        await identity.add_session(one)
    await identity.remove_session("b")
    await identity.remove_session("unknown")

    assert await identity.find_session("a", NOON) == session("a")
    assert await identity.find_session("a", NOON + HOUR) is None
    assert await identity.find_session("b", NOON) is None
    assert await identity.find_session("c", NOON + HOUR) == session("c", DAY)
    assert await identity.find_session("unknown", NOON) is None


async def test_a_new_session_deletes_the_expired_ones_and_all_can_be_ended(identity: IdentityRepository) -> None:
    await identity.add_session(session("a", -HOUR))
    await identity.add_session(session("b"))

    assert await identity.find_session("a", NOON - 2 * HOUR) is None
    assert await identity.remove_sessions() == 1
    assert await identity.find_session("b", NOON) is None


async def test_tokens_are_listed_used_and_removed(identity: IdentityRepository) -> None:
    for one in (token("t1"), token("t2")):
        await identity.add_token(one)
    before = await identity.list_tokens()
    used = await identity.use_token("hash of t1", NOON)
    await identity.use_token("hash of t1", NOON + HOUR)
    same_day = (await identity.list_tokens())[0].used_at
    await identity.use_token("hash of t1", NOON + DAY)
    removed = [await identity.remove_token(id) for id in ("t2", "t2", "unknown")]
    [left] = await identity.list_tokens()

    assert before == [token("t1"), token("t2")]
    assert used == token("t1")
    assert (same_day, left.used_at) == (NOON, NOON + DAY)
    assert removed == [True, False, False]
    assert await identity.use_token("hash of t2", NOON) is None


async def test_a_person_keeps_the_author_of_the_first_sign_in_and_has_the_name_of_the_last(
    identity: IdentityRepository,
) -> None:
    met = [
        await identity.meet(one, author, name)
        for one, author, name in (("1", "Ada a", "Ada"), ("2", "Ada b", "Ada"), ("1", "Ada King a", "Ada King"))
    ]
    at_once = await asyncio.gather(*(identity.meet("3", f"Ben {number}", "Ben") for number in range(4)))

    assert met == ["Ada a", "Ada b", "Ada a"]
    assert len({*at_once}) == 1
    assert await identity.names() == {"Ada a": "Ada King", "Ada b": "Ada", at_once[0]: "Ben"}


async def test_groups_are_those_of_the_last_sign_in_by_the_mark_of_the_author(identity: IdentityRepository) -> None:
    one, other = 16 * "a" + 48 * "1", 16 * "b" + 48 * "1"
    await identity.meet(one, f"Ada {one[:16]}", "Ada", frozenset({"docs", "gm"}))
    await identity.meet(other, f"Ben {other[:16]}", "Ben")
    assert await identity.groups_of(one[:16]) == {"docs", "gm"}
    assert await identity.groups_of(other[:16]) == await identity.groups_of(16 * "c") == frozenset()

    await identity.meet(one, f"Ada {one[:16]}", "Ada", frozenset({"docs"}))
    assert await identity.groups_of(one[:16]) == {"docs"}


async def test_a_token_keeps_who_its_person_is(identity: IdentityRepository) -> None:
    limited = replace(token("t1"), readers=frozenset({"members", "role:gm"}))
    for one in (limited, token("t2")):
        await identity.add_token(one)

    assert await identity.list_tokens() == [limited, token("t2")]
