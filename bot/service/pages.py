"""The service's web application: chat, API and source viewer over the parts."""

from dataclasses import dataclass
from functools import partial

from aiohttp import web

from bot.runtime.metrics import Metrics
from bot.service.platforms import Platforms
from bot.service.submission import QuestionSubmitter
from bot.web.api.auth import ApiContext
from bot.web.api.routes import add_api
from bot.web.app import WebAddition, WebParts, build_web
from bot.web.chat import ChatParts, add_chat
from bot.web.links import build_links
from bot.web.pages.library import add_connection_pages, add_statistics_page
from bot.wiring.parts import Parts
from core.answering.answers.stored import stored_ids
from core.domain.conversation import ThreadAddress
from core.domain.corpus import SearchScope
from core.features.connections import Connections
from core.service.commands.table import Commands
from core.service.inbox import Inbox
from core.service.worker import Worker
from core.work.rate_limit import Rate, RateLimiter


@dataclass(frozen=True, slots=True, kw_only=True)
class PageParts:
    """Parts of the web application."""

    app: Parts
    commands: Commands
    inbox: Inbox
    worker: Worker
    platforms: Platforms
    metrics: Metrics
    examples: tuple[str, ...]
    submitter: QuestionSubmitter
    additions: tuple[WebAddition, ...] = ()  # of chat platforms


def build_pages(made: PageParts) -> web.Application:
    """Build the configured web application. StorageError without a key to sign links."""
    parts, stores = _web_parts(made), made.app.stores
    connections = Connections(
        extracts=stores.extracts,
        corpus=stores.corpus,
        names=parts.library.names,
        cited=stores.cited,
        conversations=stores.conversations,
    )
    additions: list[WebAddition] = [
        partial(add_api, api=_api_context(made)),
        partial(add_chat, chat=_chat(made)),
        partial(add_connection_pages, connections=connections),
        partial(add_statistics_page, statistics=made.app.statistics),
        *made.additions,
    ]
    return build_web(parts, additions)


def _web_parts(made: PageParts) -> WebParts:
    app, settings = made.app, made.app.config.web

    async def scope(thread: ThreadAddress | None, reader: str | None = None) -> SearchScope:
        return await app.access.scope(thread.workspace if thread else app.workspace, thread, reader=reader)

    async def ask_again(job_id: str) -> str:
        return stored_ids(await made.submitter.resubmit(job_id, app.workspace)).request

    return WebParts(
        workspace=app.workspace,
        library=app.library,
        corpus=app.stores.corpus,
        facts=app.facts,
        conversations=app.conversations,
        jobs=app.jobs,
        commands=made.commands,
        clock=app.clock,
        page_images=app.page_images,
        scope=scope,
        links=build_links(app.config, app.clock),
        public_url=settings.public_url,
        open_to_network=settings.open_to_network,
        worker=made.worker,
        ask_again=ask_again,
    )


def _api_context(made: PageParts) -> ApiContext:
    app, settings = made.app, made.app.config.api
    token = app.config.api_token()
    return ApiContext(
        inbox=made.inbox,
        store=app.inbox_store,
        platform=made.platforms.api,
        index=app.index,
        metrics=made.metrics,
        gate=RateLimiter(Rate(per_second=settings.requests_per_second, burst=settings.burst), app.clock),
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
