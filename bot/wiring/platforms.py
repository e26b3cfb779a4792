"""Parts of all chat platforms: links to footnotes, and the shared fields of their adapters."""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from bot.config import Config
from bot.presentation.platform_parts import LinkTo
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
