"""Reports of ingests, syncs, storage and statistics for the terminal. Pure, except for the progress bar."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from bot.terminal.console import one_line
from core.access.bindings import BoundTeam
from core.domain.features import Statistics
from core.domain.ingest_report import NO_READER, Failure, IngestProgress, IngestReport, ProgressCallback, RepairReport
from core.domain.readers import readers_label
from core.domain.sources import SyncResult, SyncState
from core.domain.spending import MICRO, SpendingReport, Spent, cost_text
from core.features.maintenance import StorageStatus, lacking
from core.features.syncing import SourceStatus, SyncReport
from core.features.workspaces import LOCAL_READERS, WorkspaceState
from core.text.notation import join_names
from core.text.words import shorten

UNREADABLE_NAMED = 3  # files without a reader that are listed for each reason; a folder of code has hundreds
KIBIBYTE = 1024
NAME_WIDTH = 40
WARNINGS_SHOWN = 20
MOST_SPENDERS = 10  # days and people whose cost is shown


def report_view(report: IngestReport) -> RenderableType:
    """Return the counts, then the failed files with their reasons, and the warnings."""
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
    """Yield each failure's path and reason; files of one kind without a reader share a line."""
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


def sync_view(reports: Sequence[SyncReport]) -> RenderableType:
    """Return each source with its changes, warnings and error."""
    if not reports:
        return Text("No sources to sync. Add them under [[sources]] in the configuration.")
    parts: list[RenderableType] = []
    for done in reports:
        state = done.state
        parts.append(Text.assemble((one_line(state.source), "bold"), f" ({state.kind}) {done.seconds:.1f} s"))
        if done.by_another:
            parts.append(Text(f"Another process has just synced it: {_counts(state)}."))
        if done.report is not None:
            parts.append(report_view(done.report))
        parts += [Text.assemble(("  ! ", "yellow"), one_line(warning)) for warning in state.warnings]
        if state.error is not None:
            since = f" (failing since {_time(state.failing_since)})" if state.failing_since != state.started_at else ""
            parts.append(Text.assemble(("  ✗ ", "red"), one_line(state.error), since))
    return Group(*parts)


def _counts(state: SyncState) -> str:
    return ", ".join(f"{count} {name}" for name, count in state.counts.items()) or "nothing was read"


def sources_view(found: Sequence[SourceStatus]) -> RenderableType:
    """Return a table, then the problems of its sources."""
    if not found:
        return Text("No sources yet. Add one with `footnote ingest PATH`, or under [[sources]].")
    table = Table("Source", "Kind", "Location", "Documents", "Failed", "Last sync (UTC)", "", box=None, pad_edge=False)
    for status in found:
        table.add_row(
            Text(one_line(status.name)),
            status.kind,
            Text(one_line(status.location)),
            str(status.documents),
            str(status.failed),
            _time(status.state.ended_at) if status.state else "",
            _word(status),
        )
    return Group(table, *_read_by(found), *[note for status in found if (note := _note(status)) is not None])


def _read_by(found: Sequence[SourceStatus]) -> Iterator[Text]:
    """Yield a line for each set of readers, with its sources. Sources that never came in have none."""
    stored = [status for status in found if status.readers is not None]
    for readers in dict.fromkeys(status.readers for status in stored):
        names = join_names([status.name for status in stored if status.readers == readers])
        yield Text(one_line(f"For {readers_label(readers or frozenset())} in chats: {names}"))


def workspaces_view(found: Sequence[WorkspaceState]) -> RenderableType:
    """Return a table of the workspaces, a line for each reader."""
    table = Table("Workspace", "Documents", "Read by", box=None, pad_edge=False)
    for state in found:
        readers = "\n".join(map(one_line, _readers(state))) or "nobody"
        table.add_row(Text(one_line(state.name)), str(state.documents), Text(readers))
    return table


def numbered_workspaces(found: Sequence[WorkspaceState]) -> Text:
    """Return the workspaces as numbered lines to choose from."""
    lines = [
        f"  {number}. {one_line(state.name)}: {_count(state.documents, 'document')}; "
        + one_line(", ".join(_readers(state)) or "nobody reads it")
        for number, state in enumerate(found, start=1)
    ]
    return Text("\n".join(lines))


def _readers(state: WorkspaceState) -> list[str]:
    local = [", ".join(reader.removeprefix("the ") for reader in LOCAL_READERS)] if state.is_default else []
    return local + [_reader(one) for one in state.teams]


def _reader(one: BoundTeam) -> str:
    notes = ["set in config.toml"] * one.is_configured + ["not connected"] * (not one.team.is_connected)
    return f"{one.label}, {', '.join(notes)}" if notes else one.label


def _word(status: SourceStatus) -> str:
    if status.is_orphan:
        return "not configured"
    if status.spec is not None and not status.spec.enabled:
        return "disabled"
    if status.state is None:
        return "never synced" if status.spec is not None else ""
    return "failing" if status.state.result is SyncResult.FAILED else "ok"


