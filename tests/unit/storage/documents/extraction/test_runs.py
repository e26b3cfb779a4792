"""When extractors run: behind an ingest, never in the way of it, and never lost."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

import pytest

from bot.config.sections import MODEL_EXTRACTORS
from core.domain.extracts import ExtractType, Spending
from core.domain.ingest_report import ExtractionReport, IngestReport
from core.errors import BadInput, StorageError
from core.work.steps import Steps
from storage.documents.extraction.runs import Extractions, ModelExtractions, Turns
from tests.fakes import ManualClock
from tests.stores import Stores
from tests.unit.core.library_builder import Shelf


class Runs:
    """Stands for Extracting: notes what it is asked for, gives one entity for each run, or fails."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, object]] = []
        self.fails = False
        self.open = asyncio.Event()
        self.open.set()
        self.begun = asyncio.Event()
        self.ended = asyncio.Condition()
        self.at_once = self.most_at_once = 0

    async def run(
        self, workspace: str, *, document_ids: Iterable[str] | None = None, **options: object
    ) -> ExtractionReport:
        self.begun.set()
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self.open.wait()
        finally:
            self.at_once -= 1
        self.asked.append((workspace, None if document_ids is None else sorted(document_ids)))
        async with self.ended:
            self.ended.notify_all()
        if self.fails:
            raise StorageError("The disk is full.")
        failures = [("a.md", "tables", "it broke")]
        return ExtractionReport(documents=1, counts=Counter({ExtractType.ENTITY: 1}), failures=failures)

    async def wait_for(self, predicate: Callable[[], bool]) -> None:
        async with asyncio.timeout(60), self.ended:
            await self.ended.wait_for(predicate)


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("a.md", "Key.")
    return shelf


@pytest.fixture
def runs() -> Runs:
    return Runs()


@pytest.fixture
def extractions(shelf: Shelf, runs: Runs) -> Extractions:
    return build_extractions(shelf, runs)


def build_extractions(shelf: Shelf, runs: Runs, by_model: ModelExtractions | None = None) -> Extractions:
    clock, jobs = ManualClock(), Stores().jobs
    build: Any = lambda: runs  # noqa: E731 - it stands for a class
    return Extractions(
        corpus=shelf.corpus,
        build=build,
        steps=lambda workspace: Steps(jobs, clock, workspace),
        turns=Turns("extract", jobs, clock, nullcontext),
        by_model=lambda: by_model,
        model_extractors=MODEL_EXTRACTORS,
    )


async def test_an_ingests_report_counts_what_was_found_and_warns_of_what_failed(
    shelf: Shelf, runs: Runs, extractions: Extractions
) -> None:
    report = IngestReport(added=1)
    await extractions.follow(shelf.source, report, lambda done: None)
    assert runs.asked == [("local", ["local/handbook/a.md"])]
    assert (report.extracts, report.warnings) == (1, [("a.md", "tables: it broke")])


async def test_a_failing_extraction_never_fails_the_ingest(shelf: Shelf, runs: Runs, extractions: Extractions) -> None:
    runs.fails = True
    report = IngestReport(added=1)
    await extractions.follow(shelf.source, report, lambda done: None)
    [(name, warning)] = report.warnings
    assert name == "handbook" and "The disk is full." in warning and "footnote extract" in warning


async def test_without_a_service_what_was_read_is_extracted_at_once(
    shelf: Shelf, runs: Runs, extractions: Extractions
) -> None:
    await extractions.follow_later(shelf.source, IngestReport())
    assert len(runs.asked) == 1


async def test_in_a_service_nobody_waits_for_it(shelf: Shelf, runs: Runs, extractions: Extractions) -> None:
    working = asyncio.create_task(extractions.work(["local"]))
    await runs.wait_for(lambda: len(runs.asked) == 1)
    runs.open.clear()
    async with asyncio.timeout(60):
        await extractions.follow_later(shelf.source, IngestReport())
    assert len(runs.asked) == 1
    runs.open.set()
    await runs.wait_for(lambda: len(runs.asked) == 2)
    working.cancel()
    assert runs.asked == [("local", None), ("local", None)]


