"""The running service: a database, a worker, a clock and pages, started in this order and stopped in the other.

One process a data directory. It stops at SIGTERM or SIGINT within SHUTDOWN_SECONDS: what is unfinished is in the inbox
and goes on at the next start, as it does after a kill.
"""

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import NoReturn

from aiohttp import web

from bot.config import Config, WebConfig
from bot.control.calls import Calls
from bot.control.holding import Notice, ServiceLock, socket_path
from bot.control.server import ControlServer
from bot.metrics import MeteredAnswers, Metrics
from bot.schedule import Schedule, Tick
from bot.service_web import PageParts, build_pages, build_platforms
from bot.wiring import App
from core.commands import ServiceQuestions
from core.errors import ConfigError, FootnoteError, InvalidState
from core.inbox import Inbox, platform_gates
from core.service_ports import ChatPlatform
from core.worker import Worker

# From the signal to the end of the process, whatever hangs: people get impatient after five seconds, and a busy machine
# takes its time to tell of the signal. Longer than the grace of posts under way (core/worker.py).
SHUTDOWN_SECONDS = 3.5
# How long open event streams and requests may take to end; longer only for those who do not notice.
REQUESTS_END_SECONDS = 0.5
WORKER_END_SECONDS = 2.0
BACKLOG = 128  # connections that wait to be taken
SIGNALS = (signal.SIGINT, signal.SIGTERM)

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
        with _Signals(self.stop):
            async with AsyncExitStack() as stack:
                worker = await self._start(stack)
                stopping = asyncio.create_task(self._stopping.wait())
                await asyncio.wait({stopping, worker}, return_when=asyncio.FIRST_COMPLETED)
                stopping.cancel()
                if worker.done() and not self._stopping.is_set():
                    worker.result()  # raises what ended it
                _log.info("Stopping: unfinished work is left for the next start")
            _log.info("Stopped")

    def stop(self) -> None:
        """Stop serving; `run` then returns."""
        self._stopping.set()

    async def _start(self, stack: AsyncExitStack) -> asyncio.Task[None]:
        """Start everything, each with its end on `stack`; gives the worker's task."""
        lock = ServiceLock(self._config.data_path)
        await asyncio.to_thread(lock.acquire)
        stack.callback(lock.release)
        listening = stack.enter_context(listen(self._config.web))
        app = await stack.enter_async_context(App(self._config))
        metrics = Metrics()
        await app.index.count()  # opens it now: another process that has it is a clear error at the start
        await app.inbox_store.release_abandoned()
        platforms = build_platforms(app)
        worker, inbox, task = await self._start_worker(stack, app, metrics, platforms.by_name)
        control = await self._open_control(stack, Calls(app, metrics.ingested, worker.cancel))
        parts = PageParts(
            app=app, inbox=inbox, worker=worker, platforms=platforms, metrics=metrics, examples=self._examples
        )
        await _start_pages(stack, build_pages(parts), listening)
        _start_schedule(stack, app, inbox)
        _warm(stack, app)
        url = address_of(listening)
        lock.announce(Notice(pid=os.getpid(), socket=str(control.path), url=url))
        stack.callback(partial(lock.announce, Notice(pid=os.getpid(), socket="")))  # commands wait for the end
        _log.info("Serving %s from %s", url, self._config.data_path)
        self._on_ready(url)
        return task

    async def _open_control(self, stack: AsyncExitStack, calls: Calls) -> ControlServer:
        control = ControlServer(calls, socket_path(self._config.data_path))
        await control.open()
        stack.push_async_callback(control.close)
        return control

    async def _start_worker(
        self, stack: AsyncExitStack, app: App, metrics: Metrics, platforms: Mapping[str, ChatPlatform]
    ) -> tuple[Worker, Inbox, asyncio.Task[None]]:
        worker = Worker(
            app.inbox_store,
            MeteredAnswers(app.answers, metrics),
            platforms,
            app.clock,
            parallel=self._config.service.parallel,
        )
        app.questions = ServiceQuestions(app.inbox_store, worker.cancel)
        inbox = Inbox(app.inbox_store, platform_gates(app.settings, app.clock, rate=None), app.clock, worker.wake)
        task = asyncio.create_task(worker.run(), name="worker")
        stack.push_async_callback(_end_worker, worker, task)
        return worker, inbox, task


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
    runner = web.AppRunner(pages, access_log=None, handle_signals=False, shutdown_timeout=REQUESTS_END_SECONDS)
    stack.push_async_callback(runner.cleanup)
    await runner.setup()
    await web.SockSite(runner, listening).start()


def _start_schedule(stack: AsyncExitStack, app: App, inbox: Inbox) -> None:
    async def tidy() -> str | None:
        forgotten = await inbox.tidy()
        return f"Forgot {forgotten} messages that ended long ago" if forgotten else None

    async def sweep() -> None:
        await app.sweep()

    schedule = Schedule((Tick(name="retention", work=tidy), Tick(name="index sweep", work=sweep)))
    schedule.start()
    stack.callback(schedule.stop)


def _warm(stack: AsyncExitStack, app: App) -> None:
    """Load the embedding model beside all else, so that the first question does not wait for it."""

    async def load() -> None:
        try:
            _log.info("Embedding model: %s", await app.describe_embedder())
        except FootnoteError as error:
            _log.error("%s", error)

    task = asyncio.create_task(load())
    stack.push_async_callback(_end, task)


async def _end_worker(worker: Worker, task: asyncio.Task[None]) -> None:
    await worker.stop()
    done, _ = await asyncio.wait({task}, timeout=WORKER_END_SECONDS)
    if not done:
        await _end(task)


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait({task})


class _Signals:
    """While it is open: the first signal calls `stop` and sets a deadline, the second ends the process at once."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._deadline: threading.Timer | None = None

    def __enter__(self) -> None:
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._received, number)

    def __exit__(self, *_: object) -> None:
        """After a signal the deadline stays: threads that hang would keep the process from ending."""
        for number in SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)
            if self._deadline is not None:
                signal.signal(number, _end_now)

    def _received(self, number: int) -> None:
        if self._deadline is not None:
            _end_now(number)
        _log.info("Received %s", signal.Signals(number).name)
        self._deadline = threading.Timer(SHUTDOWN_SECONDS, _give_up)
        self._deadline.daemon = True
        self._deadline.start()
        self._stop()


def _give_up() -> NoReturn:
    _log.warning("Some work did not stop in time: it is cut off, and done again at the next start")
    os._exit(0)


def _end_now(number: int, _frame: object = None) -> NoReturn:
    os._exit(128 + number)
