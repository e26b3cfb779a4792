import pytest

from bot.slackbot.events.teams import Team, Teams
from core.errors import NotFound
from tests.unit.bot.slackbot.slack_objects import a_team

ACME, OTHER = a_team(), a_team(id="T2", name="other", workspace="club", token="xoxb-2")


async def test_a_team_is_found_by_its_id_and_by_its_workspace() -> None:
    teams = Teams([ACME, OTHER])
    assert await teams.get("T2") == OTHER
    assert await teams.of_workspace("house") == ACME
    assert await teams.of_workspace("house", "T2") == OTHER
    assert teams.workspaces() == ["house", "club"]


async def test_a_team_that_was_installed_meanwhile_is_looked_for_once() -> None:
    looked: list[str] = []

    async def refresh(team_id: str) -> Team | None:
        looked.append(team_id)
        return OTHER if team_id == "T2" else None

    teams = Teams([ACME], refresh)
    assert await teams.get("T2") == OTHER
    assert await teams.get("T2") == OTHER
    assert looked == ["T2"]
    with pytest.raises(NotFound, match="not installed in the Slack workspace T3"):
        await teams.get("T3")


async def test_a_team_that_removed_the_app_is_forgotten_everywhere() -> None:
    forgotten: list[str] = []

    async def forget(team_id: str) -> None:
        forgotten.append(team_id)

    teams = Teams([ACME], forget=forget)
    await teams.remove("T1")
    assert (teams.all(), forgotten) == ([], ["T1"])
    with pytest.raises(NotFound, match="belongs to 'house'"):
        await teams.of_workspace("house")


async def test_bolt_gets_the_teams_token_and_nothing_for_strangers() -> None:
    teams = Teams([ACME])
    found = await teams.authorize(None, "T1")
    assert found is not None
    assert (found.bot_token, found.bot_user_id, found.bot_id) == ("xoxb-1", "U0BOT", "B0BOT")
    assert await teams.authorize(None, "T9") is None
    assert await teams.authorize(None, None) is None


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (("C1",), "https://acme.slack.com/archives/C1"),
        (("C1", "1.5"), "https://acme.slack.com/archives/C1/p15"),
        (("C1", "1.5", "1.5"), "https://acme.slack.com/archives/C1/p15"),
        (("C1", "2.5", "1.5"), "https://acme.slack.com/archives/C1/p25?thread_ts=1.5&cid=C1"),
    ],
)
def test_permalinks_are_made_without_a_request(given: tuple[str, ...], address: str) -> None:
    assert ACME.permalink(*given) == address
    assert a_team(url="").permalink(*given) == ""


def test_a_team_never_shows_its_token() -> None:
    assert "xoxb" not in repr(ACME)
