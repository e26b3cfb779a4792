"""The running service: a database, a worker, a clock and pages, started in this order and stopped in the other.

One process a data directory. It stops at SIGTERM or SIGINT in a few seconds (bot/runtime/signals.py): what is
unfinished is in the inbox and goes on at the next start, as it does after a kill.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial

from aiohttp import web

from bot.config import Config
from bot.config.sections import WebConfig
from bot.control.answer_listeners import Hearing
from bot.control.calls import Calls
from bot.control.server import ControlServer
from bot.control.service_lock import Notice, ServiceLock, socket_path
from bot.runtime.metrics import MeteredAnswers, Metrics
from bot.runtime.signals import Signals
from bot.service.doctor import require_filled_index
from bot.service.pages import PageParts, build_asking, build_pages
from bot.service.platforms import build_platforms, prepared_answers
from bot.service.schedule import Schedule, Tick
from bot.service.syncing import start_watching, sync_ticks
from bot.service.worker import (
    repair_index,
    repair_note,
    require_somebody_to_answer,
    start_task,
    start_worker,
    until_end,
    warm,
)
from bot.slackbot.connection import SlackConnection
from bot.web.app import build_runner
from bot.web.inbox_poller import Noticing
from bot.wiring.app import App
from bot.wiring.discord import DiscordDoor, hear_discord, open_discord
from bot.wiring.slack import open_slack, receive_slack
from core.domain.ingest_report import ignore_progress
from core.errors import ConfigError, InvalidState
from core.service.commands import ServiceQuestions
from core.service.inbox import Inbox, platform_gates
from core.thread_work import to_its_end
from core.work.orphaned_jobs import end_abandoned_questions

# How long open event streams and requests may take to end; longer only for those who do not notice.
REQUESTS_END_SECONDS = 0.5
# Each ingest looks for stale answers itself: this finds what one that was killed left.
STALE_EVERY, STALE_FIRST = timedelta(hours=1), timedelta(seconds=30)
BACKLOG = 128  # connections that wait to be taken

_log = logging.getLogger(__name__)


class Service:
    """`run` until `stop` or a signal."""

    def __init__(self, config: Config, on_ready: Callable[[str], None], examples: tuple[str, ...] = ()) -> None:
        """`on_ready` is told the address of the pages; `examples` are questions for their first screen."""
        self._config = config
        self._on_ready = on_ready
        self._examples = examples
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Start, serve, stop. Raises FootnoteError when something can't be started, one sentence each."""
        with Signals(self.stop):
            async with AsyncExitStack() as stack:
                working = await self._start(stack)
                await until_end(working, self._stopping)
                _log.info("Stopping: unfinished work is left for the next start")
            _log.info("Stopped")

    def stop(self) -> None:
        """Stop serving; `run` then returns."""
        self._stopping.set()

    async def _start(self, stack: AsyncExitStack) -> list["asyncio.Task[None]"]:
        """Start everything, each with its end on `stack`; gives the tasks without which it can't go on."""
        require_somebody_to_answer(self._config)
        lock = ServiceLock(self._config.data_path)
        stack.callback(lock.release)
        await to_its_end(lock.acquire)
        listening = stack.enter_context(listen(self._config.web))
        app = await stack.enter_async_context(App(self._config))
        metrics = Metrics()
        await require_filled_index(app)  # opens it now: another process that has it is a clear error at the start
        if not app.is_shared:  # nobody else can be at work on this file
            await app.inbox_store.release_abandoned()
            await end_abandoned_questions(app.job_store, app.clock, app.inbox_store)
        discord = await open_discord(stack, app)
        slack = await open_slack(stack, app)
        platforms = build_platforms(app, discord.platform if discord else None, slack.platform if slack else None)
        hearing = Hearing()
        metered = MeteredAnswers(prepared_answers(app, platforms), metrics)
        worker, task = await start_worker(stack, app, metered, platforms.heard_by(hearing.around))
        app.questions = ServiceQuestions(app.inbox_store, worker.cancel)
        inbox = Inbox(
            app.inbox_store, platform_gates(app.settings, app.clock, rate=None), app.clock, worker.wake, worker.withdraw
        )
        asking = build_asking(app, inbox, hearing, worker)
        control = await self._open_control(stack, Calls(app, metrics.ingested, worker.cancel, asking))
        if app.is_shared:
            await start_task(stack, Noticing(app.inbox_store, platforms.hub, app.workspace).run())
        ears = await receive_slack(stack, slack, app, worker) if slack else None
        parts = PageParts(
            app=app,
            inbox=inbox,
            worker=worker,
            platforms=platforms,
            metrics=metrics,
            examples=self._examples,
            asking=asking,
            additions=(ears.add_pages,) if ears and ears.add_pages else (),
        )
        await _start_pages(stack, build_pages(parts), listening)
        await _start_schedule(stack, app, inbox, discord, slack)
        await start_watching(stack, app.syncs)
        await start_task(stack, warm(app))
        await start_task(stack, repair_index(app))
        await start_task(stack, app.extractions.work(_workspaces(app, discord, slack)))
        heard = [hear_discord(discord, app, worker)] if discord else []
        heard += [ears.stay_connected()] if ears and ears.stay_connected else []
        working = [task, *[await start_task(stack, work) for work in heard]]
        url = address_of(listening)
        lock.announce(Notice(pid=os.getpid(), socket=str(control.path), url=url))
        stack.callback(partial(lock.announce, Notice(pid=os.getpid(), socket="")))  # commands wait for the end
        _log.info("Serving %s from %s", url, self._config.data_path)
        self._on_ready(url)
        return working

    async def _open_control(self, stack: AsyncExitStack, calls: Calls) -> ControlServer:
        control = ControlServer(calls, socket_path(self._config.data_path))
        stack.push_async_callback(control.close)
        await control.open()
        return control


