"""The extraction runs of a process, built from its repositories and its limits."""

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial

from core.domain.extracts import ModelLimits
from core.domain.read_limits import ReadLimits
from core.ports import ChatProvider, Clock, CorpusRepository
from core.ports.documents import ExtractRepository, ReadingRepository
from core.ports.service import JobRepository
from core.work.rate_limit import Rate, RateLimiter
from core.work.steps import Steps
from storage.documents.extraction import by_model, by_rules
from storage.documents.extraction.runs import Extractions, ModelExtractions, Turns, can_extract
from storage.documents.extractors.base import build_extractors, build_model_extractors
from storage.documents.sandbox import Sandbox

# Locks over all processes on the database, by the name of the jobs.
LOCKS = {by_rules.JOB_NAME: "extraction", by_model.JOB_NAME: "extraction-by-model"}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAccess:
    """The models that may be asked. Each workspace's documents go to its own provider only."""

    is_on: bool
    workspaces: Sequence[str]
    provider_for: Callable[[str], ChatProvider]  # by workspace
    model_for: Callable[[str], str | None]  # by workspace; None: the provider's default
    extractors: Sequence[str]  # names
    requests_per_minute: float
    limits: ModelLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionParts:
    """The parts of all extraction runs; `lock` waits for a lock over all processes."""

    corpus: CorpusRepository
    extracts: ExtractRepository
    readings: ReadingRepository
    jobs: JobRepository
    clock: Clock
    limits: ReadLimits
    lock: Callable[[str], AbstractAsyncContextManager[None]]
    model: ModelAccess

    def build(self) -> Extractions:
        return Extractions(
            corpus=self.corpus,
            build=self._build_runner,
            steps=partial(Steps, self.jobs, self.clock),
            turns=self._turns(by_rules.JOB_NAME),
            by_model=self._build_model_extractions,
            model_extractors=[item.name for item in build_model_extractors()],
        )

    def _build_runner(self) -> by_rules.ExtractionRunner:
        return by_rules.ExtractionRunner(
            corpus=self.corpus,
            extracts=self.extracts,
            extractors=build_extractors(),
            sandbox=Sandbox(self.limits),
            clock=self.clock,
        )

    def _build_model_extractions(self) -> ModelExtractions | None:
        """None if they are off or no workspace has a model."""
        if not self.model.is_on:
            return None
        providers = [self.model.provider_for(name) for name in self.model.workspaces]
        if not can_extract(providers):
            _log.warning(
                "[extraction] with_model is set, but %r is no model that can be asked: it is off", providers[0].name
            )
            return None
        gate = RateLimiter(Rate(per_second=self.model.requests_per_minute / 60, burst=1), self.clock)
        return ModelExtractions(
            build=partial(self._build_model_runner, gate),
            steps=partial(Steps, self.jobs, self.clock),
            turns=self._turns(by_model.JOB_NAME),
            clock=self.clock,
        )

    def _build_model_runner(self, gate: RateLimiter, workspace: str) -> by_model.ModelExtractionRunner | None:
        provider = self.model.provider_for(workspace)
        if not can_extract([provider]):
            return None
        parts = by_model.ModelParts(
            corpus=self.corpus,
            extracts=self.extracts,
            readings=self.readings,
            extractors=build_model_extractors(self.model.extractors),
            provider=provider,
            limits=self.model.limits,
            model=self.model.model_for(workspace),
            gate=gate,
            clock=self.clock,
        )
        return by_model.ModelExtractionRunner(parts)

    def _turns(self, job_name: str) -> Turns:
        return Turns(job_name, self.jobs, self.clock, partial(self.lock, LOCKS[job_name]))
