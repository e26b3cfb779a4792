"""Teams install the app in a browser: once, in the browser that began; then they are heard, until they remove it."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession

from bot.slackbot.events import installation as oauth
from bot.slackbot.events.installation import PURPOSE
from bot.slackbot.events.manifest import SCOPES
from bot.wiring.parts import open_parts
from core.errors import ConfigError
from tests.integration.slackbot.door import KEY, Opened, Secrets, open_door
from tests.integration.test_service import start
from tests.slack_server import Person, SlackServer, Team
from tests.slack_server.installing import Visit

OTHER_KEY = "another key of the tests with more than 32 characters"


@pytest.fixture
def team(server: SlackServer) -> Team:
    return server.create_team("acme", installed=False)


@pytest.fixture
def owner(server: SlackServer, team: Team) -> Person:
    return server.person("owner", team=team)


@pytest.fixture
async def opened(server: SlackServer, secrets: Secrets) -> AsyncIterator[Opened]:
    async with open_parts(secrets.config(installs=True)) as app, open_door(app) as opened:
        await server.wait_for_connection()
        yield opened


async def installed(opened: Opened, owner: Person) -> Visit:
    return await owner.install(f"{opened.url}slack/install")


async def stored(opened: Opened) -> list[str]:
    return [one.team_id for one in await opened.app.installations.list_installations("slack")]


async def asks(server: SlackServer, team: Team, text: str = "how long is a day?") -> None:
    general = server.create_channel(team, "general")
    await server.person("ada", general).mention(general, text)
    await server.settle()


async def test_a_team_that_installs_the_app_is_heard_at_once(
    server: SlackServer, team: Team, owner: Person, opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    page = await installed(opened, owner)
    [one] = await opened.app.installations.list_installations("slack")
    await asks(server, team)

    assert (page.status, "Footnote is in acme now" in page.text) == (200, True)
    assert team.install is not None
    assert (one.team_id, one.team_name, one.token) == (team.id, "acme", team.install.token)
    assert (one.bot_user_id, one.bot_id) == (team.bot.id, team.bot.bot_id)
    assert (one.scopes, one.installed_by) == (frozenset(SCOPES), owner.id)
    assert [entry.incoming.text for entry in await opened.heard(f"slack-{team.id}")] == ["how long is a day?"]
    assert not any(word in caplog.text for word in (one.token, "client-secret", "code="))


async def test_the_page_asks_for_the_scopes_of_the_manifest_and_leads_back_to_us(
    opened: Opened, secrets: Secrets
) -> None:
    async with ClientSession() as browser, browser.get(f"{opened.url}slack/install") as reply:
        text, cookie = await reply.text(), reply.headers["Set-Cookie"]

    assert "https://slack.com/oauth/v2/authorize?" in text
    assert f"scope={','.join(sorted(SCOPES))}&amp;" in text
    assert f"redirect_uri={secrets.public_url}/slack/oauth_redirect" in text
    assert all(part in cookie for part in ("Secure", "HttpOnly", "SameSite=Lax", "Max-Age=600"))


async def test_the_way_back_is_open_once(team: Team, owner: Person, opened: Opened) -> None:
    first = await installed(opened, owner)
    async with ClientSession() as browser, browser.get(first.address) as reply:
        without_cookie = reply.status, await reply.text()
    state = first.address.split("state=")[1].split("&")[0]
    cookie = {"Cookie": f"{oauth.COOKIE}={state}"}
    async with ClientSession() as browser, browser.get(first.address, headers=cookie) as reply:
        again = reply.status, await reply.text()

    assert without_cookie[0] == 400
    assert "Another browser opened this page" in without_cookie[1]
    assert again[0] == 401
    assert "was already used" in again[1]
    assert await stored(opened) == [team.id]


async def test_a_state_runs_out(owner: Person, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oauth, "STATE_SECONDS", 0)
    page = await installed(opened, owner)

    assert page.status == 401
    assert "More than ten minutes have passed" in page.text
    assert await stored(opened) == []


async def test_whoever_declines_is_told_that_nothing_changed(owner: Person, opened: Opened) -> None:
    page = await owner.install(f"{opened.url}slack/install", consent=False)

    assert page.status == 200
    assert "You chose not to install Footnote" in page.text
    assert await stored(opened) == []


@pytest.mark.parametrize(
    ("method", "fault", "status", "words"),
    [
        ("oauth.v2.access", {"error": "invalid_code"}, 400, "Start it again"),
        ("oauth.v2.access", {"error": "bad_client_secret"}, 400, "Check the [slack] configuration"),
        ("oauth.v2.access", {"status": 503}, 503, "Slack did not install the app"),
        ("auth.test", {"error": "account_inactive"}, 400, "install the app again"),
    ],
)
async def test_a_refusal_of_slack_is_a_clear_page(
    method: str, fault: dict[str, Any], status: int, words: str, server: SlackServer, owner: Person, opened: Opened
) -> None:
    server.fail_next(method, **fault)
    page = await installed(opened, owner)

    assert page.status == status
    assert words in page.text
    assert "Begin again" in page.text
    assert await stored(opened) == []


@pytest.mark.parametrize(
    "query", ["error=<script>alert(1)</script>", "error=&state=1", "code=1", "state=<b>&code=<b>", ""]
)
async def test_nothing_of_the_address_is_shown(query: str, opened: Opened) -> None:
    async with ClientSession() as browser, browser.get(f"{opened.url}slack/oauth_redirect?{query}") as reply:
        text = await reply.text()

    assert reply.status == 400
    assert "Not installed" in text
    assert "<script" not in text
    assert "<b>" not in text


async def test_another_process_knows_the_team_when_it_is_first_heard_of(
    team: Team, owner: Person, opened: Opened
) -> None:
    async with open_door(opened.app) as other:
        before = other.door.teams.all()
        await installed(opened, owner)
        found = await other.door.teams.get(team.id)

    assert before == []
    assert team.install is not None
    assert (found.token, found.workspace) == (team.install.token, f"slack-{team.id}")


async def test_a_team_that_removes_the_app_is_forgotten_by_all_processes(
    server: SlackServer, team: Team, owner: Person, opened: Opened
) -> None:
    async with open_door(opened.app) as other:
        await server.wait_for_connection(2)
        await installed(opened, owner)
        await other.door.teams.get(team.id)
        await owner.uninstall()
        await server.settle()
        for door in (opened.door, other.door):
            await door.teams.renew()

        assert await stored(opened) == []
        assert opened.door.teams.all() == []
        assert other.door.teams.all() == []


async def test_a_new_token_reaches_all_processes(team: Team, owner: Person, opened: Opened) -> None:
    async with open_door(opened.app) as other:
        await installed(opened, owner)
        await other.door.teams.renew()
        await installed(opened, owner)
        await other.door.teams.renew()

        assert team.install is not None
        assert [one.token for one in other.door.teams.all()] == [team.install.token]
        assert [one.token for one in opened.door.teams.all()] == [team.install.token]


async def test_a_removal_that_is_told_late_does_not_undo_a_new_installation(
    server: SlackServer, team: Team, owner: Person, opened: Opened
) -> None:
    await installed(opened, owner)
    hold = server.hold_events(times=2)
    await owner.uninstall()
    await server.wait_for(lambda: hold.held == 2)
    await installed(opened, owner)
    hold.release()
    await server.settle()
    await asks(server, team)

    assert await stored(opened) == [team.id]
    assert len(await opened.heard(f"slack-{team.id}")) == 1


async def test_installed_teams_are_known_after_a_restart_without_asking_slack(
    server: SlackServer, team: Team, owner: Person, secrets: Secrets
) -> None:
    config = secrets.config(installs=True)
    async with open_parts(config) as app, open_door(app) as opened:
        await installed(opened, owner)
    asked = len(server.calls("auth.test"))
    async with open_parts(config) as app, open_door(app) as opened:
        await server.wait_for_connection(2)
        await asks(server, team)

        assert [one.id for one in opened.door.teams.all()] == [team.id]
        assert len(server.calls("auth.test")) == asked
        assert len(await opened.heard(f"slack-{team.id}")) == 1


async def test_keys_are_changed_one_by_one_and_a_lost_one_is_told_at_the_start(
    team: Team, owner: Person, secrets: Secrets
) -> None:
    async with open_parts(secrets.config(installs=True)) as app, open_door(app) as opened:
        await installed(opened, owner)
    async with open_parts(secrets.config(installs=True, key=OTHER_KEY)) as app:
        with pytest.raises(ConfigError, match=f"{team.id} can't be decrypted with the key in FOOTNOTE_SLACK_KEY"):
            async with open_door(app):
                pytest.fail("it opened")
    for key in (f"{OTHER_KEY}\n{KEY}", OTHER_KEY):
        async with open_parts(secrets.config(installs=True, key=key)) as app, open_door(app) as opened:
            assert [one.id for one in opened.door.teams.all()] == [team.id]


async def test_the_configured_token_goes_before_one_that_its_team_installs(
    server: SlackServer, secrets: Secrets, tmp_path: Path
) -> None:
    team = server.create_team("bravo")
    assert team.install is not None
    configured = team.install.token
    owner = server.person("owner", team=team)
    async with open_parts(secrets.config(team, installs=True)) as app, open_door(app) as opened:
        page = await owner.install(f"{opened.url}slack/install")
        await opened.door.teams.renew()

        assert page.status == 200
        assert [one.token for one in opened.door.teams.all()] == [configured]


async def test_the_whole_service_lets_people_in_from_elsewhere_to_install(
    server: SlackServer, team: Team, owner: Person, secrets: Secrets
) -> None:
    config = secrets.config(installs=True)
    port = urlsplit(secrets.public_url).port
    config = config.model_copy(update={"web": config.web.model_copy(update={"port": port})})
    service, task, entrance = await start(config)
    url = entrance.url
    elsewhere = {"X-Forwarded-For": "203.0.113.9"}
    async with ClientSession(headers=elsewhere) as browser:
        async with browser.get(f"{url}slack/install") as reply:
            page, policy = reply.status, reply.headers["Content-Security-Policy"]
        async with browser.get(f"{url}library") as reply:
            library = reply.status
        async with browser.post(f"{url}slack/events", data="{}") as reply:
            events = reply.status
    installed = await owner.install(f"{url}slack/install")
    service.stop()
    await task

    assert (page, library, events, installed.status) == (200, 403, 404, 200)
    assert "default-src 'none'" in policy
    assert server.socket.connected == []


async def test_a_flood_of_visits_is_stored_only_up_to_a_limit(opened: Opened) -> None:
    async with ClientSession() as browser:
        statuses = [(await browser.get(f"{opened.url}slack/install")).status for _ in range(3 * oauth.VISITS.burst)]
    codes = await opened.app.stores.database.read(
        lambda at: at.exec_driver_sql("SELECT count(*) FROM one_time_code").scalar_one()
    )

    assert 429 in statuses
    assert statuses.count(200) == codes
    assert codes >= oauth.VISITS.burst


async def test_no_state_can_be_consumed_for_another_purpose(opened: Opened) -> None:
    code = await opened.app.one_time_codes.issue(PURPOSE, 600)

    assert not await opened.app.one_time_codes.consume("another", code)
    assert await opened.app.one_time_codes.consume(PURPOSE, code)
