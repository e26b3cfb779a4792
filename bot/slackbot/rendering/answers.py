"""An answer as Slack shows it: text with footnote links, sources, buttons, and the passages it cites.

The last block of each part is marked: its `block_id` is an action name with the post's id and the part's number.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby

from bot.presentation.action_names import ActionName, Verb, to_action_name
from bot.presentation.answer_buttons import (
    MAX_MENUS,
    MAX_SUGGESTIONS,
    ActionButton,
    Emphasis,
    action_buttons,
    action_name,
    choice_menus,
    running_buttons,
    steps_button,
    suggestion_buttons,
)
from bot.presentation.answer_text import (
    NO_PASSAGES,
    NO_TEXT,
    QuoteContext,
    SourceLink,
    answer_markdown,
    can_be_rated,
    gaps_line,
    named_reference_lines,
    other_references_line,
    pack_items,
    passage_lines,
    source_path,
    source_quote,
    source_title,
    suggestion_lines,
)
from bot.presentation.markdown import Part, clip, link_target, pack, read_markdown
from bot.slackbot.rendering import blocks as kit
from bot.slackbot.rendering.blocks import (
    EACH_BLOCK,
    FLAVOUR,
    MAX_LABEL,
    Block,
    Element,
    Row,
    SlackMessage,
    SlackPost,
    View,
)
from core.domain.answer import Answer, Citation

# Characters of text per part, tried if one message is too small: shorter texts leave room for their sources.
# The fewest messages win; one with only sources counts for one and a half, as readers turn back and forth.
_LENGTHS = (9_000, 7_000, 5_000, 3_500, 2_500)
_USUAL = 7_000
_LONG_TEXT = 60_000  # longer texts are split only once
# Reserved for the part's number and the last row of buttons.
_RESERVE = 2 * EACH_BLOCK + 150
_ROOM = kit.TEXT_BUDGET - _RESERVE
_MOST_BLOCKS = kit.MAX_BLOCKS - 2
_SOURCES = "Sources"
_SOURCES_ON = "Sources, continued"
_MORE = "More of the answer"  # for screen readers
MENU_CHOICES = MAX_MENUS * kit.MAX_OPTIONS
_MOST_PARTS = 9_999  # limit of action names
_LINE = 1_500  # characters
_NOTE_LENGTH = 300
_TITLE = "Passages"
# Least size of a heading, and of another line, so that a page has few enough blocks and elements.
_LEAST_HEADING = kit.VIEW_BUDGET // (kit.MAX_VIEW_BLOCKS - 4)
_LEAST_LINE = 40
_STYLES = {Emphasis.PRIMARY: "primary", Emphasis.DANGER: "danger"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    post_id: str  # marks every part, the same in all attempts (1 to 36 letters and digits)
    link: SourceLink
    is_private: bool = False  # for one person, who may share it with the channel


def render_answer(answer: Answer, options: RenderOptions) -> SlackPost:
    """Return the messages of an answer, in order, at least one."""
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
    """A message under construction. `says` and `names` are its text and sources for screen readers."""

    blocks: list[Block] = field(default_factory=list)
    numbers: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()
    says: str = ""
    names: str = ""
    has_actions: bool = False  # its last block is a row of buttons

    def list_sources(self, heading: str, entries: Sequence[tuple[int, Sequence[Row]]]) -> None:
        rows = [Row((kit.text(heading, bold=True),)), *(row for _, rows in entries for row in rows)]
        block = kit.rich_text(*kit.stack(rows))
        self.blocks.append(block)
        self.listed = tuple(number for number, _ in entries)
        if not self.says:
            self.says = kit.plain_of(block)
        else:
            self.names = kit.plain_of(kit.rich_text(*kit.stack(row for row in rows if not row.is_quoted)))

    def finished(self, post_id: str, number: int, count: int) -> SlackMessage:
        """Return the message with its mark and, if there are several, its number."""
        mark = mark_of(post_id, number)
        blocks, last = (self.blocks[:-1], self.blocks[-1:]) if self.has_actions else (self.blocks, [])
        notes = [part_note(number, count, None if last else mark)] if count > 1 else []
        marked = [{**block, "block_id": mark} for block in last]
        below = "\n".join(filter(None, [self.names, *map(kit.plain_of, notes)]))
        return SlackMessage(
            text=kit.fallback(self.says or _MORE, below),
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
        flavour = replace(FLAVOUR, footnote=partial(footnote, self._addresses), is_allowed=cited.__contains__)
        source = answer_markdown(answer, FLAVOUR.plain, menu_holds=MENU_CHOICES, longest_option=MAX_LABEL)
        self._body = read_markdown(source, flavour)
        self._seen: set[int] = set()

    def parts(self, length: int) -> list[_Message]:
        """Return messages with at most `length` characters of text, each with the footnotes it uses."""
        self._seen = set()
        texts = pack(self._body, length) or [Part(text=NO_TEXT)]
        parts = [part for place, one in enumerate(texts, 1) for part in self._part(one, is_last=place == len(texts))]
        room = _ROOM - EACH_BLOCK
        for rows in pack_items(_tail(self._answer), lambda row: row.size, room - kit.size_of(parts[-1].blocks), room):
            if rows:
                _add(parts, kit.rich_text(*kit.stack(rows)))
        rows_of_buttons = answer_blocks(self._answer, self._options.post_id, is_private=self._options.is_private)
        for block in rows_of_buttons[:-1]:
            _add(parts, block)
        parts[-1].blocks.append(rows_of_buttons[-1])
        parts[-1].has_actions = True
        return parts

    def _part(self, part: Part, *, is_last: bool) -> list[_Message]:
        shown = set(part.numbers)
        if is_last:  # footnotes that no text uses are listed, too
            shown |= {citation.number for citation in self._answer.citations} - self._seen
        entries = [
            (number, source_entry(citation, self._addresses[number], is_repeated=number in self._seen))
            for citation in self._answer.citations
            if (number := citation.number) in shown
        ]
        self._seen |= shown
        first = _Message(blocks=[kit.markdown(part.text)], numbers=part.numbers, says=kit.unmarked(part.text))
        room = _ROOM - EACH_BLOCK - 1
        rooms = pack_items(
            entries,
            lambda entry: sum(row.size for row in entry[1]),
            room - kit.size_of(first.blocks) - len(_SOURCES),
            room - len(_SOURCES_ON),
        )
        messages = [first, *(_Message() for _ in rooms[1:])]
        heading = _SOURCES
        for message, listed in zip(messages, rooms, strict=True):
            if listed:
                message.list_sources(heading, listed)
                heading = _SOURCES_ON
        return messages


def _add(parts: list[_Message], block: Block) -> None:
    """Append a block to the last part, or to a new one if it is full."""
    last = parts[-1]
    if kit.size_of([*last.blocks, block]) > _ROOM or len(last.blocks) >= _MOST_BLOCKS:
        parts.append(_Message())
    parts[-1].blocks.append(block)
    if block["type"] == "rich_text":
        parts[-1].names = "\n".join(filter(None, [parts[-1].names, kit.plain_of(block)]))


def _tail(answer: Answer) -> list[Row]:
    """Return a line each for references, gaps, and suggestions that don't fit a button."""
    lines = [*named_reference_lines(answer), other_references_line(answer), gaps_line(answer)]
    lines += suggestion_lines(answer, buttons=MAX_SUGGESTIONS, longest_label=MAX_LABEL)
    return [Row((kit.text(line, italic=True),)) for line in lines if line]


