"""Syncs and the state of sources, for people at a terminal."""

from collections.abc import Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bot.terminal.console import one_line
from bot.terminal.render_reports import report_view
from core.domain.sources import SyncResult, SyncState
from core.features.syncing import SourceStatus, SyncReport


def sync_view(reports: Sequence[SyncReport]) -> RenderableType:
    """For each source its name, what changed, what was warned of, and why it failed."""
    if not reports:
        return Text("There are no sources to sync: write them under [[sources]] into the configuration.")
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


def status_view(found: Sequence[SourceStatus]) -> RenderableType:
    """A table, and below it what needs somebody to look at."""
    if not found:
        return Text("There are no sources: add one with `footnote ingest PATH`, or under [[sources]].")
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
    return Group(table, *[note for status in found if (note := _note(status)) is not None])


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
