"""Builds the Slack adapter."""

import logging
from contextlib import AsyncExitStack

from bot.config.slack import read_settings
from bot.presentation.platform_parts import PlatformParts
from bot.slackbot.connection import Reception, SlackConnection, connect
from bot.slackbot.events.directory import slack_gates
from bot.wiring.parts import Parts
from bot.wiring.platforms import link_maker, shared_parts
from core.service.commands import Commands
from core.service.worker import Worker

_log = logging.getLogger(__name__)


async def open_slack(stack: AsyncExitStack, app: Parts, *, hears: bool = True) -> SlackConnection | None:
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
        link=link_maker(app.config, app.clock),
        clock=app.clock,
    )


async def receive_slack(
    stack: AsyncExitStack, connection: SlackConnection, app: Parts, commands: Commands, worker: Worker
) -> Reception:
    """Receive events until the end of `stack`. Raises as `SlackConnection.listen`."""
    shared = shared_parts(app, commands, worker, slack_gates(app.settings, app.clock))
    return await connection.listen(stack, PlatformParts(**shared), app.one_time_codes)
