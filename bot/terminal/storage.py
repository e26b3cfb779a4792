"""Database and index for the terminal. Pure."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from core.domain.ingest_report import RepairReport
from core.features.maintenance import StorageStatus, lacking

KIBIBYTE = 1024


def status_view(found: StorageStatus) -> RenderableType:
    """What is where, and how much of it."""
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
    """What was done to the index, in a sentence."""
    if not report.documents and not report.left_over:
        return "The search index lacks nothing."
    indexed = f"Indexed {report.passages:,} passages of {report.documents:,} documents again"
    return f"{indexed}; removed {report.left_over:,} old revisions." if report.left_over else f"{indexed}."


def size_text(count: int) -> str:
    """Bytes as people read them."""
    size = float(count)
    for unit in ("bytes", "KB", "MB"):
        if size < KIBIBYTE:
            return f"{size:,.0f} {unit}"
        size /= KIBIBYTE
    return f"{size:,.1f} GB"
