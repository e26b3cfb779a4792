"""The contract of TeamRepository, on every database."""

from datetime import timedelta

import pytest

from core.domain.service import PlatformTeam
from core.ports.service import TeamRepository
from storage.database import Database
from storage.database.repositories.teams import SqlTeamRepository
from tests.builders import NOON

HARBOUR = PlatformTeam(platform="discord", id="7", name="Hafen Łódź", is_connected=True)


@pytest.fixture
def teams(database: Database) -> TeamRepository:
    return SqlTeamRepository(database)


async def test_names_and_bindings_are_kept_apart(teams: TeamRepository) -> None:
    assert await teams.list_teams() == []
    await teams.record_connected("discord", {"7": "Hafen Łódź"}, NOON)
    assert await teams.list_teams() == [HARBOUR]
    await teams.bind("discord", "7", "crew", NOON)
    await teams.record_connected("discord", {"7": ""}, NOON)
    [team] = await teams.list_teams()
    assert (team.name, team.is_connected, team.workspace, team.changed_at) == ("Hafen Łódź", True, "crew", NOON)
    await teams.bind("discord", "7", None, NOON)
    assert [one.workspace for one in await teams.list_teams()] == [None]


async def test_those_that_the_bot_has_left_stay_with_their_binding(teams: TeamRepository) -> None:
    await teams.bind("discord", "7", "crew", NOON)
    await teams.record_connected("discord", {"7": "Harbour", "8": "Club"}, NOON)
    await teams.record_connected("slack", {"T1": "Acme"}, NOON)
    await teams.record_connected("discord", {"8": "New club"}, NOON)
    found = {one.id: (one.name, one.is_connected, one.workspace) for one in await teams.list_teams()}
    assert found == {"7": ("Harbour", False, "crew"), "8": ("New club", True, None), "T1": ("Acme", True, None)}
    await teams.record_connected("discord", {}, NOON)
    assert [one.id for one in await teams.list_teams() if one.is_connected] == ["T1"]


async def test_the_time_of_leaving_is_kept_until_the_bot_is_back(teams: TeamRepository) -> None:
    await teams.bind("discord", "9", "crew", NOON)  # it never was in this one
    await teams.record_connected("discord", {"7": "Harbour", "8": "Club"}, NOON)
    await teams.record_connected("discord", {}, NOON + timedelta(days=1))
    await teams.record_connected("discord", {"8": "Club"}, NOON + timedelta(days=2))
    left = {one.id: one.left_at for one in await teams.list_teams()}
    assert left == {"7": NOON + timedelta(days=1), "8": None, "9": None}


async def test_a_team_that_is_new_owes_a_greeting(teams: TeamRepository) -> None:
    await teams.bind("discord", "9", "crew", NOON)  # before the bot is in it
    await teams.record_connected("discord", {"7": "Harbour"}, NOON)
    assert await teams.owed_greetings("discord") == []  # joined before anything was stored
    await teams.record_connected("discord", {"7": "Port", "8": "Club", "9": "Crew"}, NOON)
    assert await teams.owed_greetings("discord") == ["8", "9"]
    await teams.greeted("discord", "8")
    await teams.record_connected("discord", {"7": "Port"}, NOON)
    await teams.record_connected("discord", {"7": "Port", "8": "New club", "9": "Crew"}, NOON)
    assert await teams.owed_greetings("discord") == ["9"]


async def test_a_place_that_was_joined_since_the_last_list_owes_a_greeting(teams: TeamRepository) -> None:
    await teams.owe_greeting("slack", "T1/C0")  # before the first list
    await teams.record_joined("slack", "T1", ["T1/C0", "T1/C1"])
    assert await teams.owed_greetings("slack") == ["T1/C0"]
    await teams.record_joined("slack", "T1", ["T1/C1", "T1/C2"])
    assert await teams.owed_greetings("slack") == ["T1/C0", "T1/C2"]
    await teams.greeted("slack", "T1/C2")
    await teams.record_joined("slack", "T1", [])
    await teams.record_joined("slack", "T1", ["T1/C1", "T1/C2"])
    assert await teams.owed_greetings("slack") == ["T1/C0"]


async def test_all_places_of_a_new_team_owe_a_greeting(teams: TeamRepository) -> None:
    await teams.record_connected("slack", {"T1": "Acme"}, NOON)
    await teams.record_connected("slack", {"T1": "Acme", "T2": "Bravo"}, NOON)
    await teams.record_joined("slack", "T2", ["T2/C1"])
    assert await teams.owed_greetings("slack") == ["T2/C1"]


async def test_a_place_is_greeted_once(teams: TeamRepository) -> None:
    assert await teams.owe_greeting("discord", "7")
    assert await teams.owe_greeting("discord", "7")  # the first one was not posted
    assert await teams.owe_greeting("slack", "T1/C2")
    assert await teams.owed_greetings("discord") == ["7"]
    await teams.greeted("discord", "7")
    assert await teams.owed_greetings("discord") == []
    assert not await teams.owe_greeting("discord", "7")
    assert await teams.owed_greetings("slack") == ["T1/C2"]


async def test_a_team_that_the_bot_was_removed_from_is_greeted_again(teams: TeamRepository) -> None:
    for place in ("T1", "T1/C1", "T10/C1"):
        await teams.owe_greeting("slack", place)
        await teams.greeted("slack", place)
    await teams.forget_greetings("slack", "T1")
    assert await teams.owe_greeting("slack", "T1/C1")
    assert not await teams.owe_greeting("slack", "T10/C1")
