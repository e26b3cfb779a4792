"""Builds the Slack adapter."""

import logging
from contextlib import AsyncExitStack

from bot.config.slack import read_settings
from bot.presentation.platform_parts import PlatformParts
from bot.slackbot.connection import Reception, SlackConnection, connect
from bot.slackbot.events.directory import slack_gates
from bot.wiring.app import App
from bot.wiring.links import link_maker
from bot.wiring.parts import shared_parts
from core.service.worker import Worker

_log = logging.getLogger(__name__)


async def open_slack(stack: AsyncExitStack, app: App, *, hears: bool = True) -> SlackConnection | None:
    """Open the adapter until the end of `stack`; None if Slack isn't configured. A worker passes `hears=False`.

    Raises ConfigError with all that is missing, and as `connect`.
    """
    settings = read_settings(app.config, hears=hears)
    if settings is None:
        return None
    installations = app.installations if settings.has_keys else None
    if installations is not None and (count := await installations.reseal()):
        _log.info("The tokens of %d Slack teams are encrypted with the new key", count)
    return await connect(
        stack,
        settings,
        workspaces=app.config.slack.workspaces,
        installations=installations,
        entries=app.inbox_store,
        link=link_maker(app),
        clock=app.clock,
    )


async def receive_slack(stack: AsyncExitStack, connection: SlackConnection, app: App, worker: Worker) -> Reception:
    """Receive events until the end of `stack`. Raises as `SlackConnection.listen`."""
    parts = PlatformParts(**shared_parts(app, worker, slack_gates(app.settings, app.clock)))
    return await connection.listen(stack, parts, app.one_time_codes)
