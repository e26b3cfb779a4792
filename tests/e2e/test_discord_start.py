"""The service and `footnote doctor` when Discord does not let them in, or goes away."""

import json

import discord
import pytest
from aiohttp import ClientSession

from tests.e2e.discord_service import DiscordService
from tests.e2e.platform_service import READY, TEAM
from tests.e2e.serving import QUICK_END_SECONDS

pytestmark = pytest.mark.slow


async def is_ready(url: str) -> tuple[int, dict[str, str]]:
    """The status of /readyz, and what it says about each part."""
    async with ClientSession() as browser, browser.get(f"{url}readyz") as reply:
        return reply.status, (await reply.json())["checks"]


async def test_after_a_refused_login_the_pages_are_served_and_one_sentence_tells_the_fix(
    discord_service: DiscordService,
) -> None:
    service = discord_service
    service.join("House", TEAM)
    service.settings["DISCORD_TOKEN"] = "wrong"
    service.process.start()
    await service.until(lambda: READY in service.process.printed, "pages")
    [line] = [line for line in service.process.printed.splitlines() if "Discord is off" in line]
    assert "Discord refuses the bot's token" in line
    assert "Reset Token" in line
    assert "everything else goes on" in line
    status, checks = await is_ready(service.url)
    assert (status, checks["discord"]) == (200, "not connected")
    assert await service.stop() < QUICK_END_SECONDS
    assert (service.process.exit_code, "Traceback" in service.process.printed) == (0, False)


async def test_a_bot_without_message_content_is_connected_once_it_is_turned_on(discord_service: DiscordService) -> None:
    service, server = discord_service, discord_service.server
    guild = service.join("House", TEAM)
    general, ada = guild.create_text_channel("general"), server.person("ada", guild)
    server.world.approved_intents, approved = discord.Intents.default(), server.world.approved_intents
    service.process.start()
    await service.until(lambda: "“Message Content Intent”" in service.process.printed, "the missing intent")
    await service.until(lambda: READY in service.process.printed, "pages")
    assert (await is_ready(service.url))[1]["discord"] == "not connected"
    server.world.approved_intents = approved
    await service.until(lambda: service.connections, "a connection to Discord")
    await service.ask(ada, general)
    assert (await is_ready(service.url))[1]["discord"] == "ok"
    assert await service.stop() < QUICK_END_SECONDS
    assert (service.process.exit_code, "Traceback" in service.process.printed) == (0, False)


async def test_the_doctor_gives_the_invitation_or_the_fix(discord_service: DiscordService) -> None:
    service, server = discord_service, discord_service.server

    async def discord_check(log: str) -> tuple[bool, str]:
        process = service.command("doctor", "--json", log=log)
        process.start()
        await service.until(lambda: not process.running, "the doctor's findings")
        [check] = [one for one in json.loads(process.printed)["checks"] if one["name"] == "discord"]
        return check["ok"], check["detail"]

    ok, detail = await discord_check("well.json")
    assert ok
    assert f"client_id={server.world.backend.application_id}" in detail
    assert "scope=bot+applications.commands" in detail
    server.world.approved_intents = discord.Intents.default()
    ok, detail = await discord_check("blind.json")
    assert (ok, "“Message Content Intent”" in detail) == (False, True)


async def test_the_pages_stay_while_discord_is_away_and_it_is_heard_when_it_is_back(
    discord_service: DiscordService,
) -> None:
    service, server = discord_service, discord_service.server
    guild = service.join("House", TEAM)
    general, ada = guild.create_text_channel("general"), server.person("ada", guild)
    await service.start()
    await service.ask(ada, general)
    server.fail_next("GET", "/gateway/bot", 500, times=3)
    async with (
        server.gateway_down(resume=False),
        ClientSession() as browser,
        browser.get(f"{service.url}healthz") as reply,
    ):
        assert reply.status == 200
    await service.ask(ada, general)
    assert await service.stop() < QUICK_END_SECONDS
    assert service.process.exit_code == 0
    assert "Traceback" not in service.process.printed
