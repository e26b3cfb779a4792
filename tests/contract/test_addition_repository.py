"""The contract of AdditionRepository, on every database."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.additions import Addition, AdditionKind, AdditionState
from core.domain.incoming import ThreadAddress
from core.errors import NotFound
from core.ports.service import AdditionRepository
from storage.database import Database
from storage.database.repositories.additions import SqlAdditionRepository
from tests.builders import NOON

HERE = ThreadAddress(platform="discord", workspace="local", channel="7", thread="")
ADDITION = Addition(
    id="a1",
    workspace="local",
    kind=AdditionKind.FILE,
    name="Łódź 2025.pdf",
    address=HERE,
    author="42",
    author_name="Ines",
    state=AdditionState.PROPOSED,
    created_at=NOON,
    changed_at=NOON,
    details={"url": "https://cdn.example.org/1"},
)


@pytest.fixture
def additions(database: Database) -> AdditionRepository:
    return SqlAdditionRepository(database)


async def test_a_repeated_event_returns_the_first_addition(additions: AdditionRepository) -> None:
    assert await additions.add(ADDITION) == (ADDITION, True)
    assert await additions.add(replace(ADDITION, name="other.pdf", author="43")) == (ADDITION, False)
    assert await additions.get("a1") == ADDITION
    with pytest.raises(NotFound, match="not known any more"):
        await additions.get("a2")


async def test_the_first_of_two_changes_wins(additions: AdditionRepository) -> None:
    await additions.add(ADDITION)
    await additions.set_post("a1", "7/8")
    accepted = replace(ADDITION, state=AdditionState.ACCEPTED, decided_by="1", decided_by_name="Tomas")
    assert await additions.change(accepted, was=AdditionState.PROPOSED)
    dismissed = replace(ADDITION, state=AdditionState.DISMISSED)
    assert not await additions.change(dismissed, was=AdditionState.PROPOSED)
    assert await additions.get("a1") == replace(accepted, post_ref="7/8")


async def test_what_is_settled_is_not_continued_until_it_changes(additions: AdditionRepository) -> None:
    await additions.add(ADDITION)
    await additions.add(replace(ADDITION, id="a2", address=replace(HERE, platform="slack")))
    await additions.settle("a1", AdditionState.READ)  # of another state, so nothing
    assert [one.id for one in await additions.list_unsettled("discord")] == ["a1"]
    await additions.settle("a1", AdditionState.PROPOSED)
    assert await additions.list_unsettled("discord") == []
    await additions.change(replace(ADDITION, state=AdditionState.ACCEPTED), was=AdditionState.PROPOSED)
    assert [one.id for one in await additions.list_unsettled("discord")] == ["a1"]


async def test_kept_ones_have_their_file_among_the_uploads(additions: AdditionRepository) -> None:
    for number, state in enumerate(AdditionState):
        path = f"{state.value}.html"
        link = replace(ADDITION, id=f"a{number}", kind=AdditionKind.LINK, name=f"https://x.org/{path}", path=path)
        await additions.add(replace(link, state=state, created_at=NOON + timedelta(seconds=number)))
    await additions.add(replace(ADDITION, id="file", path="b.md", state=AdditionState.READ))
    await additions.add(replace(ADDITION, id="there", workspace="other", path="c.md", state=AdditionState.READ))
    assert [one.path for one in await additions.list_kept("local")] == [
        "b.md",
        "reading.html",
        "read.html",
        "failed.html",
    ]
    assert await additions.links("local") == {
        path: f"https://x.org/{path}" for path in ("reading.html", "read.html", "failed.html")
    }


async def test_old_ones_go_but_proposals_and_kept_links_stay(additions: AdditionRepository) -> None:
    stored = {
        "waits": replace(ADDITION, id="waits"),
        "link": replace(ADDITION, id="link", kind=AdditionKind.LINK, state=AdditionState.READ),
        "refused link": replace(ADDITION, id="refused link", kind=AdditionKind.LINK, state=AdditionState.REFUSED),
        "read": replace(ADDITION, id="read", state=AdditionState.READ),
        "new": replace(ADDITION, id="new", state=AdditionState.READ, changed_at=NOON + timedelta(days=1)),
        "open": replace(ADDITION, id="open", state=AdditionState.ACCEPTED),
    }
    for addition in stored.values():
        await additions.add(addition)
        if addition.id != "open":
            await additions.settle(addition.id, addition.state)
    assert sorted(await additions.purge(NOON + timedelta(hours=1))) == ["read", "refused link"]
    assert sorted(one.id for one in await additions.list_kept("local")) == ["link", "new"]


async def test_on_a_shared_database_one_owner_works_at_a_time(database: Database) -> None:
    first, second = SqlAdditionRepository(database), SqlAdditionRepository(database)
    is_shared = database.is_postgres
    await first.add(ADDITION)
    assert await first.claim("a1", takes_over=False)
    assert await second.claim("a1", takes_over=False) is not is_shared
    assert await first.renew("a1")
    assert await second.claim("a1", takes_over=True)
    assert await first.renew("a1") is not is_shared
    await first.settle("a1", AdditionState.PROPOSED)
    assert (await first.get("a1")).is_settled is not is_shared
    await second.release("a1")
    assert await first.claim("a1", takes_over=False)
