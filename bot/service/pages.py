"""The service's web application: chat, API and source viewer over the parts."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web

from bot.runtime.metrics import Metrics
from bot.service.overview import describe_service
from bot.service.platforms import Platforms
from bot.service.samples import SAMPLES, add_samples, remove_samples
from bot.service.submission import QuestionSubmitter
from bot.web.api.auth import ApiContext
from bot.web.api.routes import add_api
from bot.web.app import WebAddition, WebParts, build_web
from bot.web.chat import add_chat
from bot.web.links import build_links, link_key
from bot.web.pages.documents import LibraryTools, add_library
from bot.web.pages.inbox import add_inbox
from bot.web.pages.library import add_connection_pages, add_statistics_page
from bot.web.pages.samples import SampleLibrary, add_sample_tile
from bot.web.pages.settings import add_settings
from bot.web.pages.setup import SetupParts, add_setup
from bot.web.proxy import build_proxy_sign_in
from bot.web.threads import ChatParts
from bot.wiring.parts import Parts
from core.access.identity import Sessions, Tokens
from core.answering.answers.stored import stored_ids
from core.domain.corpus import SearchScope
from core.domain.incoming import ThreadAddress
from core.features.connections import Connections
from core.service.commands.table import Commands
from core.service.inbox import Inbox
from core.service.worker import Worker
from core.work.rate_limit import Rate, RateLimiter

if TYPE_CHECKING:
    from bot.web.oidc import OidcSignIn


def build_pages(
    app: Parts,
    *,
    commands: Commands,
    inbox: Inbox,
    worker: Worker,
    platforms: Platforms,
    metrics: Metrics,
    examples: tuple[str, ...],
    submitter: QuestionSubmitter,
    setup: SetupParts | None,
    additions: Sequence[WebAddition],
) -> web.Application:
    """Build the configured web application; `additions` are of chat platforms. Without `setup` it has no wizard.

    Raises StorageError without a key to sign links.
    """
    stores, settings, token = app.stores, app.config.api, app.config.api_token()
    api = ApiContext(
        inbox=inbox,
        store=app.inbox_store,
        spending=app.spending.store,
        platform=platforms.api,
        index=app.index,
        metrics=metrics,
        tokens=build_tokens(app),
        platforms=lambda: platforms.supervision.states,
        gate=RateLimiter(Rate(per_second=settings.requests_per_second, burst=settings.burst), app.clock),
        token=token.get_secret_value() if token else None,
        local_exempt=settings.local_exempt,
        token_exempt=settings.token_exempt,
        wait_seconds=settings.wait_seconds,
    )
    chat = ChatParts(
        hub=platforms.hub,
        platform=platforms.chat,
        inbox=inbox,
        entries=app.inbox_store,
        examples=examples,
        suggestions=app.suggestions,
        feedbacks=app.feedbacks,
        quotes_only=app.config.quotes_only(app.workspace),
    )
    connections = Connections(
        extracts=stores.extracts,
        corpus=stores.corpus,
        names=app.library.names,
        cited=stores.cited,
        conversations=stores.conversations,
    )
    own: Sequence[WebAddition] = (
        partial(add_api, api=api),
        partial(add_chat, chat=chat),
        partial(add_connection_pages, connections=connections),
        partial(add_statistics_page, statistics=app.statistics),
        partial(add_inbox, reviews=app.reviews),
        partial(add_library, tools=LibraryTools(additions=app.additions, syncs=app.syncs, cited=stores.cited)),
        *_settings_pages(app, platforms, setup),
    )
    return build_web(_web_parts(app, commands, worker, submitter), [*own, *additions])


def _settings_pages(app: Parts, platforms: Platforms, setup: SetupParts | None) -> Sequence[WebAddition]:
    """Return the settings, the wizard, and the tile of the sample library."""
    samples = SampleLibrary(
        name=SAMPLES,
        add=partial(add_samples, app, app.workspace),
        remove=partial(remove_samples, app, app.workspace),
    )
    settings = partial(describe_service, app, platforms, can_set_up=setup is not None)
    pages: list[WebAddition] = [partial(add_sample_tile, samples=samples), partial(add_settings, overview=settings)]
    return [*pages, partial(add_setup, setup=setup)] if setup else pages


def build_tokens(app: Parts) -> Tokens:
    """Build the API's tokens of people. Raises StorageError without a key."""
    return Tokens(app.stores.identity, app.clock, link_key(app.config))


def build_sessions(app: Parts) -> Sessions:
    """Build the sessions of the web app. Raises StorageError without a key."""
    return Sessions(app.stores.identity, app.one_time_codes, app.clock, link_key(app.config))


def build_oidc_sign_in(app: Parts) -> "OidcSignIn | None":
    """Build the sign-in at a provider, if there is one. ConfigError names all that its configuration lacks."""
    if not app.config.web.oidc.issuer:
        return None
    from bot.web.oidc import build_oidc

    return build_oidc(app.config, app.clock)


def _web_parts(app: Parts, commands: Commands, worker: Worker, submitter: QuestionSubmitter) -> WebParts:
    async def scope(thread: ThreadAddress | None, reader: str | None = None) -> SearchScope:
        return await app.access.scope(thread.workspace if thread else app.workspace, thread, reader=reader)

    async def ask_again(job_id: str) -> str:
        return stored_ids(await submitter.resubmit(job_id, app.workspace)).request

    return WebParts(
        workspace=app.workspace,
        library=app.library,
        corpus=app.stores.corpus,
        facts=app.facts,
        conversations=app.conversations,
        jobs=app.jobs,
        commands=commands,
        clock=app.clock,
        page_images=app.page_images,
        scope=scope,
        links=build_links(app.config, app.clock),
        sessions=build_sessions(app),
        proxy=build_proxy_sign_in(app.config),
        oidc=build_oidc_sign_in(app),
        public_url=app.config.web.public_url,
        open_to_network=app.config.web.open_to_network,
        worker=worker,
        ask_again=ask_again,
        check_options=app.strategies.check,
    )
