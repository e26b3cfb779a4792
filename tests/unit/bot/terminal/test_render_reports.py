"""What people see of an ingest: counts, and every failure with its reason."""

from bot.terminal.render_reports import report_view
from core.ingestion.report import Failure, IngestReport
from tests.unit.bot.terminal.test_render import shown


def test_a_report_names_every_failure() -> None:
    report = IngestReport(added=2, failures=[Failure(path="a[b].md", reason="empty")])

    assert "2 added" in shown(report_view(report))
    assert "a[b].md: empty" in shown(report_view(report))


def test_one_page_is_not_many() -> None:
    assert "1 page, 1 passage in" in shown(report_view(IngestReport(pages=1, passages=1)))
    assert "0 pages, 2 passages in" in shown(report_view(IngestReport(pages=0, passages=2)))
