"""The service and `footnote doctor` when Discord does not let them in, or goes away."""

import json

import discord
import pytest
from aiohttp import ClientSession

from tests.discord_server import BotProcess
from tests.e2e.discord_service import DiscordService
from tests.e2e.platform_service import TEAM
from tests.e2e.serving import QUICK_END_SECONDS

pytestmark = pytest.mark.slow


async def ended(service: DiscordService, process: BotProcess) -> list[str]:
    """What a process that ends by itself with an error says about it."""
    process.start()
    await service.until(lambda: not process.running, "the end of the process")
    assert process.exit_code == 1, process.printed
    return [line for line in process.printed.splitlines() if line.startswith("footnote: ")]


async def test_a_refused_login_ends_the_service_with_one_sentence(discord_service: DiscordService) -> None:
    discord_service.join("House", TEAM)
    bad = discord_service.command("serve", log="bad.log", DISCORD_TOKEN="wrong")
    [sentence] = await ended(discord_service, bad)
    assert "Discord refuses the bot's token" in sentence
    assert "Reset Token" in sentence
    assert "Traceback" not in bad.printed


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
