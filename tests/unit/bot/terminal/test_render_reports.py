"""What people see of an ingest: counts, and every failure with its reason."""

from bot.terminal.render_reports import report_view
from core.ingestion.report import Failure, IngestReport
from tests.unit.bot.terminal.test_render import shown


def test_a_report_names_every_failure() -> None:
    report = IngestReport(added=2, failures=[Failure(path="a[b].md", reason="empty")])

    assert "2 added" in shown(report_view(report))
    assert "a[b].md: empty" in shown(report_view(report))
