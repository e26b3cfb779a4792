"""The worker: part of `footnote serve`, and by itself `footnote worker`.

A worker alone shares a PostgreSQL database with the processes that people talk to. It has no pages, no door and no
clock: it claims what they accepted, answers, and posts to the platforms it can post to (bot/service/platforms.py).
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping
from contextlib import AsyncExitStack
from typing import Any

from bot.config import WEB_KEY_VARIABLE, Config
from bot.config.slack import is_on as slack_is_on
from bot.runtime.signals import Signals
from bot.service.doctor import count_lacking, require_filled_index
from bot.service.platforms import build_platforms, prepared_answers
from bot.wiring.discord import open_discord
from bot.wiring.parts import Parts, build_parts
from bot.wiring.slack import open_slack
from core.answering.service import Answering
from core.domain.ingest_report import RepairReport, ignore_progress
from core.errors import ConfigError, FootnoteError, InvalidState
from core.ports.service import ChatPlatform
from core.service.worker import Worker

WORKER_END_SECONDS = 2.0  # longer only for those who do not notice

_log = logging.getLogger(__name__)


class LoneWorker:
    """`run` until `stop` or a signal."""

    def __init__(self, config: Config, on_ready: Callable[[], None]) -> None:
        self._config = config
        self._on_ready = on_ready
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Start, work, stop. Raises FootnoteError when something can't be started, one sentence each."""
        require_shared(self._config)
        with Signals(self.stop):
            async with AsyncExitStack() as stack:
                app = await build_parts(self._config, stack)
                await require_filled_index(app)  # opens it now: without its server this is a clear error
                discord = await open_discord(stack, app)
                slack = await open_slack(stack, app, hears=False)
                platforms = build_platforms(
                    app, discord.platform if discord else None, slack.platform if slack else None
                )
                _, task = await start_worker(stack, app, prepared_answers(app, platforms), platforms.by_name)
                await start_task(stack, warm(app))
                await start_task(stack, app.extractions.work(()))  # of files attached to questions that it answers
                _log.info("Working for %s", app.database.name)
                self._on_ready()
                await until_end([task], self._stopping)
                _log.info("Stopping: unfinished work is left for the other processes")
            _log.info("Stopped")

    def stop(self) -> None:
        """Claim nothing more; `run` then returns."""
        self._stopping.set()


def require_shared(config: Config) -> None:
    """Raises InvalidState where a second process would have nothing to work on."""
    if config.database_url() is None:
        raise InvalidState(
            "`footnote worker` shares a database with other processes, but a data directory's SQLite file is for one "
            "process: run `footnote serve`, which answers by itself, or set [database] url to a PostgreSQL server."
        )
    if not config.index.url:
        raise InvalidState(
            "`footnote worker` shares the search index with other processes, but the embedded one is for one process: "
            "set [index] url to a Qdrant server, for all of them."
        )
    if config.service.parallel == 0:
        raise ConfigError("[service] parallel = 0 leaves nothing to do for `footnote worker`: set it to 1 or more.")
    posts_elsewhere = config.discord_token() or slack_is_on(config)
    if posts_elsewhere and config.web.public_url and config.web_key() is None:
        raise ConfigError(
            "Footnotes that `footnote worker` posts to Discord or Slack lead to the pages of another process, which "
            f"has to know who signed them: give all processes the same {WEB_KEY_VARIABLE}, or [web] secret_key_file."
        )


def require_somebody_to_answer(config: Config) -> None:
    """Raises ConfigError for a service that answers nothing on a database of its own."""
    if config.service.parallel == 0 and config.database_url() is None:
        raise ConfigError(
            "[service] parallel = 0 leaves all questions to other processes, which a SQLite file can't have: "
            "set it to 1 or more, or [database] url to a PostgreSQL server."
        )


async def start_worker(
    stack: AsyncExitStack, app: Parts, answers: Answering, platforms: Mapping[str, ChatPlatform]
) -> tuple[Worker, "asyncio.Task[None]"]:
    """A worker that runs until the end of `stack`, and its task."""
    store = app.inbox_store
    worker = Worker(store, answers, platforms, app.clock, jobs=app.job_store, parallel=app.config.service.parallel)
    await stack.enter_async_context(store.watch(worker.wake))
    task = asyncio.create_task(worker.run(), name="worker")
    stack.push_async_callback(_end_worker, worker, task)
    return worker, task


async def start_task(stack: AsyncExitStack, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
    """Something that goes on beside all else until the end of `stack`."""
    task = asyncio.create_task(work)
    stack.push_async_callback(_end, task)
    return task


async def until_end(working: Collection["asyncio.Task[None]"], stopping: asyncio.Event) -> None:
    """Wait to be told to stop. Raises what ended one of those who work, where something did."""
    told = asyncio.create_task(stopping.wait())
    await asyncio.wait({told, *working}, return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    for task in working:
        if task.done() and not stopping.is_set():
            task.result()


async def warm(app: Parts) -> None:
    """Load the embedding model, so that the first question does not wait for it."""
    try:
        _log.info("Embedding model: %s", await app.describe_embedder())
    except FootnoteError as error:
        _log.error("%s", error)


async def repair_index(app: Parts) -> None:
    """Index again, from the database, what the index lacks: its folder was lost, or a database restored."""
    try:
        missing, expected = await count_lacking(app)
        if missing:
            _log.warning("The search index lacks %d of %d passages: they are indexed again now", missing, expected)
            _log.info("%s", repair_note(await app.upkeep.reindex(ignore_progress)))
    except FootnoteError as error:
        _log.error("%s", error)


def repair_note(report: RepairReport) -> str | None:
    """What was done to the index, for the log; None: nothing."""
    if not report.documents and not report.left_over:
        return None
    return f"Indexed {report.documents} documents again, removed {report.left_over} old revisions from the search index"


async def _end_worker(worker: Worker, task: "asyncio.Task[None]") -> None:
    await worker.stop()
    done, _ = await asyncio.wait({task}, timeout=WORKER_END_SECONDS)
    if not done:
        await _end(task)


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait({task})