def _cost(parts: Sequence[_Message]) -> float:
    apart = sum(1 for part in parts if part.listed and part.blocks[0]["type"] != "markdown")
    return len(parts) + apart / 2


def answer_blocks(answer: Answer, post_id: str, *, is_private: bool) -> list[Block]:
    """Return menus for choices, suggestions, thumbs, and the actions on the answer as the last, unmarked block."""
    menus = choice_menus(answer, most_options=kit.MAX_OPTIONS, longest=MAX_LABEL)
    suggestions = suggestion_buttons(answer, MAX_LABEL)
    is_rated = bool(answer.message_id) and not answer.note_on and can_be_rated(answer)
    return [
        *(kit.actions(kit.menu(menu.placeholder, menu.name, menu.options)) for menu in menus),
        *([button_row(suggestions)] if suggestions else []),
        *([kit.feedback(action_name(Verb.RATE, answer.message_id))] if is_rated else []),
        button_row(action_buttons(answer, post_id, can_share=is_private)[: kit.MAX_ACTIONS]),
    ]


def running_actions(post_id: str) -> Block:
    """Return the buttons of an answer in progress, marking the post's first part."""
    return button_row(running_buttons(post_id), mark_of(post_id, 1))


def how_actions(post_id: str) -> Block:
    """Return the button of a post without an answer, marking its first part."""
    return button_row([steps_button(post_id)], mark_of(post_id, 1))


