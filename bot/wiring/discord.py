"""Builds the Discord adapter."""

import asyncio
from contextlib import AsyncExitStack

from bot.discordbot.connection import DiscordConnection, build_client, close_client, log_in
from bot.discordbot.delivery.platform import DiscordPlatform
from bot.wiring.parts import Parts
from bot.wiring.platforms import link_maker


async def open_discord(stack: AsyncExitStack, app: Parts) -> DiscordConnection | None:
    """Log in until the end of `stack`; None without a configured token. Raises as `log_in` does."""
    token = app.config.discord_token()
    if token is None:
        return None
    client = build_client(app.config.discord)
    stack.push_async_callback(close_client, client)
    await log_in(client, token.get_secret_value())
    platform = DiscordPlatform(client, app.inbox_store, link_maker(app.config, app.clock), app.clock, asyncio.sleep)
    stack.push_async_callback(platform.close)
    return DiscordConnection(client=client, platform=platform, settings=app.config.discord)
