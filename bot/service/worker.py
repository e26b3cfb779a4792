"""The worker: part of `footnote serve`, or a process of its own as `footnote worker`.

A separate worker shares a PostgreSQL database with services. It has no pages and no schedule: it claims questions that
they accepted, answers them, and posts to its platforms (bot/service/platforms.py).
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from bot.config import WEB_KEY_VARIABLE, Config
from bot.config.slack import is_on as slack_is_on
from bot.runtime.signals import Signals
from bot.service.doctor import count_lacking, describe_embedder, require_filled_index, run_other_models
from bot.service.platforms import build_answers, open_platforms
from bot.service.supervision import end_task, start_task
from bot.wiring.parts import Parts, build_parts
from core.answering.pipeline import Answering
from core.domain.ingest_report import RepairReport, ignore_progress
from core.errors import ConfigError, FootnoteError, InvalidState
from core.ports.service import ChatPlatform
from core.service.worker import Worker
from core.text.language import language_of

WORKER_END_SECONDS = 2.0  # then the task is cancelled

_log = logging.getLogger(__name__)


async def work_alone(config: Config, on_ready: Callable[[], None]) -> None:
    """Start, work until a signal, stop. Raises FootnoteError if a part can't start."""
    require_shared(config)
    stopping = asyncio.Event()
    with Signals(stopping.set):
        async with AsyncExitStack() as stack:
            app = await build_parts(config, stack)
            await require_filled_index(app)  # opens it now, so that a missing server is a clear error
            platforms = await open_platforms(stack, app, hears=False)
            _, task = await start_worker(stack, app, build_answers(app, platforms), platforms.by_name)
            await platforms.connect(stack, app)
            await start_task(stack, platforms.follow_teams(app.bindings))
            await start_task(stack, warm(app))
            await start_task(stack, app.extractions.work(()))  # for files attached to its questions
            _log.info("Working for %s", app.stores.database.name)
            on_ready()
            await until_end(task, stopping)
            _log.info("Stopping. Other processes resume unfinished work")
        _log.info("Stopped")


def require_shared(config: Config) -> None:
    """Raise InvalidState if database or index are only for one process."""
    if config.database_url() is None:
        raise InvalidState(
            "`footnote worker` shares a database with other processes, but a SQLite file is only for one. "
            "Run `footnote serve`, which answers by itself, or set [database] url to a PostgreSQL server."
        )
    if not config.index.url:
        raise InvalidState(
            "`footnote worker` shares the search index with other processes, but the embedded one is only for one. "
            "Set [index] url to a Qdrant server, for all processes."
        )
    if config.service.parallel == 0:
        raise ConfigError("[service] parallel = 0 leaves nothing to do for `footnote worker`. Set it to 1 or more.")
    posts_elsewhere = config.discord_token() or slack_is_on(config)
    if posts_elsewhere and config.web.public_url and config.web_key() is None:
        raise ConfigError(
            "Footnotes that `footnote worker` posts to Discord or Slack link to pages of another process, which "
            f"checks their signatures. Give all processes the same {WEB_KEY_VARIABLE}, or [web] secret_key_file."
        )


def require_somebody_to_answer(config: Config) -> None:
    """Raise ConfigError for a service with its own database and no worker."""
    if config.service.parallel == 0 and config.database_url() is None:
        raise ConfigError(
            "[service] parallel = 0 leaves all questions to other processes, which a SQLite file can't have. "
            "Set it to 1 or more, or [database] url to a PostgreSQL server."
        )


async def start_worker(
    stack: AsyncExitStack, app: Parts, answers: Answering, platforms: Mapping[str, ChatPlatform]
) -> tuple[Worker, "asyncio.Task[None]"]:
    """Start a worker that runs until the end of `stack`; return it and its task."""
    store = app.inbox_store
    worker = Worker(store, answers, platforms, app.clock, jobs=app.stores.jobs, parallel=app.config.service.parallel)
    await stack.enter_async_context(store.watch(worker.wake))
    task = asyncio.create_task(worker.run(), name="worker")
    stack.push_async_callback(_end_worker, worker, task)
    return worker, task


async def until_end(worker: "asyncio.Task[None]", stopping: asyncio.Event) -> None:
    """Wait for `stopping`. Raises the error of a worker that ended before."""
    told = asyncio.create_task(stopping.wait())
    await asyncio.wait({told, worker}, return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    if worker.done() and not stopping.is_set():
        worker.result()


async def warm(app: Parts) -> None:
    """Load the languages and the models before the first question, which they would hold up for two seconds."""
    await asyncio.to_thread(language_of, "footnote")  # no word tells its language: its letters have to
    try:
        embedder = await describe_embedder(app)
        await run_other_models(app)
        _log.info("Embedding model: %s", embedder)
    except FootnoteError as error:
        _log.error("%s", error)


async def repair_index(app: Parts) -> None:
    """Index passages again that the index lacks, because its folder was lost or a database restored."""
    try:
        missing, expected = await count_lacking(app)
        if missing:
            _log.warning("The search index lacks %d of %d passages. They are indexed again now", missing, expected)
            _log.info("%s", repair_note(await app.maintenance.reindex(ignore_progress)))
    except FootnoteError as error:
        _log.error("%s", error)


def repair_note(report: RepairReport) -> str | None:
    """Describe a repair of the index for the log; None if nothing was done."""
    if not report.documents and not report.left_over:
        return None
    return f"Indexed {report.documents} documents again, removed {report.left_over} old revisions from the search index"


async def _end_worker(worker: Worker, task: "asyncio.Task[None]") -> None:
    await worker.stop()
    done, _ = await asyncio.wait({task}, timeout=WORKER_END_SECONDS)
    if not done:
        await end_task(task)
