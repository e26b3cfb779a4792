"""The answer as Slack shows it: text with footnote links, the sources below, buttons. Pure.

Names here: `RenderOptions`, `render_answer`. Beside it: `render_running` (`running_message`, `start_chunks`,
`task_chunks`, `how_view`), `drafts` (`draft_text`), `render_passages` (`QuoteContext`, `passages_view`), `render_lists`
(`ThreadRow`, `threads_message`, `notice_message`, `text_post`, `said_message`), `render_home` (`Home`, `home_view`);
values in `layout`, names of buttons in `bot.presentation.action_names`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from bot.presentation.answer_text import (
    NO_TEXT,
    SourceLink,
    answer_markdown,
    gaps_line,
    named_reference_lines,
    other_references_line,
    pack_items,
    suggestion_lines,
)
from bot.presentation.rendering import Part, allow_none, link_target, pack, read_markdown
from bot.slackbot.blocks import FLAVOUR, Row, markdown, plain_of, rich_text, size_of, stack, text
from bot.slackbot.layout import (
    EACH_BLOCK,
    MAX_BLOCKS,
    MAX_LABEL,
    TEXT_BUDGET,
    Block,
    SlackMessage,
    SlackPost,
)
from bot.slackbot.plain_text import fallback, unmarked
from bot.slackbot.render_buttons import MAX_SUGGESTIONS, MENU_CHOICES, answer_blocks, mark_of, part_note
from bot.slackbot.render_sources import Entry, footnote, source_entry
from core.domain.answer import Answer

__all__ = ["RenderOptions", "SourceLink", "render_answer"]

# Characters of text to a part, tried where one message does not hold all: shorter texts leave room for their sources.
# The fewest messages win; one of sources alone counts for one and a half, as readers turn back and forth.
_LENGTHS = (9_000, 7_000, 5_000, 3_500, 2_500)
_USUAL = 7_000
_LONG_TEXT = 60_000  # of longer ones one split is enough
# What is left free for the number of the part and the last row of buttons.
_RESERVE = 2 * EACH_BLOCK + 150
_ROOM = TEXT_BUDGET - _RESERVE
_MOST_BLOCKS = MAX_BLOCKS - 2
_SOURCES = "Sources"
_SOURCES_ON = "Sources, continued"
_MORE = "More of the answer"  # for those who see no menus


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    """What the renderer cannot know by itself."""

    post_id: str  # marks every part: the same for all tries at one message (1 to 36 letters and digits)
    link: SourceLink
    is_allowed: Callable[[str], bool] = allow_none  # addresses in the text that may be clicked, beside cited documents'
    is_private: bool = False  # for one person alone, who may share it with the channel


def render_answer(answer: Answer, options: RenderOptions) -> SlackPost:
    """The messages to post, in order: at least one."""
    builder = _Builder(answer, options)
    is_long = len(answer.text) > _LONG_TEXT
    tried = [builder.parts(_USUAL if is_long else _LENGTHS[0])]
    if len(tried[0]) > 1 and not is_long:
        tried += [builder.parts(length) for length in _LENGTHS[1:]]
    parts = min(tried, key=_cost)
    return SlackPost(
        parts=tuple(part.finished(options.post_id, number, len(parts)) for number, part in enumerate(parts, start=1))
    )


@dataclass(slots=True, kw_only=True)
class _Message:
    """One message in the making. `says` and `names` are its words and sources for those who don't see blocks."""

    blocks: list[Block] = field(default_factory=list)
    numbers: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()
    says: str = ""
    names: str = ""
    has_actions: bool = False  # its last block is a row of buttons

    def finished(self, post_id: str, number: int, count: int) -> SlackMessage:
        """Marked, and, of several, saying which it is."""
        mark = mark_of(post_id, number)
        blocks, last = (self.blocks[:-1], self.blocks[-1:]) if self.has_actions else (self.blocks, [])
        notes = [part_note(number, count, None if last else mark)] if count > 1 else []
        marked = [{**block, "block_id": mark} for block in last]
        below = "\n".join(filter(None, [self.names, *map(plain_of, notes)]))
        return SlackMessage(
            text=fallback(self.says or _MORE, below),
            blocks=(*blocks, *notes, *marked),
            numbers=self.numbers,
            listed=self.listed,
        )