def _note(status: SourceStatus) -> Text | None:
    name = one_line(status.name)
    if status.is_orphan:
        return Text(
            f"{name} is no longer in the configuration: its {status.documents} documents stay as they are, "
            f"until `footnote sources remove {name}`."
        )
    if status.state is None or status.state.error is None:
        return None
    since = _time(status.state.failing_since)
    return Text.assemble(("✗ ", "red"), f"{name} fails since {since}: {one_line(status.state.error)}")


def _time(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M}" if moment else ""


def storage_view(found: StorageStatus) -> RenderableType:
    """Return the contents of the database and the index."""
    facts = found.database
    rows = Table(box=None, pad_edge=False, show_header=False)
    rows.add_column(justify="right")
    for said, count in facts.rows.items():
        rows.add_row(f"{count:,}", said)
    index = f"Search index: {found.indexed:,} of {found.expected:,} passages"
    missing = max(found.expected - found.indexed, 0)
    return Group(
        Text(f"{facts.kind}: {facts.name} ({size_text(facts.bytes)}, schema {facts.schema})", style="bold"),
        rows,
        Text(lacking(missing, found.expected), style="red") if missing else Text(index),
    )


def repair_line(report: RepairReport) -> str:
    """Return a sentence about the repair of the index."""
    if not report.documents and not report.left_over:
        return "The search index lacks nothing."
    indexed = f"Indexed {report.passages:,} passages of {report.documents:,} documents again"
    return f"{indexed}; removed {report.left_over:,} old revisions." if report.left_over else f"{indexed}."


def size_text(count: int) -> str:
    """Return bytes with a readable unit."""
    size = float(count)
    for unit in ("bytes", "KB", "MB"):
        if size < KIBIBYTE:
            return f"{size:,.0f} {unit}"
        size /= KIBIBYTE
    return f"{size:,.1f} GB"


def statistics_view(found: Statistics) -> RenderableType:
    """Return counts, gaps, and the documents cited most and never."""
    statuses = ", ".join(f"{count} {status.value.replace('_', ' ')}" for status, count in found.by_status.items())
    asked = "1 question" if found.questions == 1 else f"{found.questions} questions"
    lines = [
        Text(f"Since {found.since:%Y-%m-%d}: {asked}" + (f" ({statuses})" if statuses else "")),
        Text(f"Thumbs: {found.helpful} helpful, {found.not_helpful} not helpful"),
    ]
    if found.cache_hit_rate is not None:
        lines.append(
            Text(
                f"Tokens: {found.usage.input_tokens:,} in ({found.cache_hit_rate:.0%} cached), "
                f"{found.usage.output_tokens:,} out"
            )
        )
    lines += _spending_lines(found.spending)
    gaps = Table("Asked and not found", "Asked", "Last", box=None, pad_edge=False)
    for gap in found.gaps:
        gaps.add_row(Text("\n".join(gap.questions)), str(gap.count), f"{gap.last_asked_at:%Y-%m-%d}")
    cited = Table("Cited most", "Answers", box=None, pad_edge=False)
    for item in found.most_cited:
        cited.add_row(Text(item.document.title), str(item.answers))
    days = _spending_table("Day", found.spending.by("day")[:MOST_SPENDERS])
    people = _spending_table("Person", found.spending.by("person")[:MOST_SPENDERS])
    return Group(*lines, *_shown(days), *_shown(people), *_shown(gaps), *_shown(cited), Text(), _never(found))


def _spending_lines(report: SpendingReport) -> list[Text]:
    total, micros = report.total, report.micros_per_answer
    if not total.calls:
        return []
    each = "" if not micros else f", ${micros / MICRO:,.4f} for an answer"
    return [Text(f"Cost: {cost_text(total)} for {total.calls:,} model calls{each}")]


def _spending_table(name: str, rows: Sequence[tuple[str, Spent]]) -> Table:
    table = Table(name, "Calls", "Tokens", "Cost", box=None, pad_edge=False)
    for key, spent in rows:
        table.add_row(Text(key or "(extraction)"), f"{spent.calls:,}", f"{spent.tokens:,}", cost_text(spent))
    return table


def _shown(table: Table) -> list[RenderableType]:
    return [Text(), table] if table.row_count else []


def _never(found: Statistics) -> Text:
    if not found.never_cited:
        return Text("Every document was cited at least once." if found.documents else "No documents yet.")
    more = found.never_cited_count - len(found.never_cited)
    names = ", ".join(document.title for document in found.never_cited) + (f" and {more} more" if more else "")
    return Text(f"Never cited, {found.never_cited_count} of {found.documents} documents: {names}")


@contextmanager
def ingest_progress(console: Console) -> Iterator[ProgressCallback]:
    """Show a progress bar if the console is a terminal; yield the callback that moves it."""
    columns = (
        TextColumn("{task.fields[stage]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[name]}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("ingest", total=None, name="", stage="Reading")

        def update(progress: IngestProgress) -> None:
            name = escape(shorten(progress.path, NAME_WIDTH))
            bar.update(task, completed=progress.done, total=progress.total, name=name, stage=progress.stage)

        yield update
