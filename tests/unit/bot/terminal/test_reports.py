"""What people see of an ingest: counts, and every failure with its reason."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

from bot.terminal.reports import report_view, sources_view, statistics_view, sync_view
from core.domain.answer import AnswerStatus
from core.domain.features import Statistics
from core.domain.ingest_report import Failure, IngestReport
from core.domain.replies import Usage
from core.domain.sources import FolderOrigin, SourceSpec, SyncResult, SyncState
from core.domain.spending import CallPurpose, SpendingLine, SpendingReport, Spent
from core.features.syncing import SourceStatus, SyncReport
from tests.unit.bot.terminal.test_render import shown


def test_a_report_names_every_failure() -> None:
    report = IngestReport(added=2, failures=[Failure(path="a[b].md", reason="empty")])

    assert "2 added" in shown(report_view(report))
    assert "a[b].md: empty" in shown(report_view(report))


def test_files_that_nothing_can_read_are_told_together_and_all_others_alone() -> None:
    code = [Failure(path=f"{n}.py", reason="no reader for .py") for n in range(1_203)]
    scans = [Failure(path=f"{n}.pdf", reason="scanned") for n in range(9)]
    text = shown(
        report_view(IngestReport(failures=[*code, Failure(path="a.tar", reason="no reader for .tar"), *scans]))
    )

    assert "1213 failed" in text
    assert "✗ 0.py, 1.py, 2.py and 1,200 more: no reader for .py\n" in text
    assert "✗ a.tar: no reader for .tar\n" in text
    assert all(f"✗ {n}.pdf: scanned\n" in text for n in range(9))


def test_what_was_read_otherwise_than_it_stands_is_told_up_to_a_bound() -> None:
    text = shown(report_view(IngestReport(warnings=[(f"{n}.md", "read as cp932") for n in range(21)])))

    assert "! 0.md: read as cp932\n" in text
    assert "! 19.md: read as cp932\n! and 1 warning more: --json lists them" in text.replace("  !", "!")


def test_one_page_is_not_many() -> None:
    assert "1 page, 1 passage in" in shown(report_view(IngestReport(pages=1, passages=1)))
    assert "0 pages, 2 passages in" in shown(report_view(IngestReport(pages=0, passages=2)))


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SPEC = SourceSpec(name="[red]wiki", workspace="local", origin=FolderOrigin(path=Path("/srv/wiki")))
GOOD = SyncState(
    workspace="local", source=SPEC.name, kind="folder", result=SyncResult.DONE, started_at=NOON, ended_at=NOON
)
BAD = replace(GOOD, result=SyncResult.FAILED, error="[b]No\nbranch.", failing_since=NOON - timedelta(days=1))
STATUS = SourceStatus(name=SPEC.name, kind="folder", location="/srv/wiki", spec=SPEC, state=GOOD, documents=2)


def test_a_sync_shows_its_counts_warnings_and_since_when_it_fails() -> None:
    reports = [
        SyncReport(state=replace(GOOD, warnings=("One page answered 500.",)), report=IngestReport(added=3)),
        SyncReport(state=BAD),
    ]
    text = shown(sync_view(reports))

    assert "[red]wiki" in text and "3 added" in text and "One page answered 500." in text
    assert "failing since 2026-02-28 12:00" in text and "[b]No␊branch." in text


def test_a_sync_that_another_process_made_meanwhile_is_told_with_its_counts() -> None:
    text = shown(sync_view([SyncReport(state=replace(GOOD, counts={"added": 3, "failed": 1}), by_another=True)]))
    assert "Another process has just synced it: 3 added, 1 failed." in " ".join(text.split())


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (STATUS, "ok"),
        (replace(STATUS, state=None), "never synced"),
        (replace(STATUS, state=BAD), "fails since 2026-02-28 12:00"),
        (replace(STATUS, spec=replace(SPEC, enabled=False)), "disabled"),
        (replace(STATUS, spec=None, is_orphan=True), "footnote sources remove"),
        (replace(STATUS, spec=None, state=None), "/srv/wiki"),
    ],
)
def test_a_source_shows_how_it_stands(status: SourceStatus, word: str) -> None:
    text = shown(sources_view([status]))
    assert word in " ".join(text.split()) and "[red]wiki" in text


def test_nothing_to_show_says_what_to_do() -> None:
    assert "[[sources]]" in shown(sync_view([]))
    assert "footnote ingest" in shown(sources_view([]))


def told(count: int, spending: SpendingReport | None = None) -> str:
    found = Statistics(
        since=datetime(2026, 1, 2, tzinfo=UTC),
        questions=count,
        by_status={AnswerStatus.ANSWERED: count} if count else {},
        helpful=0,
        not_helpful=0,
        reasons={},
        usage=Usage(),
        spending=spending or SpendingReport(),
        documents=0,
        most_cited=(),
        never_cited=(),
        never_cited_count=0,
        gaps=(),
    )
    console = Console(width=100)
    with console.capture() as capture:
        console.print(statistics_view(found))
    return capture.get()


def test_statistics_show_the_cost_of_an_answer_a_day_and_a_person() -> None:
    day, claude = date(2026, 1, 2), Spent(calls=3, tokens=4000, micros=60_000)
    local = Spent(calls=1, tokens=50, unpriced=1)
    lines = [
        SpendingLine(day=day, workspace="local", person=person, purpose=CallPurpose.ANSWER, model="m", spent=spent)
        for person, spent in (("slack:ada", claude), ("slack:ben", local))
    ]
    text = told(2, SpendingReport(lines=tuple(lines), answers=2))
    assert "Cost: $0.0600 and 1 call without a price for 4 model calls, $0.0300 for an answer" in text
    assert "2026-01-02  4      4,050" in text
    assert "slack:ada  3      4,000   $0.0600" in text
    assert "slack:ben  1      50      unknown (no price)" in text


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 questions"), (1, "1 question (1 answered)"), (2, "2 questions (2 answered)")]
)
def test_one_question_is_not_many(count: int, said: str) -> None:
    assert told(count).splitlines()[0] == f"Since 2026-01-02: {said}"
