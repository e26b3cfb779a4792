"""The running service: a database, a worker, a schedule and pages, started in this order and stopped in reverse.

One process for each data directory. It stops within seconds of SIGTERM or SIGINT (bot/runtime/signals.py): unfinished
questions are in the inbox and continue at the next start, as they do after a kill.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from urllib.parse import urljoin

from aiohttp import web

from bot.config import Config
from bot.config.sections import WebConfig
from bot.discordbot.connection import DiscordConnection
from bot.presentation.setup_screens import SetupWizard
from bot.runtime.metrics import Metrics
from bot.runtime.signals import Signals
from bot.service.answer_listeners import AnswerListeners
from bot.service.calls import ServiceControls
from bot.service.command_server import CommandServer
from bot.service.doctor import require_filled_index
from bot.service.erasure import remove_abandoned
from bot.service.pages import build_pages, build_sessions
from bot.service.platforms import Platforms, build_answers, build_platform_parts, open_platforms, receive_slack
from bot.service.schedule import Schedule, Tick, start_watching, sync_ticks
from bot.service.service_lock import ServiceInfo, ServiceLock, socket_path
from bot.service.submission import QuestionSubmitter
from bot.service.supervision import start_task
from bot.service.worker import (
    repair_index,
    repair_note,
    require_somebody_to_answer,
    start_worker,
    until_end,
    warm,
)
from bot.web.app import build_runner
from bot.web.client import InboxPoller
from bot.web.pages.setup import SetupParts, SetupRun
from bot.web.pages.sign_in import enter_path
from bot.wiring.parts import Parts, build_parts
from bot.wiring.pipeline import build_commands
from core.access.identity import Sessions
from core.domain.ingest_report import ignore_progress
from core.errors import ConfigError, InvalidState
from core.features.early_questions import EarlyQuestions
from core.service.commands.threads import RunningQuestions
from core.service.inbox import Inbox, platform_gates
from core.service.worker import Worker
from core.thread_work import to_its_end
from core.work.orphaned_jobs import end_abandoned_questions

# Time for open event streams and requests to end.
REQUESTS_END_SECONDS = 0.5
# Each ingest checks for stale answers; this finds the ones that a killed ingest left.
STALE_EVERY, STALE_FIRST = timedelta(hours=1), timedelta(seconds=30)
REPORTS_EVERY = timedelta(hours=1)  # looks for due ones, which are daily
AUDIT_KEPT = timedelta(days=400)
CALLS_KEPT = timedelta(days=400)  # of models: this month's cost can be compared with that of a year ago
BACKLOG = 128  # connections that wait to be accepted

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupHost:
    """The set-up of a process, for all services that it runs."""

    run: SetupRun
    open_wizard: Callable[[], SetupWizard]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """The address of the pages, and links that open them once."""

    url: str
    link: str
    setup_link: str  # "" without set-up


@dataclass(frozen=True)
class WayIn:
    """Makes links to the pages at an address."""

    sessions: Sessions
    url: str
    has_setup: bool

    async def new_link(self, to_setup: bool) -> str:
        """Return a new one-time link to the pages, or to set-up. InvalidState for a service without set-up."""
        if to_setup and not self.has_setup:
            raise InvalidState("The demo has no set-up. Run `footnote serve`, and open the link that it prints.")
        return urljoin(self.url, enter_path(await self.sessions.new_code(), to_setup=to_setup))

    async def announce(self) -> Entrance:
        setup_link = await self.new_link(True) if self.has_setup else ""
        return Entrance(url=self.url, link=await self.new_link(False), setup_link=setup_link)


class Service:
    """`run` until `stop` or a signal."""

    def __init__(
        self,
        config: Config,
        on_ready: Callable[[Entrance], None],
        examples: tuple[str, ...] = (),
        *,
        setup: SetupHost | None = None,
        open_port: Callable[[WebConfig], socket.socket] | None = None,
    ) -> None:
        """`on_ready` takes the way to the pages; `examples` are questions for their first screen.

        Without `setup`, the pages have no wizard. `open_port` returns a socket that the service closes.
        """
        self._config = config
        self._on_ready = on_ready
        self._examples = examples
        self._setup = setup
        self._open_port = open_port or listen
        self._stopping = asyncio.Event()
        self.wants_restart = False  # it ended so that another service can start with a new configuration

    async def run(self) -> None:
        """Start, serve, stop. Raises FootnoteError if a part can't start."""
        with Signals(self.stop):
            async with AsyncExitStack() as stack:
                worker = await self._start(stack)
                await until_end(worker, self._stopping)
                _log.info("Stopping. Unfinished work resumes at the next start")
            _log.info("Stopped")

    def stop(self) -> None:
        """Make `run` return."""
        self.wants_restart = False
        self._stopping.set()

    def restart(self) -> None:
        """Make `run` return, to be followed by another service."""
        if not self._stopping.is_set():
            self.wants_restart = True
            self._stopping.set()

    async def _start(self, stack: AsyncExitStack) -> "asyncio.Task[None]":
        """Start all parts and register their ends on `stack`; return the worker's task, whose end ends the service."""
        require_somebody_to_answer(self._config)
        lock = ServiceLock(self._config.data_path)
        stack.callback(lock.release)
        await to_its_end(lock.acquire)
        listening = stack.enter_context(self._open_port(self._config.web))
        app = await build_parts(self._config, stack)
        metrics = Metrics()
        await require_filled_index(app)  # opens it now, so that another process using it is a clear error at the start
        if not app.config.is_shared:  # no other process can be at work on this file
            await app.inbox_store.release_abandoned()
            await end_abandoned_questions(app.stores.jobs, app.clock, app.inbox_store)
        listeners = AnswerListeners()
        platforms = await open_platforms(stack, app, wrap=listeners.wrap)
        answers = build_answers(app, platforms, metrics)
        worker, task = await start_worker(stack, app, answers, platforms.by_name)
        commands = build_commands(app, RunningQuestions(app.inbox_store, worker.cancel))
        gates = platform_gates(app.stores.settings)
        inbox = app.build_inbox(gates, worker.wake, worker.withdraw)
        submitter = _build_submitter(app, inbox, listeners, worker)
        way_in = WayIn(build_sessions(app), address_of(listening), has_setup=self._setup is not None)
        controls = ServiceControls(
            submitter=submitter,
            commands=commands,
            stop_answer=worker.cancel,
            count_ingest=metrics.ingested,
            new_web_link=way_in.new_link,
        )
        command_server = CommandServer(app, controls, socket_path(self._config.data_path))
        stack.push_async_callback(command_server.close)
        await command_server.open()
        if app.config.is_shared:
            await start_task(stack, InboxPoller(app.inbox_store, platforms.hub, app.workspace).run())
        reception = await receive_slack(stack, platforms.slack, app, commands, worker) if platforms.slack else None
        pages = build_pages(
            app,
            commands=commands,
            inbox=inbox,
            worker=worker,
            platforms=platforms,
            metrics=metrics,
            examples=self._examples,
            submitter=submitter,
            setup=self._build_setup(),
            additions=(reception.add_pages,) if reception and reception.add_pages else (),
        )
        await _start_pages(stack, pages, listening)
        await _start_background(stack, app, inbox, platforms)

        async def hear_discord(opened: DiscordConnection) -> None:
            await opened.listen(build_platform_parts(app, commands, worker, opened.gates(app.stores.settings)))

        await platforms.connect(stack, app, hear=hear_discord, reception=reception)
        lock.announce(ServiceInfo(pid=os.getpid(), socket=str(command_server.path), url=way_in.url))
        stack.callback(partial(lock.announce, ServiceInfo(pid=os.getpid(), socket="")))  # commands wait for the end
        _log.info("Serving %s from %s", way_in.url, self._config.data_path)
        self._on_ready(await way_in.announce())
        return task

    def _build_setup(self) -> SetupParts | None:
        host = self._setup
        return SetupParts(open_wizard=host.open_wizard, run=host.run, restart=self.restart) if host else None


