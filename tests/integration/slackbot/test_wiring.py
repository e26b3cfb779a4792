"""Slack's door: who it opens for, what is told at the start, and that it stays open whatever Slack does."""

import asyncio
import logging
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.config import Config
from bot.service.platforms import open_slack
from bot.slackbot.events import transport as socket_mode
from bot.slackbot.events.transport import BAD_APP_TOKEN, ReconnectingSocket
from bot.wiring.parts import open_parts
from core.errors import ConfigError, PlatformError
from tests.integration.slackbot.door import VARIABLES, Opened, Secrets, open_door
from tests.slack_server import Channel, Person, SlackServer, Team

NO_APP: AsyncApp = None  # type: ignore[assignment]  # nothing is heard


async def texts(opened: Opened, team: Team) -> list[str]:
    return [entry.incoming.text for entry in await opened.heard(f"slack-{team.id}")]


async def test_without_anything_configured_slack_is_off(tmp_path: Path, server: SlackServer) -> None:
    async with open_parts(Config(data_dir=tmp_path)) as app, AsyncExitStack() as stack:
        assert await open_slack(stack, app) is None
    assert server.calls() == []


@pytest.mark.parametrize("transport", ["socket", "http"])
async def test_a_question_is_heard_over_either_transport(
    transport: str, server: SlackServer, team: Team, general: Channel, ada: Person, secrets: Secrets
) -> None:
    async with open_parts(secrets.config(team, transport=transport)) as app, open_door(app) as opened:
        if transport == "socket":
            await server.wait_for_connection()
        else:
            await server.use_http(f"{opened.url}slack/events")
        await ada.mention(general, "how long is a day?")
        await server.settle()

        assert await texts(opened, team) == ["how long is a day?"]
        assert all(one.acknowledged and not one.failures for one in server.parcels)
        assert opened.door.teams.workspaces() == [f"slack-{team.id}"]
    assert server.socket.connected == []


async def test_a_team_may_have_a_workspace_that_was_there_before(
    server: SlackServer, team: Team, general: Channel, ada: Person, secrets: Secrets
) -> None:
    async with open_parts(secrets.config(team, workspaces={team.id: "house"})) as app, open_door(app) as opened:
        await server.wait_for_connection()
        await ada.mention(general, "how long is a day?")
        await server.settle()

        assert len(await opened.heard("house")) == 1
        assert opened.door.teams.workspaces() == ["house"]


async def test_a_team_that_is_bound_by_its_name_reads_that_workspace_at_once_and_its_own_again(
    server: SlackServer, team: Team, general: Channel, ada: Person, secrets: Secrets
) -> None:
    async with open_parts(secrets.config(team)) as app, open_door(app) as opened:
        await server.wait_for_connection()
        await app.bindings.record_connected("slack", opened.door.teams.names())
        bound = await app.bindings.bind("slack", team.name, "house")
        await ada.mention(general, "how long is a day?")
        await server.settle()
        assert (bound.team.id, [one.incoming.text for one in await opened.heard("house")]) == (
            team.id,
            ["how long is a day?"],
        )

        await app.bindings.unbind("slack", team.name)
        await ada.mention(general, "how long is a night?")
        await server.settle()
        assert len(await opened.heard("house")) == 1
        assert len(await opened.heard(f"slack-{team.id}")) == 1


async def test_several_processes_hear_and_each_question_is_taken_in_once(
    server: SlackServer, team: Team, general: Channel, ada: Person, secrets: Secrets
) -> None:
    async with open_parts(secrets.config(team)) as app, open_door(app) as opened, open_door(app), open_door(app):
        await server.wait_for_connection(3)
        server.deliver_twice(3)
        for number in range(6):
            await ada.mention(general, f"question {number}")
        await server.settle()

        assert sorted(await texts(opened, team)) == [f"question {number}" for number in range(6)]
        assert len(server.socket.connected) == 3


async def test_a_worker_alone_posts_without_hearing(server: SlackServer, team: Team, secrets: Secrets) -> None:
    config = secrets.config(team, app_token_file=None)
    async with open_parts(config) as app, AsyncExitStack() as stack:
        door = await open_slack(stack, app, hears=False)
        assert door is not None
        await door.log_in()
        assert [one.name for one in door.teams.all()] == ["acme"]
    assert server.socket.opened == 0


@pytest.mark.parametrize("refusal", ["invalid_auth", "token_revoked", "account_inactive"])
async def test_a_bot_token_that_slack_refuses_is_told_at_the_start(
    refusal: str, server: SlackServer, team: Team, secrets: Secrets
) -> None:
    config = secrets.config(team)
    server.revoke(team, refusal)
    async with open_parts(config) as app, AsyncExitStack() as stack:
        door = await open_slack(stack, app)
        assert door is not None
        with pytest.raises(ConfigError, match=r"Slack refuses the bot's token. Install .* SLACK_BOT_TOKEN"):
            await door.log_in()


