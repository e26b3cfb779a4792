"""Extraction: what is due is extracted once; one that fails, or finds what does not fit, costs only itself."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from core.domain.corpus import Document
from core.domain.extracts import ExtractorInput, ExtractQuery, ExtractType, Found, Unread
from core.domain.ingest_report import ExtractionReport, IngestProgress
from core.domain.jobs import JobKind, JobStatus
from core.domain.passages import Span
from core.domain.read_limits import ReadLimits
from core.errors import BadInput
from core.ports.documents import Extractor
from core.work.steps import Steps
from storage.documents.child import ExtractTask, FoundInDocument, ReadFailure
from storage.documents.extraction.by_rules import ExtractionRunner
from storage.documents.sandbox import Sandbox
from tests.fakes import ManualClock
from tests.stores import Stores
from tests.unit.core.library_builder import Shelf

THING = {"name": "Key", "kind": "thing"}
FRONT = Span(0, 3)


@dataclass(frozen=True)
class Finder:
    """Finds what it is told to on every first page."""

    name: str = "finder"
    version: int = 1
    found: tuple[Mapping[str, object], ...] = (THING,)
    span: Span = FRONT
    kind: str = "markdown"
    fails: str = ""
    unread: str = ""
    types: frozenset[ExtractType] = frozenset({ExtractType.ENTITY})

    def reads(self, document: Document) -> bool:
        return document.kind == self.kind

    def extract(self, given: ExtractorInput) -> Iterable[Found | Unread]:
        if self.fails:
            raise RuntimeError(self.fails)
        if self.unread:
            yield Unread(page_number=1, reason=self.unread)
        for data in self.found:
            yield Found(type=ExtractType.ENTITY, page_number=1, span=self.span, data=data, confidence=0.8)


class Here(Sandbox):
    """Runs extractors in this process; keeps what it ran, in order."""

    def __init__(self, extractors: Iterable[Extractor]) -> None:
        super().__init__(ReadLimits())
        self._extractors = {item.name: item for item in extractors}
        self.ran: list[tuple[str, str]] = []

    async def extract(self, task: ExtractTask) -> FoundInDocument | ReadFailure:
        self.ran.append((task.given.document.path, task.extractor))
        try:
            items = list(self._extractors[task.extractor].extract(task.given))
            return FoundInDocument(
                found=tuple(item for item in items if isinstance(item, Found)),
                unread=tuple(item for item in items if isinstance(item, Unread)),
            )
        except RuntimeError as error:
            return ReadFailure(reason=str(error))


class Bench:
    """A shelf, and runs of extractors over it."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.jobs = Stores().jobs
        self.clock = ManualClock()
        self.ran: list[tuple[str, str]] = []
        self.progress: list[IngestProgress] = []

    async def run(self, *extractors: Extractor, **options: Any) -> ExtractionReport:
        sandbox = Here(extractors)
        extracting = ExtractionRunner(
            corpus=self.shelf.corpus,
            extracts=self.shelf.extracts,
            extractors=extractors,
            sandbox=sandbox,
            clock=self.clock,
        )
        steps = Steps(self.jobs, self.clock, "local")
        report = await extracting.run("local", steps=steps, progress=self.progress.append, **options)
        self.ran = sandbox.ran
        return report

    async def names(self) -> list[object]:
        listed = await self.shelf.extracts.list_extracts(ExtractQuery(), self.shelf.scope())
        return [item.data["name"] for item in listed]


@pytest.fixture
async def bench() -> Bench:
    bench = Bench()
    await bench.shelf.add("a.md", "Key one.", title="A")
    await bench.shelf.add("b.md", "Key two.", title="B")
    await bench.shelf.add("c.pdf", "Key three.", title="C", kind="pdf")
    return bench


async def test_documents_that_an_extractor_reads_are_extracted_once(bench: Bench) -> None:
    first, second = await bench.run(Finder()), await bench.run(Finder())
    assert (first.documents, first.unchanged, first.extracts) == (2, 1, 2)
    assert (second.documents, second.unchanged, second.extracts) == (0, 3, 0)
    assert await bench.names() == ["Key", "Key"]


