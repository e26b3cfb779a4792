"""What people see of syncs: what changed, what failed, since when, and what to do."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.terminal.render_syncs import status_view, sync_view
from core.domain.ingest_report import IngestReport
from core.domain.sources import FolderOrigin, SourceSpec, SyncResult, SyncState
from core.features.syncing import SourceStatus, SyncReport
from tests.unit.bot.terminal.test_render import shown

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
    text = shown(status_view([status]))
    assert word in " ".join(text.split()) and "[red]wiki" in text


def test_nothing_to_show_says_what_to_do() -> None:
    assert "[[sources]]" in shown(sync_view([]))
    assert "footnote ingest" in shown(status_view([]))
