"""Statistics as tables for the terminal. Pure."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from core.domain.features import Statistics


def statistics_view(found: Statistics) -> RenderableType:
    """Counts, gaps, what is cited most, what never."""
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
    gaps = Table("Asked and not found", "Asked", "Last", box=None, pad_edge=False)
    for gap in found.gaps:
        gaps.add_row(Text("\n".join(gap.questions)), str(gap.count), f"{gap.last_asked_at:%Y-%m-%d}")
    cited = Table("Cited most", "Answers", box=None, pad_edge=False)
    for item in found.most_cited:
        cited.add_row(Text(item.document.title), str(item.answers))
    return Group(*lines, *_shown(gaps), *_shown(cited), Text(), _never(found))


def _shown(table: Table) -> list[RenderableType]:
    return [Text(), table] if table.row_count else []


def _never(found: Statistics) -> Text:
    if not found.never_cited:
        return Text("Every document was cited at least once." if found.documents else "There are no documents yet.")
    more = found.never_cited_count - len(found.never_cited)
    names = ", ".join(document.title for document in found.never_cited) + (f" and {more} more" if more else "")
    return Text(f"Never cited, {found.never_cited_count} of {found.documents} documents: {names}")