async def test_only_what_changed_is_extracted_anew(bench: Bench) -> None:
    other = Finder(name="other")
    await bench.run(Finder(), other)
    await bench.shelf.add("a.md", "Key one, newer.", title="A", revision="r2")
    await bench.run(Finder(), replace(other, version=2))
    assert bench.ran == [("a.md", "finder"), ("a.md", "other"), ("b.md", "other")]


async def test_force_one_extractor_and_one_document(bench: Bench) -> None:
    extractors = Finder(), Finder(name="other")
    await bench.run(*extractors)
    ids = [item.id for item in await bench.shelf.corpus.list_documents("local") if item.path == "b.md"]
    await bench.run(*extractors, document_ids=ids, extractor="other", force=True)
    assert bench.ran == [("b.md", "other")]
    with pytest.raises(BadInput, match="Use one of finder, other"):
        await bench.run(*extractors, extractor="nothing")


async def test_one_that_fails_stops_no_other_and_is_not_tried_again_as_it_is(bench: Bench) -> None:
    extractors = Finder(name="broken", fails="it broke"), Finder()
    report = await bench.run(*extractors)
    assert report.failures == [("a.md", "broken", "it broke"), ("b.md", "broken", "it broke")]
    assert report.extracts == 2
    runs = await bench.shelf.extracts.extractions("local")
    assert {(run.extractor, run.error) for run in runs} == {("broken", "it broke"), ("finder", None)}
    assert (await bench.run(*extractors)).documents == 0


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"found": (THING, {"name": ""})}, "refused 1 of 2: name"),
        ({"found": (THING, {**THING, "colour": "red"})}, "refused 1 of 2: colour"),
        ({"span": Span(5, 99)}, "refused 1 of 1: its span 5-99 is outside of page 1"),
        ({"types": frozenset({ExtractType.TABLE})}, "finder does not extract entity"),
    ],
)
async def test_what_does_not_fit_is_refused_and_recorded(bench: Bench, changes: dict[str, Any], reason: str) -> None:
    report = await bench.run(replace(Finder(), **changes))
    assert reason in report.failures[0][2]
    assert report.extracts == (2 if "found" in changes else 0)


async def test_what_a_bound_left_out_is_a_warning_that_report_record_and_job_have(bench: Bench) -> None:
    report = await bench.run(Finder(unread="rows after the 5,000th are not read"))
    said = "page 1: rows after the 5,000th are not read"
    assert (report.failures, report.warnings) == ([], [("a.md", "finder", said), ("b.md", "finder", said)])
    assert [run.warning for run in await bench.shelf.extracts.extractions("local")] == [said, said]
    root, step, _ = await bench.jobs.list_tree(report.job_id or "")
    assert (root.output["warnings"], step.output["warnings"]) == (2, [f"finder: {said}"])


async def test_more_extracts_than_are_kept_are_a_warning(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.documents.extraction.by_rules.MAX_EXTRACTS", 2)
    report = await bench.run(Finder(found=(THING, THING, THING)))
    assert (report.extracts, report.failures) == (4, [])
    assert report.warnings[0] == ("a.md", "finder", "kept only 2 of 3 extracts")


async def test_a_run_is_a_job_tree_with_its_extractors_and_counts(bench: Bench) -> None:
    report = await bench.run(Finder(), Finder(name="broken", fails="it broke"))
    assert report.job_id is not None
    root, *steps = await bench.jobs.list_tree(report.job_id)
    assert (root.kind, root.name, root.status) == (JobKind.EXTRACTION, "extract", JobStatus.DONE)
    assert root.input == {"documents": 2, "extractors": ["finder", "broken"], "force": False}
    assert root.output == {"entity": 2, "failures": 2, "warnings": 0}
    broken = {"entity": 1, "failures": ["broken: it broke"]}
    assert [(job.name, job.output) for job in steps] == [("a.md", broken), ("b.md", broken)]
    assert [(item.done, item.total, item.path) for item in bench.progress] == [(1, 2, "a.md"), (2, 2, "b.md")]


async def test_where_nothing_is_due_there_is_no_job(bench: Bench) -> None:
    await bench.run(Finder())
    assert (await bench.run(Finder())).job_id is None
    assert len(await bench.jobs.list_roots("local", 10)) == 1
