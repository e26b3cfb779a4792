"""The composition root's part for the pages: chat, API and source viewer over one App."""

import os
import secrets
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from aiohttp import web

from bot.config import Config
from bot.metrics import Metrics
from bot.webchat.api.door import ApiDoor
from bot.webchat.api.platform import ApiPlatform
from bot.webchat.api.routes import add_api
from bot.webchat.app import WebAddition, WebParts, build_web
from bot.webchat.chat import ChatParts, add_chat
from bot.webchat.client import WebPlatform
from bot.webchat.events import EventHub
from bot.wiring import App
from core.domain.conversation import ThreadAddress
from core.domain.corpus import SearchScope
from core.errors import StorageError
from core.inbox import Inbox
from core.rates import Rate, RateGate
from core.service_ports import ChatPlatform
from core.worker import Worker

KEY_FILE = "web.key"  # in the data directory; signs links where no key is configured
KEY_BYTES = 32
OWNER_ONLY_FILE = 0o600


@dataclass(frozen=True, kw_only=True)
class Platforms:
    """The chat platforms that this service is itself."""

    hub: EventHub
    chat: WebPlatform
    api: ApiPlatform

    @cached_property
    def by_name(self) -> dict[str, ChatPlatform]:
        return {platform.name: platform for platform in (self.chat, self.api)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageParts:
    """What the pages are made of."""

    app: App
    inbox: Inbox
    worker: Worker
    platforms: Platforms
    metrics: Metrics
    examples: tuple[str, ...]


def build_platforms(app: App) -> Platforms:
    hub = EventHub()
    return Platforms(hub=hub, chat=WebPlatform(hub, app.conversations, app.clock), api=ApiPlatform())


def build_pages(made: PageParts) -> web.Application:
    """The web application with everything that is configured. Raises StorageError without a key to sign links."""
    parts = _web_parts(made)
    additions: list[WebAddition] = [partial(add_api, door=_door(made)), partial(add_chat, chat=_chat(made))]
    return build_web(parts, additions)


def link_key(config: Config) -> str:
    """The configured key, else one of the data directory's own, made at the first start."""
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


def _web_parts(made: PageParts) -> WebParts:
    app, settings = made.app, made.app.config.web

    async def scope(address: ThreadAddress | None) -> SearchScope:
        return await app.access.scope(address.workspace if address else app.workspace, address)

    return WebParts(
        workspace=app.workspace,
        library=app.library,
        corpus=app.corpus,
        conversations=app.conversations,
        jobs=app.jobs,
        commands=app.commands,
        clock=app.clock,
        scope=scope,
        secret_key=link_key(app.config),
        public_url=settings.public_url,
        link_days=settings.link_days,
        open_to_network=settings.open_to_network,
        worker=made.worker,
    )


def _door(made: PageParts) -> ApiDoor:
    app, settings = made.app, made.app.config.api
    token = app.config.api_token()
    return ApiDoor(
        inbox=made.inbox,
        store=app.inbox_store,
        platform=made.platforms.api,
        index=app.index,
        metrics=made.metrics,
        gate=RateGate(Rate(per_second=settings.requests_per_second, burst=settings.burst), app.clock),
        token=token.get_secret_value() if token else None,
        local_exempt=settings.local_exempt,
        token_exempt=settings.token_exempt,
        wait_seconds=settings.wait_seconds,
    )


def _chat(made: PageParts) -> ChatParts:
    return ChatParts(
        hub=made.platforms.hub,
        platform=made.platforms.chat,
        inbox=made.inbox,
        entries=made.app.inbox_store,
        examples=made.examples,
        feedbacks=made.app.feedbacks,
    )