def listen(settings: WebConfig) -> socket.socket:
    """The pages' socket, taken before anything else is started. InvalidState when it can't be had."""
    try:
        family, _, _, _, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except socket.gaierror as error:
        raise ConfigError(f"[web] host {settings.host!r} is no address of this machine: try 127.0.0.1.") from error
    except OSError as error:
        raise InvalidState(
            f"Port {settings.port} of {settings.host} can't be used ({error.strerror}): stop what listens there, or "
            "set another port under [web] in the configuration (FOOTNOTE_WEB__PORT)."
        ) from error


def address_of(listening: socket.socket) -> str:
    """The pages' address as a browser on this machine reaches it."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - shown, not bound
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


async def _start_pages(stack: AsyncExitStack, pages: web.Application, listening: socket.socket) -> None:
    runner = build_runner(pages, shutdown_timeout=REQUESTS_END_SECONDS)
    stack.push_async_callback(runner.cleanup)
    await runner.setup()
    await web.SockSite(runner, listening).start()


async def _start_schedule(
    stack: AsyncExitStack, app: App, inbox: Inbox, *doors: DiscordDoor | SlackConnection | None
) -> None:
    async def tidy() -> str | None:
        messages, jobs, runs = await inbox.tidy(), await app.jobs.tidy(), await app.cassettes.purge()
        if not (messages or jobs or runs):
            return None
        return f"Forgot {messages} messages and {jobs} jobs that ended long ago, and {runs} recorded runs"

    async def repair() -> str | None:
        return repair_note(await app.upkeep.reindex(ignore_progress))

    async def drop_files() -> str | None:
        gone = await app.attachments.sweep(sorted(_workspaces(app, *doors)))
        return f"Removed the files of {gone} threads without a conversation" if gone else None

    async def notice() -> str | None:
        notes = await app.staleness.check()
        return f"{notes} threads get a note about stale answers" if notes else None

    ticks = {"retention": tidy, "search index": repair, "files of threads": drop_files}
    stale = Tick(name="stale answers", work=notice, every=STALE_EVERY, first_after=STALE_FIRST)
    daily = [Tick(name=name, work=work) for name, work in ticks.items()]
    schedule = Schedule((stale, *daily, *await sync_ticks(app.syncs, app.clock)))
    schedule.start()
    stack.push_async_callback(schedule.stop)


def _workspaces(app: App, *doors: DiscordDoor | SlackConnection | None) -> set[str]:
    """Our own, the configured ones, and those of the servers and teams that the bot is in."""
    configured = {*app.config.discord.workspaces.values(), *app.config.slack.workspaces.values()}
    found = [
        door.workspaces() if isinstance(door, SlackConnection) else door.workspaces(app.config)
        for door in doors
        if door
    ]
    return {app.workspace} | configured.union(*found)