def listen(settings: WebConfig) -> socket.socket:
    """Open the pages' socket, before anything else starts. InvalidState if the port can't be used."""
    try:
        family, _, _, _, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except socket.gaierror as error:
        raise ConfigError(f"[web] host {settings.host!r} isn't an address of this machine. Try 127.0.0.1.") from error
    except OSError as error:
        raise InvalidState(
            f"Can't use port {settings.port} of {settings.host} ({error.strerror}). Stop the program that uses it, or "
            "set another port under [web] in the configuration (FOOTNOTE_WEB__PORT)."
        ) from error


def address_of(listening: socket.socket) -> str:
    """Return the pages' address for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # nosec B104  # noqa: S104 - shown, not bound
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def _build_submitter(app: Parts, inbox: Inbox, listeners: AnswerListeners, worker: Worker) -> QuestionSubmitter:
    return QuestionSubmitter(
        inbox=inbox,
        store=app.inbox_store,
        listeners=listeners,
        conversations=app.conversations,
        jobs=app.jobs,
        cancel=worker.cancel,
    )


def _build_early_questions(app: Parts, inbox: Inbox) -> EarlyQuestions:
    return EarlyQuestions(
        workspace=app.workspace,
        entries=app.inbox_store,
        conversations=app.conversations,
        availability=app.availability,
        access=app.access,
        receive=inbox.receive,
    )


async def _start_pages(stack: AsyncExitStack, pages: web.Application, listening: socket.socket) -> None:
    runner = build_runner(pages, shutdown_timeout=REQUESTS_END_SECONDS)
    stack.push_async_callback(runner.cleanup)
    await runner.setup()
    await web.SockSite(runner, listening).start()


async def delete_unused(app: Parts) -> int:
    """Delete the conversations of each workspace that are older than it keeps them; return their number."""
    kept = {name: own.keep_days for name, own in app.config.workspaces.items() if own.keep_days is not None}
    now = app.clock.now()
    return sum([await app.conversations.delete_unused(name, now - timedelta(days=days)) for name, days in kept.items()])


async def _start_background(stack: AsyncExitStack, app: Parts, inbox: Inbox, platforms: Platforms) -> None:
    async def tidy() -> str | None:
        messages, jobs, runs = await inbox.tidy(), await app.jobs.tidy(), await app.cassettes.purge()
        additions, talks = await app.additions.purge(), await delete_unused(app)
        if lost := await app.stores.corpus.redact_lost():
            _log.info("Deleted %d answers that rest on documents which are gone", lost)
        for removal in await remove_abandoned(app):
            _log.info("The bot was removed from the last server or team of a workspace. %s", removal)
        await app.live.tidy()
        await app.index.erase()
        await app.spending.store.purge((app.clock.now() - CALLS_KEPT).date())
        await app.stores.audit.purge(app.clock.now() - AUDIT_KEPT)
        if not (messages or jobs or runs or additions or talks):
            return None
        counts = f"{talks} conversations, {messages} old inbox entries, {jobs} old jobs, {runs} recorded answers"
        return f"Deleted {counts} and {additions} records of added documents"

    async def repair() -> str | None:
        return repair_note(await app.maintenance.reindex(ignore_progress))

    async def drop_files() -> str | None:
        gone = await app.attachments.sweep(sorted(platforms.workspaces(app)))
        return f"Removed the files of {gone} threads without a conversation" if gone else None

    async def notice() -> str | None:
        notes = await app.staleness.check()
        await app.kept.sweep()
        return f"{notes} threads get a note about stale answers" if notes else None

    async def report() -> str | None:
        sent = await app.auto_answers.send_reports(platforms.reporters, app.inbox_store)
        return f"{sent} channels in shadow mode were reported" if sent else None

    ticks = {"retention": tidy, "search index": repair, "files of threads": drop_files}
    stale = Tick(name="stale answers", work=notice, every=STALE_EVERY, first_after=STALE_FIRST)
    daily = [Tick(name=name, work=work) for name, work in ticks.items()]
    await start_task(stack, app.live.work())
    await start_task(stack, app.uploads.work(sorted(platforms.workspaces(app))))
    await start_task(stack, _build_early_questions(app, inbox).work())
    shadow = Tick(name="reports of shadow mode", work=report, every=REPORTS_EVERY)
    schedule = Schedule((stale, shadow, *daily, *await sync_ticks(app.syncs, app.clock)))
    schedule.start()
    stack.push_async_callback(schedule.stop)
    await start_watching(stack, app.syncs)
    await start_task(stack, platforms.follow_teams(app.bindings))
    await start_task(stack, warm(app))
    await start_task(stack, repair_index(app))
    await start_task(stack, app.extractions.work(platforms.workspaces(app)))