async def test_a_run_that_fails_behind_stops_no_later_one(
    shelf: Shelf, runs: Runs, extractions: Extractions, caplog: pytest.LogCaptureFixture
) -> None:
    runs.fails = True
    working = asyncio.create_task(extractions.work(["local"]))
    await runs.wait_for(lambda: len(runs.asked) == 1)
    runs.fails = False
    await extractions.follow_later(shelf.source, IngestReport())
    await runs.wait_for(lambda: len(runs.asked) == 2)
    working.cancel()
    assert "The disk is full." in caplog.text


async def test_what_somebody_stopped_waiting_for_is_done_behind(
    shelf: Shelf, runs: Runs, extractions: Extractions
) -> None:
    working = asyncio.create_task(extractions.work([]))
    runs.open.clear()
    waiting = asyncio.create_task(extractions.follow(shelf.source, IngestReport(), lambda done: None))
    async with asyncio.timeout(60):
        await runs.begun.wait()
    waiting.cancel()
    await asyncio.wait({waiting})
    runs.open.set()
    await runs.wait_for(lambda: len(runs.asked) == 1)
    working.cancel()
    assert waiting.cancelled() and runs.asked == [("local", None)]


async def test_there_is_one_run_at_a_time(shelf: Shelf, runs: Runs, extractions: Extractions) -> None:
    await asyncio.gather(*(extractions.run("local") for _ in range(4)))
    assert (len(runs.asked), runs.most_at_once) == (4, 1)


class ByModel(ModelExtractions):
    """Stands for the runs that ask a model: notes what is asked of it."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, object]] = []
        self.remembered: list[str] = []
        self.told = asyncio.Event()

    async def run(self, workspace: str, *, extractor: str | None = None, **options: object) -> ExtractionReport:
        self.asked.append((workspace, extractor))
        return ExtractionReport(documents=2, spent=Spending(requests=3, tokens=40), stopped="it rains", waiting=1)

    def remember(self, workspace: str) -> None:
        self.remembered.append(workspace)
        self.told.set()

    async def work(self) -> None:
        await asyncio.Event().wait()


async def test_those_that_ask_a_model_run_behind_the_others_and_count_into_their_report(
    shelf: Shelf, runs: Runs
) -> None:
    by_model = ByModel()
    report = await build_extractions(shelf, runs, by_model).run("local")
    assert (runs.asked, by_model.asked) == ([("local", None)], [("local", None)])
    assert (report.documents, report.spent.requests, report.stopped, report.waiting) == (3, 3, "it rains", 1)


@pytest.mark.parametrize(("name", "by_rules", "by_model"), [("tables", 1, 0), ("model_meetings", 0, 1)])
async def test_one_extractor_alone_runs_alone(
    shelf: Shelf, runs: Runs, name: str, by_rules: int, by_model: int
) -> None:
    asking = ByModel()
    await build_extractions(shelf, runs, asking).run("local", extractor=name)
    assert (len(runs.asked), len(asking.asked)) == (by_rules, by_model)


async def test_one_that_asks_a_model_is_refused_where_they_are_off(extractions: Extractions) -> None:
    with pytest.raises(BadInput, match="with_model = true"):
        await extractions.run("local", extractor="model_pages")


async def test_an_ingest_does_not_wait_for_a_model_and_a_service_asks_it_behind(shelf: Shelf, runs: Runs) -> None:
    by_model = ByModel()
    extractions = build_extractions(shelf, runs, by_model)
    await extractions.follow(shelf.source, IngestReport(), lambda done: None)
    assert (by_model.asked, by_model.remembered) == ([], [])
    working = asyncio.create_task(extractions.work(["local"]))
    await runs.wait_for(lambda: len(runs.asked) == 2)
    async with asyncio.timeout(60):
        await by_model.told.wait()
    working.cancel()
    assert (by_model.asked, by_model.remembered) == ([], ["local"])