async def test_an_app_token_that_slack_refuses_is_told_at_the_start(
    server: SlackServer, team: Team, secrets: Secrets
) -> None:
    config = secrets.config(team, app_token_file=secrets.file("wrong", "xapp-wrong"))
    async with open_parts(config) as app, open_door(app) as opened:
        with pytest.raises(ConfigError) as caught:
            await asyncio.wait_for(opened.ears.stay_connected(), 60)
    assert str(caught.value) == BAD_APP_TOKEN


async def test_a_slack_that_is_away_is_told_at_the_start(
    server: SlackServer, team: Team, secrets: Secrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AsyncWebClient, "BASE_URL", "http://127.0.0.1:9/api/")
    async with open_parts(secrets.config(team)) as app, AsyncExitStack() as stack:
        door = await open_slack(stack, app)
        assert door is not None
        with pytest.raises(PlatformError, match=r"Slack can't be reached .*Check this machine's network"):
            await door.log_in()


async def test_what_others_read_from_the_environment_changes_nothing_here(
    server: SlackServer,
    team: Team,
    general: Channel,
    ada: Person,
    secrets: Secrets,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert team.install is not None
    for name in VARIABLES:
        monkeypatch.setenv(
            name, {"SLACK_BOT_TOKEN": team.install.token, "SLACK_APP_TOKEN": server.app.token}.get(name, "x")
        )
    async with open_parts(secrets.config(app_token_file=None)) as app, open_door(app) as opened:
        await server.wait_for_connection()
        await ada.mention(general, "how long is a day?")
        await server.settle()

        assert await texts(opened, team) == ["how long is a day?"]
    warnings = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert [
        one.getMessage() for one in warnings if not one.name.endswith(".sessions")
    ] == []  # an app without agent view


async def test_it_hears_on_after_slack_wants_a_new_connection(
    server: SlackServer, team: Team, general: Channel, ada: Person, secrets: Secrets
) -> None:
    async with open_parts(secrets.config(team)) as app, open_door(app) as opened:
        await server.wait_for_connection()
        await server.disconnect()
        await server.wait_for_connection(2)
        await server.drop_sockets()
        await server.wait_for_connection(3)
        await ada.mention(general, "how long is a day?")
        await server.settle()

        assert await texts(opened, team) == ["how long is a day?"]


async def test_refused_connections_are_tried_again_without_end(
    server: SlackServer,
    team: Team,
    general: Channel,
    ada: Person,
    secrets: Secrets,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(socket_mode, "FIRST_PAUSE_SECONDS", 0.01)
    async with open_parts(secrets.config(team)) as app, open_door(app) as opened:
        await server.wait_for_connection()
        server.socket.refused = True
        await server.drop_sockets()
        await server.wait_for(lambda: len(server.calls("apps.connections.open")) >= 5)
        server.socket.refused = False
        await server.wait_for_connection(2)
        await ada.mention(general, "how long is a day?")
        await server.settle()

        assert await texts(opened, team) == ["how long is a day?"]
    said = [one for one in caplog.records if one.name == socket_mode.__name__ and one.levelno >= logging.WARNING]
    assert len(said) >= 3
    assert all("next try in" in one.getMessage() and one.exc_info is None for one in said)


async def test_a_connection_that_breaks_without_a_word_is_renewed(server: SlackServer, team: Team) -> None:
    socket = ReconnectingSocket(NO_APP, server.app.token, AsyncWebClient(base_url=server.api), ping_seconds=0.05)
    await socket.connect()
    await server.wait_for_connection()
    await server.drop_sockets(politely=False)
    await server.wait_for_connection(2)
    await socket.close()
    assert socket.closed


async def test_an_address_that_is_used_up_is_not_tried_twice(
    server: SlackServer, team: Team, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(socket_mode, "FIRST_PAUSE_SECONDS", 0.01)
    socket = ReconnectingSocket(NO_APP, server.app.token, AsyncWebClient(base_url=server.api))
    socket.wss_uri = f"{server.socket.address}?ticket=used-up-secret"
    await socket.connect()
    await server.wait_for_connection()
    await socket.close()

    assert len(server.calls("apps.connections.open")) == 1
    assert "next try in" in caplog.text
    assert "used-up-secret" not in caplog.text


async def test_a_closed_socket_asks_for_nothing_more(server: SlackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_mode, "FIRST_PAUSE_SECONDS", 0.01)
    server.socket.refused = True
    socket = ReconnectingSocket(NO_APP, server.app.token, AsyncWebClient(base_url=server.api))
    connecting = asyncio.create_task(socket.connect())
    await server.wait_for(lambda: len(server.calls("apps.connections.open")) >= 2)
    await socket.close()
    await asyncio.wait_for(connecting, 60)

    asked = len(server.calls("apps.connections.open"))
    server.socket.refused = False
    await asyncio.sleep(0)
    assert len(server.calls("apps.connections.open")) == asked
    assert server.socket.opened == 0