class _Builder:
    def __init__(self, answer: Answer, options: RenderOptions) -> None:
        self._answer = answer
        self._options = options
        self._addresses = {citation.number: link_target(options.link(citation)) for citation in answer.citations}
        cited = {citation.url for citation in answer.citations}
        flavour = replace(
            FLAVOUR,
            footnote=partial(footnote, self._addresses),
            is_allowed=lambda address: address in cited or options.is_allowed(address),
        )
        source = answer_markdown(answer, FLAVOUR.plain, menu_holds=MENU_CHOICES, longest_option=MAX_LABEL)
        self._body = read_markdown(source, flavour)
        self._seen: set[int] = set()

    def parts(self, length: int) -> list[_Message]:
        """Texts of at most `length`, each with the footnotes it uses; many of those go on in further parts."""
        self._seen = set()
        texts = pack(self._body, length) or [Part(text=NO_TEXT)]
        parts = [part for place, one in enumerate(texts, 1) for part in self._part(one, is_last=place == len(texts))]
        room = _ROOM - EACH_BLOCK
        for rows in pack_items(_tail(self._answer), lambda row: row.size, room - size_of(parts[-1].blocks), room):
            if rows:
                _add(parts, rich_text(*stack(rows)))
        rows_of_buttons = answer_blocks(self._answer, self._options.post_id, is_private=self._options.is_private)
        for block in rows_of_buttons[:-1]:
            _add(parts, block)
        parts[-1].blocks.append(rows_of_buttons[-1])
        parts[-1].has_actions = True
        return parts

    def _part(self, part: Part, *, is_last: bool) -> list[_Message]:
        first = _Message(blocks=[markdown(part.text)], numbers=part.numbers, says=unmarked(part.text))
        shown = set(part.numbers)
        if is_last:  # what no text names is listed all the same
            shown |= {citation.number for citation in self._answer.citations} - self._seen
        entries = [
            source_entry(citation, self._addresses[citation.number], is_repeated=citation.number in self._seen)
            for citation in self._answer.citations
            if citation.number in shown
        ]
        self._seen |= shown
        room = _ROOM - EACH_BLOCK
        rooms = pack_items(
            entries,
            lambda entry: entry.size,
            room - size_of(first.blocks) - len(_SOURCES) - 1,
            room - len(_SOURCES_ON) - 1,
        )
        messages = [first, *(_Message() for _ in rooms[1:])]
        for place, (message, listed) in enumerate(zip(messages, rooms, strict=True)):
            if listed:
                _list(message, listed, _SOURCES_ON if any(rooms[:place]) else _SOURCES)
        return messages


def _list(message: _Message, entries: Sequence[Entry], heading: str) -> None:
    rows = [Row((text(heading, bold=True),)), *(row for entry in entries for row in entry.rows)]
    block = rich_text(*stack(rows))
    message.blocks.append(block)
    message.listed = tuple(entry.number for entry in entries)
    if not message.says:
        message.says = plain_of(block)
    else:
        message.names = plain_of(rich_text(*stack(row for row in rows if not row.is_quoted)))


def _add(parts: list[_Message], block: Block) -> None:
    """Below the last part, or in a further one where that has no room."""
    last = parts[-1]
    if size_of([*last.blocks, block]) > _ROOM or len(last.blocks) >= _MOST_BLOCKS:
        parts.append(_Message())
    parts[-1].blocks.append(block)
    if block["type"] == "rich_text":
        parts[-1].names = "\n".join(filter(None, [parts[-1].names, plain_of(block)]))


def _tail(answer: Answer) -> list[Row]:
    """What was named and seen, what was not found, and questions whose buttons do not show them whole; a line each."""
    lines = [*named_reference_lines(answer), other_references_line(answer), gaps_line(answer)]
    lines += suggestion_lines(answer, buttons=MAX_SUGGESTIONS, longest_label=MAX_LABEL)
    return [Row((text(line, italic=True),)) for line in lines if line]


def _cost(parts: Sequence[_Message]) -> float:
    apart = sum(1 for part in parts if part.listed and part.blocks[0]["type"] != "markdown")
    return len(parts) + apart / 2
