"""Parts of all chat platforms: links to footnotes, and the shared fields of their adapters."""

import asyncio
import logging
import os
import secrets
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypedDict

from bot.config import Config
from bot.config.slack import read_settings
from bot.discordbot.connection import DiscordConnection, build_client, close_client, log_in
from bot.discordbot.delivery.platform import DiscordPlatform
from bot.presentation.platform_parts import LinkTo, PlatformParts
from bot.slackbot.connection import Reception, SlackConnection, connect
from bot.slackbot.events.directory import slack_gates
from bot.web.links import Links
from bot.wiring.parts import Parts
from bot.wiring.resources import KEY_FILE
from core.access.scopes import Access
from core.answering.deletion import Forgetting
from core.domain.answer import Citation
from core.errors import StorageError
from core.features.feedback import Feedbacks
from core.features.kept_answers import KeptAnswers
from core.ports import Clock, CorpusRepository
from core.ports.service import InboxStore, SettingsRepository
from core.service.commands import Commands
from core.service.inbox import Gate, Inbox
from core.service.jobs import Jobs
from core.service.worker import Worker
from core.work.conversations import Conversations

KEY_BYTES = 32
OWNER_ONLY_FILE = 0o600


def link_maker(config: Config, clock: Clock) -> LinkTo:
    """Return a maker of footnote links: to the viewer, else to the document on the web, else None. Never loopback."""
    settings = config.web
    if not settings.public_url:
        return lambda citation, thread: own_address(citation)
    links = Links(secret_key=link_key(config), clock=clock, days=settings.link_days, public_url=settings.public_url)
    return links.url


def own_address(citation: Citation) -> str | None:
    """Return the document's web address, or None."""
    return citation.url if citation.url and citation.url.startswith(("http://", "https://")) else None


def link_key(config: Config) -> str:
    """Return the configured key, else the data directory's own; create that at the first start."""
    configured = config.web_key()
    if configured is not None:
        return configured.get_secret_value()
    file = config.data_path / KEY_FILE
    try:
        return _stored_key(file)
    except OSError as error:
        raise StorageError(f"The key file {str(file)!r} can't be used ({error.strerror}): check it.") from error


def _stored_key(file: Path) -> str:
    if not file.exists():
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY_FILE)
        with os.fdopen(handle, "w", encoding="ascii") as fresh:
            fresh.write(secrets.token_urlsafe(KEY_BYTES))
    return file.read_text(encoding="ascii").strip()


class SharedParts(TypedDict):
    """The fields of PlatformParts (bot/presentation/platform_parts.py) that are the same on all platforms."""

    inbox: Inbox
    entries: InboxStore
    worker: Worker
    conversations: Conversations
    forgetting: Forgetting
    commands: Commands
    feedbacks: Feedbacks
    jobs: Jobs
    access: Access
    corpus: CorpusRepository
    keeping: KeptAnswers | None
    settings: SettingsRepository
    clock: Clock
    link: LinkTo


def shared_parts(parts: Parts, commands: Commands, worker: Worker, gates: Sequence[Gate]) -> SharedParts:
    """Bind the shared fields; `gates` are the platform's, in order."""
    forgetting = Forgetting(
        inbox=parts.inbox_store,
        conversations=parts.conversations,
        stop=worker.withdraw,
        attachments=parts.attachments,
    )
    return SharedParts(
        inbox=Inbox(parts.inbox_store, gates, parts.clock, worker.wake, worker.withdraw),
        entries=parts.inbox_store,
        worker=worker,
        conversations=parts.conversations,
        forgetting=forgetting,
        commands=commands,
        feedbacks=parts.feedbacks,
        jobs=parts.jobs,
        access=parts.access,
        corpus=parts.corpus,
        keeping=parts.kept,
        settings=parts.settings,
        clock=parts.clock,
        link=link_maker(parts.config, parts.clock),
    )


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