def button_row(buttons: Iterable[ActionButton], block_id: str | None = None) -> Block:
    elements = (kit.button(one.label, one.name, style=_STYLES.get(one.emphasis)) for one in buttons)
    return kit.actions(*elements, block_id=block_id)


def page_actions(list_id: str, page: int, pages: int, verb: Verb = Verb.PAGE) -> list[Block]:
    """Return buttons to the previous and next page (from 1); empty for a single page."""
    ways: list[Element] = []
    if page > 1:
        ways.append(kit.button("Previous page", action_name(verb, list_id, min(page - 1, pages))))
    if page < pages:
        ways.append(kit.button("Next page", action_name(verb, list_id, page + 1)))
    return [kit.actions(*ways)] if ways else []


def mark_of(post_id: str, part: int) -> str:
    """Return the block_id of a part's last block."""
    return to_action_name(ActionName(verb=Verb.PART, id=post_id, post_id=post_id, part=min(part, _MOST_PARTS)))


def part_note(number: int, count: int, mark: str | None = None) -> Block:
    return kit.context(f"Part {number} of {count}", mark)


def source_entry(citation: Citation, address: str | None, *, is_repeated: bool) -> list[Row]:
    """Return a footnote's heading and quote; a repeated one has no quote."""
    if is_repeated:
        mark = kit.text(f"[{citation.number}] ", bold=True)
        return [Row((mark, kit.link(source_title(citation), address), kit.text(" (quoted above)")))]
    quote = source_quote(citation)
    quoted = [Row((kit.text(f"“{quote}”"),), is_quoted=True)] if quote else []
    return [_heading(citation, address), *quoted]


def footnote(addresses: Mapping[int, str | None], number: int) -> str | None:
    """Return a number in the text, linked if its source has an address; None if it isn't a footnote."""
    if number not in addresses:
        return None
    address = addresses[number]
    return FLAVOUR.link(f"[{number}]", address) if address else f"[{number}]"


def _heading(citation: Citation, address: str | None) -> Row:
    """Return `[1] Page 5 of “Guide” > Chapter > Section`, with its page linked."""
    path = source_path(citation)
    title = kit.link(source_title(citation), address)
    return Row((kit.text(f"[{citation.number}] ", bold=True), title, kit.text(f" > {path}") if path else None))


def passages_view(
    answer: Answer, neighbours: Mapping[int, QuoteContext], links: Mapping[int, str], *, page: int = 1
) -> View:
    """Return a page (from 1) of a modal of the cited passages.

    Other pages are reached by buttons `fn:passages:<message id>:<page>`, which update the view.
    """
    lines = [
        (citation.number, row)
        for citation in answer.citations
        for row in _rows(citation, neighbours.get(citation.number, QuoteContext()), links.get(citation.number))
    ]
    if not lines:
        return kit.modal(_TITLE, [kit.rich_text(*kit.stack([Row((kit.text(NO_PASSAGES),))]))])
    pages = pack_items(lines, _line_size, kit.VIEW_BUDGET, kit.VIEW_BUDGET)
    place, count = min(max(page, 1), len(pages)), len(pages)
    begun = pages[place - 2][-1][0] if place > 1 else None
    shown: list[Block] = []
    for number, group in groupby(pages[place - 1], lambda line: line[0]):
        continued = [Row((kit.text(f"[{number}] ", bold=True), kit.text("continued")))] if number == begun else []
        shown.append(kit.rich_text(*kit.stack([*continued, *(row for _, row in group)])))
    if count > 1:
        note = kit.context(f"Page {place} of {count}")
        shown += [note, *page_actions(answer.message_id, place, count, Verb.PASSAGES)]
    return kit.modal(_TITLE, shown)


def _line_size(line: tuple[int, Row]) -> int:
    row = line[1]
    return max(row.size, _LEAST_LINE if row.is_quoted else _LEAST_HEADING)


def _rows(citation: Citation, around: QuoteContext, address: str | None) -> Iterator[Row]:
    yield _heading(citation, address)
    if citation.deep_link:
        yield Row((kit.text(f"Opens as: {clip(citation.deep_link, _NOTE_LENGTH)}", italic=True),))
    if around.note:
        yield Row((kit.text(clip(around.note, _NOTE_LENGTH), italic=True),))
    for passage, is_bold in ((around.before, False), (citation.quote, True), (around.behind, False)):
        yield from (Row((kit.text(line, bold=is_bold),), is_quoted=True) for line in passage_lines(passage, _LINE))
