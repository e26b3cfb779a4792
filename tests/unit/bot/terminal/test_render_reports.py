"""What people see of an ingest: counts, and every failure with its reason."""

from bot.terminal.render_reports import report_view
from core.domain.ingest_report import Failure, IngestReport
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
