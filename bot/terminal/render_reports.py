"""What an ingest did, as rich renderables. Apart from the other views: an unchanged folder is told before they load."""

from rich.console import Group, RenderableType
from rich.text import Text

from bot.terminal.console import one_line
from core.ingestion.report import IngestReport


def report_view(report: IngestReport) -> RenderableType:
    """Counts, then every file that failed with its reason."""
    read = f"{_count(report.pages, 'page')}, {_count(report.passages, 'passage')} in {report.seconds:.1f} s"
    counts = (
        f"{report.added} added, {report.updated} updated, {report.unchanged} unchanged, {report.removed} removed, "
        f"{len(report.failures)} failed; {read}"
    )
    parts: list[RenderableType] = [Text(counts, style="bold")]
    for failure in report.failures:
        parts.append(Text.assemble(("  ✗ ", "red"), (one_line(failure.path), "bold"), f": {failure.reason}"))
    return Group(*parts)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
