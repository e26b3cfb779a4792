"""The composition root's part for extractors that ask a model: when, how fast, for how much."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bot.config import Config
from bot.config.sections import ExtractionConfig
from core.domain.extracts import ModelLimits
from core.domain.ingest_report import ProgressCallback
from core.domain.jobs import JobKind
from core.errors import BadInput, FootnoteError
from core.ports import ChatProvider, Clock
from core.ports.service import JobRepository
from core.service.rate_limit import Rate, RateGate
from core.work.orphaned_jobs import end_abandoned
from core.work.steps import Steps

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.wiring.app import App
    from core.domain.ingest_report import ExtractionReport
    from storage.documents.extraction.model_extracting import ModelExtracting

# After a run that ended early the next one waits this long, and twice as long each time that nothing came of it.
AGAIN = timedelta(minutes=10)
AGAIN_AT_MOST = timedelta(hours=6)

_log = logging.getLogger(__name__)


class Turns:
    """One run of a name at a time, over all processes; what a killed one left running is ended first."""

    def __init__(
        self, name: str, jobs: JobRepository, clock: Clock, alone: Callable[[], AbstractAsyncContextManager[None]]
    ) -> None:
        self._name = name
        self._jobs = jobs
        self._clock = clock
        self._alone = alone
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> "AsyncIterator[None]":
        async with self._lock, self._alone():
            await end_abandoned(self._jobs, self._clock, JobKind.EXTRACTION, self._name)
            yield


class ModelExtractions:
    """The runs of extractors that ask a model, one at a time, and nobody waits for them but who asks for one."""

    def __init__(
        self,
        *,
        build: Callable[[str], "ModelExtracting | None"],
        steps: Callable[[str], Steps],
        turns: Turns,
        clock: Clock,
    ) -> None:
        """`build` makes what runs them in a workspace, for each run; None where its provider has no model for it.

        `steps` makes a job tree in a workspace.
        """
        self._build = build
        self._steps = steps
        self._turns = turns
        self._clock = clock
        self._due: dict[str, None] = {}  # workspaces where something may be due, in order
        self._wake = asyncio.Event()

    async def run(
        self,
        workspace: str,
        *,
        document_ids: Iterable[str] | None = None,
        extractor: str | None = None,
        force: bool = False,
        progress: ProgressCallback = lambda done: None,
    ) -> "ExtractionReport":
        """As storage.documents.extraction.model_extracting.ModelExtracting.run, recorded in a job tree of its own.

        BadInput, too, for an extractor by name in a workspace whose provider has no model for it.
        """
        from core.domain.ingest_report import ExtractionReport

        extracting = self._build(workspace)
        if extracting is None:
            if extractor is not None:
                raise BadInput(f"The extractor {extractor!r} asks a model, and the provider of {workspace!r} has none.")
            return ExtractionReport()
        async with self._turns.turn():
            return await extracting.run(
                workspace,
                document_ids=document_ids,
                extractor=extractor,
                force=force,
                steps=self._steps(workspace),
                progress=progress,
            )

    def remember(self, workspace: str) -> None:
        """Something may be due there: `work` looks."""
        self._due[workspace] = None
        self._wake.set()

    async def work(self) -> None:
        """Do what is remembered; what a budget or an error cut short is taken up later; for ever."""
        pause = AGAIN
        while True:
            self._wake.clear()
            stopped: list[datetime] = []
            for workspace in list(self._due):
                del self._due[workspace]
                again_at = await self._run_behind(workspace, pause)
                if again_at is not None:
                    self._due[workspace] = None
                    stopped.append(again_at)
            pause = min(pause * 2, AGAIN_AT_MOST) if stopped else AGAIN
            try:
                async with asyncio.timeout(
                    max((min(stopped) - self._clock.now()).total_seconds(), 0) if stopped else None
                ):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _run_behind(self, workspace: str, pause: timedelta) -> datetime | None:
        """One run; when the next one is to go on, where this one did not come to its end."""
        try:
            report = await self.run(workspace)
        except FootnoteError as error:
            _log.error("A model could not be asked about the documents of %s: %s", workspace, error)
            return self._clock.now() + pause
        if report.job_id is not None:
            _log.info(
                "A model was asked %d times about %d documents of %s, for %d tokens: %d things",
                report.spent.requests, report.documents, workspace, report.spent.tokens, report.extracts,
            )  # fmt: skip
        if report.stopped is None:
            return None
        _log.warning("Asking a model about the documents of %s stopped: %s", workspace, report.stopped)
        return report.resume_at or self._clock.now() + (AGAIN if report.spent.requests else pause)


def build_model_extractions(
    app: "App", alone: Callable[[], AbstractAsyncContextManager[None]]
) -> ModelExtractions | None:
    """The runs over the parts of an app; None where they are off, or where no model is configured that can be asked.

    What a workspace has goes to its own provider and to no other.
    """
    settings = app.config.extraction
    if not settings.with_model:
        return None
    if not any(_can_be_asked(app.provider_for(name, None)) for name in (app.config.workspace, *app.config.workspaces)):
        _log.warning(
            "[extraction] with_model is set, but %r is no model that can be asked: it is off", app.provider.name
        )
        return None
    gate = RateGate(Rate(per_second=settings.requests_per_minute / 60, burst=1), app.clock)

    def build(workspace: str) -> "ModelExtracting | None":
        from storage.documents.extraction.model_extracting import ModelExtracting
        from storage.documents.extraction.model_reading import ModelParts
        from storage.documents.extractors.base import build_model_extractors

        provider = app.provider_for(workspace, None)
        if not _can_be_asked(provider):
            return None
        return ModelExtracting(
            ModelParts(
                corpus=app.corpus,
                extracts=app.extracts,
                readings=app.readings,
                extractors=[item for item in build_model_extractors() if item.name in settings.model_extractors],
                provider=provider,
                limits=to_model_limits(settings),
                model=_model_for(workspace, app.config),
                gate=gate,
                clock=app.clock,
            )
        )

    from storage.documents.extraction.model_extracting import JOB_NAME

    return ModelExtractions(
        build=build,
        steps=lambda workspace: Steps(app.job_store, app.clock, workspace),
        turns=Turns(JOB_NAME, app.job_store, app.clock, alone),
        clock=app.clock,
    )


def _can_be_asked(provider: ChatProvider) -> bool:
    return provider.capabilities.tools and not provider.capabilities.quotes_only


def _model_for(workspace: str, config: Config) -> str | None:
    """The configured model is one of the default workspace's provider; another provider has a model of its own."""
    ours, theirs = (config.workspaces.get(name) for name in (config.workspace, workspace))
    is_same = (ours.provider if ours else None) == (theirs.provider if theirs else None)
    return config.extraction.model if is_same else None


def to_model_limits(settings: ExtractionConfig) -> ModelLimits:
    return ModelLimits(tokens_per_run=settings.tokens_per_run, tokens_per_day=settings.tokens_per_day)
