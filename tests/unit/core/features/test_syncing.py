"""How sources stand: told as JSON, and to a command at the other end of the service's socket."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.service.calls import JsonForm
from core.domain.ingest_report import Failure, IngestReport
from core.domain.sources import (
    ConfluenceOrigin,
    Cron,
    Every,
    FilesOrigin,
    FolderOrigin,
    FoundryWorldOrigin,
    GitHubOrigin,
    GitOrigin,
    Origin,
    SitemapOrigin,
    SourceSpec,
    SyncResult,
    SyncState,
    UrlListOrigin,
)
from core.features.syncing import SourceStatus, SyncReport

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STATE = SyncState(
    workspace="local",
    source="wiki",
    kind="git",
    result=SyncResult.FAILED,
    started_at=NOON,
    ended_at=NOON,
    failing_since=NOON,
    error="No such branch.",
    warnings=("One page answered 500.",),
)


@pytest.mark.parametrize(
    ("origin", "location"),
    [
        (FolderOrigin(path=Path("/srv/notes")), "/srv/notes"),
        (FilesOrigin(paths=(Path("/a.md"), Path("/b.md"), Path("/c.md"))), "/a.md and 2 more"),
        (GitOrigin(url="https://git.example.org/a.git"), "https://git.example.org/a.git"),
        (UrlListOrigin(urls=("https://example.org/a",), file=Path("/list.txt")), "https://example.org/a and 1 more"),
        (SitemapOrigin(urls=("https://example.org/sitemap.xml",)), "https://example.org/sitemap.xml"),
        (GitHubOrigin(repository="example/project"), "https://github.com/example/project"),
        (ConfluenceOrigin(url="https://wiki.example.org", spaces=("A", "B")), "https://wiki.example.org (A, B)"),
        (FoundryWorldOrigin(path=Path("/worlds/mill")), "/worlds/mill"),
    ],
)
@pytest.mark.parametrize("schedule", [None, Every(seconds=60), Cron(line="0 4 * * *")])
def test_a_status_comes_through_the_socket_as_it_was(
    origin: Origin, location: str, schedule: Every | Cron | None
) -> None:
    spec = SourceSpec(name="wiki", workspace="local", origin=origin, schedule=schedule)
    status = SourceStatus(name="wiki", kind=spec.kind, location=str(origin), spec=spec, state=STATE)

    form = JsonForm[SourceStatus](SourceStatus)

    assert form.load(form.dump(status)) == status
    assert status.location == location


def test_a_report_comes_through_the_socket_and_is_told_as_json() -> None:
    read = IngestReport(added=1, failures=[Failure(path="a.epub", reason="no reader for .epub")])
    report = SyncReport(state=STATE, report=read, seconds=1.5)

    form = JsonForm[SyncReport](SyncReport)

    assert form.load(form.dump(report)) == report
    told = report.to_json()
    assert (told["source"], told["result"], told["failing_since"]) == ("wiki", "failed", "2026-03-01T12:00:00+00:00")
    assert not report.is_good
    assert SyncReport(state=STATE).to_json()["report"] is None
