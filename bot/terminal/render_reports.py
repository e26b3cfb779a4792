"""What an ingest did, as rich renderables. Apart from the other views: an unchanged folder is told before they load."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from bot.terminal.console import one_line
from core.domain.ingest_report import NO_READER, Failure, IngestReport

# A folder of code has hundreds of files that no reader is for: of more than so many, as many are named for each reason.
UNREADABLE_NAMED = 3
WARNINGS_SHOWN = 20


def report_view(report: IngestReport) -> RenderableType:
    """Counts, then the files that failed with their reasons, and what was read otherwise than as it stands."""
    read = f"{_count(report.pages, 'page')}, {_count(report.passages, 'passage')} in {report.seconds:.1f} s"
    counts = (
        f"{report.added} added, {report.updated} updated, {report.unchanged} unchanged, {report.removed} removed, "
        f"{len(report.failures)} failed; {read}"
    )
    parts: list[RenderableType] = [Text(counts, style="bold")]
    for paths, reason in _by_reason(report.failures):
        parts.append(Text.assemble(("  ✗ ", "red"), (paths, "bold"), f": {reason}"))
    for path, warning in report.warnings[:WARNINGS_SHOWN]:
        parts.append(Text.assemble(("  ! ", "yellow"), (one_line(path), "bold"), f": {one_line(warning)}"))
    if (more := len(report.warnings) - WARNINGS_SHOWN) > 0:
        parts.append(Text(f"  ! and {_count(more, 'warning')} more: --json lists them"))
    return Group(*parts)


def _by_reason(failures: Sequence[Failure]) -> Iterator[tuple[str, str]]:
    """Each failure's path and reason; files of one kind that has no reader are told together."""
    alike: dict[str, list[str]] = {}
    for failure in failures:
        if failure.reason.startswith(NO_READER):
            alike.setdefault(failure.reason, []).append(one_line(failure.path))
        else:
            yield one_line(failure.path), failure.reason
    for reason, paths in alike.items():
        more = len(paths) - UNREADABLE_NAMED
        yield ", ".join(paths[:UNREADABLE_NAMED]) + (f" and {more:,} more" if more > 0 else ""), reason


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
