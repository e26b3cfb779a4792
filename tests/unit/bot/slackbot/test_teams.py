import pytest

from bot.config.sections import TEAM_IDS
from bot.slackbot.events.teams import Teams
from core.access.bindings import Bindings
from core.domain.service import Installation
from core.errors import NotFound
from tests.builders import NOON
from tests.fakes import ManualClock
from tests.stores import Stores
from tests.unit.bot.slackbot.slack_objects import a_team

ACME, OTHER = a_team(), a_team(id="T2", name="other", workspace="club", token="xoxb-2")


class StoredInstallations:
    """Installations of teams by id, which remember what they were asked for."""

    def __init__(self, *team_ids: str) -> None:
        self._team_ids = team_ids
        self.asked: list[str] = []

    async def find(self, platform: str, team_id: str) -> Installation | None:
        if team_id not in self._team_ids:
            return None
        self.asked.append(team_id)
        return Installation(
            platform=platform,
            team_id=team_id,
            team_name=team_id,
            team_url="",
            bot_user_id="U0BOT",
            bot_id="B0BOT",
            token=f"xoxb-{team_id}",
            scopes=frozenset(),
            installed_at=NOON,
            installed_by="U1",
        )


async def test_a_team_is_found_by_its_id_and_by_its_workspace() -> None:
    teams = Teams([ACME, OTHER])
    assert await teams.get("T2") == OTHER
    assert await teams.of_workspace("house") == ACME
    assert await teams.of_workspace("house", "T2") == OTHER
    assert teams.workspaces() == ["house", "club"]


async def test_a_team_that_another_process_stored_is_looked_up_once() -> None:
    installations = StoredInstallations("T2")
    bindings = Bindings(Stores().teams, {"slack": {"T1": "house", "T2": "club"}}, TEAM_IDS, ManualClock())
    teams = Teams([ACME], installations=installations, bindings=bindings)  # type: ignore[arg-type]  # `find` only
    assert (await teams.get("T2")).workspace == "club"
    assert (await teams.get("T2")).token == "xoxb-T2"
    assert installations.asked == ["T2"]
    with pytest.raises(NotFound, match="isn't installed in the Slack workspace T3"):
        await teams.get("T3")


async def test_a_team_that_removed_the_app_is_forgotten() -> None:
    teams = Teams([ACME])
    await teams.remove("T1")
    assert teams.all() == []
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
