"""Audiences of Discord's places: by rule in a table, and sound in random servers."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from core.domain.readers import Audience
from tests.unit.bot.discordbot.permission_worlds import (
    CHANNELS,
    PEOPLE,
    ROLES,
    SERVER,
    VIEW,
    VOICE,
    PermissionWorld,
    address,
    worlds,
)

HERE, OTHER, THIRD = CHANNELS
RED, BLUE, GREEN = ROLES
ADA, BEN, CAT, DAN = PEOPLE
OPEN, SHUT = (VIEW, 0), (0, VIEW)
NAMED = frozenset({"members", *(f"channel:{id}" for id in CHANNELS), *(f"role:{id}" for id in ROLES)})
ALL = ("everyone", "members", f"channel:{HERE}")
EVERYWHERE = (*ALL, f"channel:{OTHER}", f"channel:{THIRD}")
STRANGERS = ("everyone", f"channel:{HERE}")
PUBLIC = PermissionWorld(rights={SERVER: VIEW}, held={ADA: [RED], BEN: [BLUE], CAT: []})
CLOSED = PermissionWorld(held={ADA: [RED], BEN: [RED, BLUE], CAT: []})  # nobody can read anything


@pytest.mark.parametrize(
    ("world", "parts"),
    [
        (PUBLIC, [EVERYWHERE]),
        # a role that is denied doesn't close another channel's public place
        (replace(PUBLIC, overwrites={HERE: {RED: SHUT}}), [EVERYWHERE]),
        # who can't read another channel may be here
        (replace(PUBLIC, overwrites={OTHER: {RED: SHUT}, THIRD: {ADA: SHUT}}), [ALL]),
        (replace(CLOSED, overwrites={HERE: {RED: OPEN, BLUE: OPEN}}), [(*ALL, f"role:{RED}"), (*ALL, f"role:{BLUE}")]),
        (replace(CLOSED, rights={RED: VIEW}), [(*EVERYWHERE, f"role:{RED}")]),
        (replace(PUBLIC, overwrites={HERE: {SERVER: SHUT, RED: OPEN}}), [(*EVERYWHERE, f"role:{RED}")]),
        # base rights of a role count only where @everyone isn't denied
        (replace(CLOSED, rights={RED: VIEW}, overwrites={HERE: {SERVER: SHUT, BLUE: OPEN}}), [(*ALL, f"role:{BLUE}")]),
        (replace(CLOSED, overwrites={HERE: {BEN: OPEN}}), [(*ALL, f"person:{BEN}", f"role:{RED}", f"role:{BLUE}")]),
        # somebody who left, and administrators alone
        (replace(CLOSED, overwrites={HERE: {DAN: OPEN}}), [ALL]),
        (CLOSED, [ALL]),
        # strangers who look into a listed server, and guests of voice channels
        (replace(PUBLIC, features=["DISCOVERABLE"]), [EVERYWHERE, STRANGERS]),
        (replace(CLOSED, features=["DISCOVERABLE"], overwrites={HERE: {RED: OPEN}}), [(*ALL, f"role:{RED}")]),
        (
            replace(CLOSED, features=["GUESTS_ENABLED"], kinds={HERE: VOICE}, overwrites={HERE: {RED: OPEN}}),
            [(*ALL, f"role:{RED}"), STRANGERS],
        ),
    ],
)
async def test_a_channel_has_a_part_for_each_way_into_it(world: PermissionWorld, parts: list[tuple[str, ...]]) -> None:
    audiences, _ = world.audiences()

    assert await audiences.of_place(address(HERE), NAMED) == Audience.of(*parts)


async def test_people_are_not_asked_for_where_no_source_names_a_role_or_another_channel() -> None:
    world = replace(CLOSED, held={}, overwrites={HERE: {ADA: OPEN}})
    audiences, _ = world.audiences()

    assert await audiences.of_place(address(HERE), frozenset({"members"})) == Audience.of((*ALL, f"person:{ADA}"))
    assert await audiences.of_place(address(HERE), NAMED) == Audience.of(ALL)


async def test_a_person_is_what_their_roles_and_channels_say_and_a_stranger_is_nobody() -> None:
    world = replace(CLOSED, overwrites={OTHER: {RED: OPEN}}, guests=frozenset({CAT}))
    audiences, _ = world.audiences()

    ada = ("everyone", "members", f"person:{ADA}", f"role:{RED}", f"channel:{OTHER}")
    assert await audiences.of_person("local", str(ADA), NAMED) == Audience.of(ada)
    assert await audiences.of_person("local", str(CAT), NAMED) == Audience.of(("everyone", f"person:{CAT}"))
    assert await audiences.of_person("local", str(DAN), NAMED) == Audience()
    assert await audiences.of_person("elsewhere", str(ADA), NAMED) == Audience()


@settings(max_examples=400)
@given(world=worlds())
async def test_no_part_claims_what_one_of_its_people_is_not(world: PermissionWorld) -> None:
    """Each person who can read a channel is in one of its parts at least: what it says holds for them."""
    audiences, guild = world.audiences()

    for channel in CHANNELS:
        audience = await audiences.of_place(address(channel), NAMED)
        for person in PEOPLE:
            truth = world.truth(guild, person)
            if f"channel:{channel}" in truth and not world.is_administrator(person):
                assert any(part <= truth for part in audience.parts), (channel, person, truth)
        assert audience.may_read(frozenset({f"channel:{channel}"}))


@settings(max_examples=200)
@given(world=worlds())
async def test_a_person_is_exactly_what_discord_says(world: PermissionWorld) -> None:
    audiences, guild = world.audiences()

    for person in PEOPLE:
        assert await audiences.of_person("local", str(person), NAMED) == Audience.of(world.truth(guild, person))


@settings(max_examples=100)
@given(world=worlds())
async def test_a_worker_that_asks_for_everything_finds_the_same_readers(world: PermissionWorld) -> None:
    connected, _ = world.audiences()
    worker = world.unconnected()

    for channel in CHANNELS:
        assert await worker.of_place(address(channel), NAMED) == await connected.of_place(address(channel), NAMED)
    for person in PEOPLE:
        assert await worker.of_person("local", str(person), NAMED) == await connected.of_person(
            "local", str(person), NAMED
        )
