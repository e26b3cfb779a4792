"""When a model is asked about documents: behind the service, again after what cut a run short, and never in a hurry."""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.config import Config
from bot.wiring.parts import open_parts
from core.domain.extracts import Spending
from core.domain.ingest_report import ExtractionReport
from core.domain.jobs import JobKind, JobStatus
from core.errors import BadInput, StorageError
from core.work.orphaned_jobs import CUT_OFF
from core.work.steps import Steps
from storage.database.repositories.jobs import SqlJobRepository
from storage.documents.extraction.runs import AGAIN, ModelExtractions, Turns
from tests.builders import build_job
from tests.fakes import ManualClock
from tests.stores import Stores

DONE = ExtractionReport(documents=1, spent=Spending(requests=2, tokens=900), job_id="j")


class Asking:
    """Stands for ModelExtracting: each run comes to the next of its outcomes."""

    def __init__(self, *outcomes: ExtractionReport | Exception) -> None:
        self.outcomes = list(outcomes)
        self.asked: list[str] = []
        self.ran = asyncio.Condition()

    async def run(self, workspace: str, **options: object) -> ExtractionReport:
        self.asked.append(workspace)
        async with self.ran:
            self.ran.notify_all()
        outcome = self.outcomes.pop(0) if self.outcomes else ExtractionReport()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def wait_for(self, predicate: Callable[[], bool]) -> None:
        async with asyncio.timeout(60), self.ran:
            await self.ran.wait_for(predicate)


def build(asking: Asking, clock: ManualClock, jobs: SqlJobRepository | None = None) -> ModelExtractions:
    jobs = jobs or Stores().jobs
    made: Any = lambda workspace: asking  # noqa: E731 - it stands for a class
    return ModelExtractions(
        build=made,
        steps=lambda workspace: Steps(jobs, clock, workspace),
        turns=Turns("extract by model", jobs, clock, nullcontext),
        clock=clock,
    )


async def test_each_workspace_that_is_remembered_is_asked_about_once() -> None:
    asking = Asking(DONE, DONE)
    extractions = build(asking, ManualClock())
    working = asyncio.create_task(extractions.work())
    extractions.remember("local")
    extractions.remember("yard")
    extractions.remember("local")
    await asking.wait_for(lambda: len(asking.asked) == 2)
    extractions.remember("local")
    await asking.wait_for(lambda: len(asking.asked) == 3)
    working.cancel()
    assert asking.asked == ["local", "yard", "local"]


@pytest.mark.parametrize(
    ("outcome", "pause"),
    [
        (ExtractionReport(stopped="this run's budget", spent=Spending(requests=1)), AGAIN),
        (ExtractionReport(stopped="no key"), timedelta(hours=1)),
        (StorageError("The disk is full."), timedelta(hours=1)),
    ],
)
async def test_what_was_cut_short_goes_on_after_a_while(
    outcome: ExtractionReport | Exception, pause: timedelta, caplog: pytest.LogCaptureFixture
) -> None:
    clock = ManualClock()
    again_at = await build(Asking(outcome), clock)._run_behind("local", timedelta(hours=1))
    assert again_at == clock.now() + pause
    assert str(outcome if isinstance(outcome, Exception) else outcome.stopped) in caplog.text


async def test_the_days_budget_is_waited_for() -> None:
    clock = ManualClock()
    midnight = clock.now() + timedelta(hours=12)
    stopped = ExtractionReport(stopped="the day's budget", resume_at=midnight)
    assert await build(Asking(stopped), clock)._run_behind("local", AGAIN) == midnight
    assert await build(Asking(DONE), clock)._run_behind("local", AGAIN) is None


async def test_a_stopped_run_is_taken_up_when_its_time_has_come() -> None:
    clock = ManualClock()
    asking = Asking(ExtractionReport(stopped="the day's budget", resume_at=clock.now()), DONE)
    extractions = build(asking, clock)
    working = asyncio.create_task(extractions.work())
    extractions.remember("local")
    await asking.wait_for(lambda: len(asking.asked) == 2)
    working.cancel()
    assert asking.asked == ["local", "local"]


async def test_a_run_ends_what_a_killed_one_left_running() -> None:
    clock, jobs = ManualClock(), Stores().jobs
    await jobs.save(build_job("dead", name="extract by model", kind=JobKind.EXTRACTION, status=JobStatus.RUNNING))
    await build(Asking(DONE), clock, jobs).run("local")
    dead = await jobs.get("dead", "local")
    assert (dead.status, dead.error) == (JobStatus.FAILED, CUT_OFF)


async def test_what_a_workspace_has_goes_to_its_own_model_and_to_no_other(tmp_path: Path) -> None:
    sections = {
        "data_dir": tmp_path,
        "provider": {"name": "anthropic"},
        "providers": {"mill": {"kind": "anthropic", "model": "mill-7b", "base_url": "http://127.0.0.1:9"}},
        "workspaces": {"guild": {"provider": "mill"}, "club": {"provider": "extractive"}},
        "extraction": {
            "with_model": True,
            "model": "claude-haiku-5-5",
            "tokens_per_run": 5,
            "tokens_per_day": 7,
        },
    }
    async with open_parts(Config.model_validate(sections)) as app:
        found = app.extractions._by_model
        assert found is not None
        parts = {name: found.build(name) for name in ("local", "guild", "club")}
        limits = parts["local"].limits
        assert (limits.tokens_per_run, limits.tokens_per_day) == (5, 7)
        assert not Config().extraction.with_model
        assert [(item.provider, item.model) if item else None for item in parts.values()] == [
            (app.providers.of("local"), "claude-haiku-5-5"),
            (app.providers.of("guild", None), None),
            None,
        ]
        assert app.providers.of("guild", None) is not app.providers.of("local")
        assert await found.run("club") == ExtractionReport()
        with pytest.raises(BadInput, match="the provider of 'club' has none"):
            await found.run("club", extractor="model_meetings")
