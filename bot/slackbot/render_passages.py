"""The passages behind an answer's footnotes: each quote in bold, within what stands around it. Pure.

Names: `QuoteContext`, `passages_view`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from bot.presentation.action_names import Verb
from bot.presentation.answer_text import NO_PASSAGES, QuoteContext, pack_items, passage_lines
from bot.presentation.rendering import clip
from bot.slackbot.blocks import Row, context, modal, rich_text, stack, text
from bot.slackbot.layout import MAX_VIEW_BLOCKS, VIEW_BUDGET, Block, View
from bot.slackbot.render_buttons import page_actions
from bot.slackbot.render_sources import source_heading
from core.domain.answer import Answer, Citation

__all__ = ["QuoteContext", "passages_view"]

_LINE = 1_500  # characters
_NOTE_LENGTH = 300
_TITLE = "Passages"
# Characters that a heading, and another line, count for at least: so a page has few enough blocks and elements.
_LEAST_HEADING = VIEW_BUDGET // (MAX_VIEW_BLOCKS - 4)
_LEAST_LINE = 40


@dataclass(frozen=True, slots=True)
class _Line:
    number: int  # of the footnote
    row: Row

    @property
    def size(self) -> int:
        return max(self.row.size, _LEAST_LINE if self.row.is_quoted else _LEAST_HEADING)


def passages_view(
    answer: Answer,
    neighbours: Mapping[int, QuoteContext],
    links: Mapping[int, str],
    *,
    numbers: Collection[int] | None = None,
    page: int = 1,
) -> View:
    """A modal of the passages, by number; `numbers` restricts it to these footnotes.

    What one view cannot hold is on further pages (`page`, from 1): buttons in it are `fn:passages:<message id>:<page>`,
    and whoever presses one is to have this view updated. Without a message id it says how many pages are not shown.
    """
    wanted = [citation for citation in answer.citations if numbers is None or citation.number in numbers]
    lines = [
        _Line(citation.number, row)
        for citation in wanted
        for row in _rows(citation, neighbours.get(citation.number, QuoteContext()), links.get(citation.number))
    ]
    if not lines:
        return modal(_TITLE, [rich_text(*stack([Row((text(NO_PASSAGES),))]))])
    pages = pack_items(lines, lambda line: line.size, VIEW_BUDGET, VIEW_BUDGET)
    place = min(max(page, 1), len(pages))
    return modal(_TITLE, [*_blocks(pages, place), *_ways(answer, place, len(pages))])


def _rows(citation: Citation, around: QuoteContext, address: str | None) -> Iterator[Row]:
    yield Row((text(f"[{citation.number}] ", bold=True), *source_heading(citation, address)))
    if citation.deep_link:
        yield Row((text(f"Opens as: {clip(citation.deep_link, _NOTE_LENGTH)}", italic=True),))
    if around.note:
        yield Row((text(clip(around.note, _NOTE_LENGTH), italic=True),))
    yield from (Row((text(line),), is_quoted=True) for line in passage_lines(around.before, _LINE))
    yield from (Row((text(line, bold=True),), is_quoted=True) for line in passage_lines(citation.quote, _LINE))
    yield from (Row((text(line),), is_quoted=True) for line in passage_lines(around.behind, _LINE))


def _blocks(pages: Sequence[Sequence[_Line]], place: int) -> Iterator[Block]:
    """A block a footnote; one that goes on from the page before says so."""
    begun = pages[place - 2][-1].number if place > 1 else None
    for number, lines in groupby(pages[place - 1], lambda line: line.number):
        before = [Row((text(f"[{number}] ", bold=True), text("continued")))] if number == begun else []
        yield rich_text(*stack([*before, *(line.row for line in lines)]))


def _ways(answer: Answer, place: int, count: int) -> list[Block]:
    """Which page this is, and to the others."""
    if count == 1:
        return []
    if not answer.message_id:
        more = f" The other {count - 1} are not shown here." if count > 2 else " The other is not shown here."
        return [context(f"Page {place} of {count}.{more}")]
    return [context(f"Page {place} of {count}"), *page_actions(answer.message_id, place, count, Verb.PASSAGES)]
