"""The service on Slack, its doctor and its manifest when it starts: who is let in, and teams that install it."""

import json
import socket
import time
from collections.abc import Mapping

import pytest
from aiohttp import ClientSession

from tests.bot_process import BotProcess
from tests.e2e.platform_service import ANSWER, CLUB, CLUB_ANSWER, QUESTION, READY
from tests.e2e.slack_service import SlackService
from tests.slack_server import text_of
from tests.slack_server.state import BOT_SCOPES

pytestmark = pytest.mark.slow
BY_SOCKET = pytest.mark.parametrize("slack_service", ["socket"], indirect=True)
BY_HTTP = pytest.mark.parametrize("slack_service", ["http"], indirect=True)
TOO_OLD_SECONDS = 6 * 60  # a signature is good for five minutes
KEY = "5qcJw1T3mS0u0iXJm2mF3H1Zx7rKqV9b"


async def ended(service: SlackService, process: BotProcess) -> list[str]:
    """What a process that ends by itself with an error says about it."""
    process.start()
    await service.until(lambda: not process.running, "the end of the process")
    assert process.exit_code == 1, process.printed
    assert "Traceback" not in process.printed
    return [line for line in process.printed.splitlines() if line.startswith("footnote: ")]


async def off(service: SlackService, process: BotProcess) -> str:
    """The line that says why Slack is off, of a service that serves its pages without it."""
    process.start()
    told = "Slack is off, everything else goes on"
    await service.until(lambda: READY in process.printed and told in process.printed, "pages and a word about Slack")
    [line] = [line for line in process.printed.splitlines() if told in line]
    await process.stop()
    assert (process.exit_code, "Traceback" in process.printed) == (0, False)
    return line


async def printed(service: SlackService, *command: str, log: str, **settings: str) -> str:
    """What a command prints."""
    process = service.command(*command, log=log, **settings)
    process.start()
    await service.until(lambda: not process.running, "the end of the command")
    return process.printed


@BY_SOCKET
async def test_who_is_not_let_in_is_told_in_one_sentence_what_to_do(slack_service: SlackService) -> None:
    service = slack_service
    down = "http://127.0.0.1:9/api/"
    assert "SLACK_BOT_TOKEN" in await off(
        service, service.command("serve", "--json", log="bot.log", SLACK_BOT_TOKEN="xoxb-no")
    )
    refused = await off(service, service.command("serve", "--json", log="app.log", SLACK_APP_TOKEN="xapp-wrong"))
    assert "Slack refuses the app token" in refused
    assert "reached" in await off(
        service, service.command("serve", "--json", log="down.log", FOOTNOTE_TEST_SLACK_API=down)
    )
    [sentence] = await ended(service, service.command("serve", log="none.log", SLACK_APP_TOKEN=""))
    assert "connections:write" in sentence
    [sentence] = await ended(
        service,
        service.command("serve", log="http.log", SLACK_SIGNING_SECRET="", FOOTNOTE_SLACK__TRANSPORT="http"),
    )
    assert "SLACK_SIGNING_SECRET" in sentence


@BY_SOCKET
async def test_the_doctor_says_who_it_is_or_what_is_missing(slack_service: SlackService) -> None:
    service = slack_service

    async def slack_check(log: str, **settings: str) -> tuple[bool, str]:
        found = json.loads(await printed(service, "doctor", "--json", log=log, **settings))
        [check] = [one for one in found["checks"] if one["name"] == "slack"]
        return check["ok"], check["detail"]

    ok, detail = await slack_check("well.json")
    assert (ok, f"is ready in acme ({service.team.id})" in detail) == (True, True)
    assert service.team.install is not None
    service.team.install.scopes.remove("files:read")
    ok, detail = await slack_check("scopes.json")
    assert (ok, "files:read" in detail) == (False, True)
    ok, detail = await slack_check("bad.json", SLACK_APP_TOKEN="xapp-wrong")
    assert (ok, "app token" in detail) == (False, True)


@BY_SOCKET
async def test_the_manifest_asks_for_scopes_that_there_are(slack_service: SlackService) -> None:
    told = await printed(slack_service, "manifest", "slack", "--json", log="manifest.json")
    manifest = json.loads(told)
    assert set(manifest["oauth_config"]["scopes"]["bot"]) <= BOT_SCOPES
    assert manifest["settings"]["socket_mode_enabled"]
    [command] = manifest["features"]["slash_commands"]
    assert command["command"] == "/footnote"


@BY_HTTP
async def test_what_slack_did_not_sign_is_not_read(slack_service: SlackService) -> None:
    service, server = slack_service, slack_service.server
    general, ada = service.settle_in()
    await service.start()
    asked = await ada.mention(general, QUESTION)
    await service.answered(general, thread=asked)
    [sent] = [one for one in server.http.requests if '"app_mention"' in one.body]
    forged = sent.body.replace(asked.ts, "1700000000.000001").replace("Ev", "EvX")

    async def status(body: str, headers: Mapping[str, str]) -> int:
        async with ClientSession() as browser, browser.post(server.http.url, data=body, headers=headers) as reply:
            return reply.status

    assert await status(forged, {"Content-Type": "application/json"}) == 401
    assert await status(forged, sent.headers) == 401
    old = server.http.signed(forged, at=time.time() - TOO_OLD_SECONDS)
    assert await status(forged, old) == 401
    await service.ask(ada, general)
    assert len(server.answers(general)) == 2


@BY_HTTP
async def test_a_second_team_installs_the_app_and_each_knows_nothing_of_the_other(slack_service: SlackService) -> None:
    service, server = slack_service, slack_service.server
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    club = server.create_team("club", installed=False)
    service.documents_of(club, CLUB)
    service.settings |= {
        "FOOTNOTE_WEB__PORT": str(port),
        "FOOTNOTE_WEB__PUBLIC_URL": f"http://127.0.0.1:{port}",
        "FOOTNOTE_SLACK__CLIENT_ID": server.app.client_id,
        "SLACK_CLIENT_SECRET": server.app.client_secret,
        "FOOTNOTE_SLACK_KEY": KEY,
    }
    general, ada = service.settle_in()
    await service.start()

    ben = server.person("ben", team=club)
    refused = await ben.install(f"{service.url}slack/install", consent=False)
    assert "Not installed" in refused.text
    visit = await ben.install(f"{service.url}slack/install")
    assert visit.status == 200, visit.text
    assert club.install is not None
    token = club.install.token

    there = server.create_channel(club, "general", ben)
    asked = [await service.ask(ada, general), await service.ask(ben, there)]
    said = [text_of(server.answers(place, thread=one)[0]) for place, one in zip((general, there), asked, strict=True)]
    assert [ANSWER in text for text in said] == [True, False]
    assert [CLUB_ANSWER in text for text in said] == [False, True]
    assert token.encode() not in b"".join(one.read_bytes() for one in service.data.glob("footnote.db*"))

    await server.settle()
    await service.restart()
    await service.ask(ben, there, QUESTION)
    await ben.uninstall()
    await server.settle()
    await service.ask(ada, general)
    await ben.install(f"{service.url}slack/install")
    await service.ask(ben, there)
    assert "Traceback" not in service.process.printed
