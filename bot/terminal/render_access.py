"""Why something may be read, or not, as the terminal says it. Pure."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bot.terminal.console import one_line
from core.access.scopes import Ground
from core.domain.service import TO_THE_END
from core.features.access_explanation import AccessQuestion, Explanation, Holder, SourceReason, VerdictOn

# Sources of other threads that are named; the rest are counted, as there may be one for each thread.
MOST_ATTACHED = 10


def explanation_view(found: Explanation) -> RenderableType:
    """Where, a line for each source, the reading positions, and the verdict on the document that was asked about."""
    parts: list[RenderableType] = [Text(_where(found), style="bold"), Text(), *_sources(found)]
    parts += [Text(), *_positions(found)]
    if found.document is not None:
        parts += [Text(), *_verdict(found.document)]
    return Group(*parts)


def _where(found: Explanation) -> str:
    question = found.question
    who = question.person or "anybody"
    if question.address is None:
        return f"What {who} reads in the workspace {question.workspace}, outside of channels:"
    address = question.address
    place = f"{address.platform}:{address.channel}" + (f", thread {address.thread}" if address.thread else "")
    company = "alone" if found.alone else "where others read along"
    told = f"What {who} reads in {place} of the workspace {address.workspace}, {company}"
    return f"{told}, of the sources of {question.workspace}:" if address.workspace != question.workspace else f"{told}:"


def _sources(found: Explanation) -> Iterator[RenderableType]:
    if not found.sources:
        workspace = found.question.workspace
        yield Text(
            f"There are no sources in the workspace {workspace}: add one with `footnote --workspace {workspace} ingest "
            "PATH`, or name another workspace with --workspace."
        )
    named = list(_named(found.sources))
    yield from map(_source, named)
    if more := len(found.sources) - len(named):
        yield Text.assemble(("✗ ", "red"), f"and {more} more that were attached in other threads")


def _named(sources: Sequence[SourceReason]) -> Iterator[SourceReason]:
    attached = 0
    for source in sources:
        attached += source.ground is Ground.ATTACHED_ELSEWHERE
        if source.ground is not Ground.ATTACHED_ELSEWHERE or attached <= MOST_ATTACHED:
            yield source


def _source(source: SourceReason) -> RenderableType:
    mark = ("✓ ", "green") if source.ground.is_readable else ("✗ ", "red")
    return Text.assemble(mark, (one_line(source.name), "bold"), f": {source.sentence}")


def _positions(found: Explanation) -> Iterator[RenderableType]:
    if not found.positions:
        yield Text("No reading position holds here: what may be read may be read to its end.")
        return
    yield Text("Reading positions:")
    for position in found.positions:
        said = f": {_shown(position.last_page)}, {_whose(position.holder, found.question)}"
        others = [item for item in position.held if item.holder is not position.holder]
        told = "; ".join(f"{_whose(item.holder, found.question)} is {_shown(item.last_page)}" for item in others)
        line = Text.assemble((position.document.title, "bold"), f" ({one_line(position.document.path)})", said)
        line.append(f" ({told})" if told else "", style="dim")
        yield _item(line)


def _whose(holder: Holder, question: AccessQuestion) -> str:
    if holder is Holder.CHANNEL:
        return "the channel's position"
    return f"{question.person}'s position" if holder is Holder.PERSON else f"lifted by {question.person}"


def _shown(last: int) -> str:
    if last == 0:
        return "not begun"
    return "to the end" if last == TO_THE_END else f"up to page {last}"


def _verdict(told: VerdictOn) -> Iterator[RenderableType]:
    yield Text(told.sentence, style="bold")
    if told.changes:
        yield Text("What would change it:")
        yield from (_item(Text(change)) for change in told.changes)


def _item(words: RenderableType) -> RenderableType:
    """An item of a list; what does not fit into its line goes on below its first word."""
    item = Table.grid(padding=(0, 1, 0, 0))
    item.add_row(Text("  •", style="dim"), words)
    return item
