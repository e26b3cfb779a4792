"""An answer as Slack shows it: text with footnote links, sources, buttons, and the passages it cites.

The last block of each part is marked: its `block_id` is an action name with the post's id and the part's number.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby

from bot.presentation.action_names import ActionName, Verb, to_action_name
from bot.presentation.answer_text import (
    ALL_REFERENCES_LABEL,
    NO_PASSAGES,
    NO_TEXT,
    RATED_STATUSES,
    STEPS_LABEL,
    QuoteContext,
    SourceLink,
    answer_markdown,
    ask_again_label,
    gaps_line,
    hidden_reference_count,
    named_reference_lines,
    other_references_line,
    pack_items,
    passage_lines,
    source_path,
    source_quote,
    source_title,
    suggestion_lines,
)
from bot.presentation.markdown import Part, allow_none, clip, link_target, pack, read_markdown
from bot.slackbot.rendering.blocks import (
    EACH_BLOCK,
    FLAVOUR,
    MAX_ACTIONS,
    MAX_BLOCKS,
    MAX_LABEL,
    MAX_OPTIONS,
    MAX_VIEW_BLOCKS,
    TEXT_BUDGET,
    VIEW_BUDGET,
    Block,
    Element,
    Row,
    SlackMessage,
    SlackPost,
    View,
    actions,
    button,
    context,
    fallback,
    feedback,
    link,
    markdown,
    menu,
    modal,
    plain_of,
    rich_text,
    size_of,
    stack,
    text,
    unmarked,
)
from core.domain.answer import Answer, Citation

# Characters of text per part, tried if one message is too small: shorter texts leave room for their sources.
# The fewest messages win; one with only sources counts for one and a half, as readers turn back and forth.
_LENGTHS = (9_000, 7_000, 5_000, 3_500, 2_500)
_USUAL = 7_000
_LONG_TEXT = 60_000  # longer texts are split only once
# Reserved for the part's number and the last row of buttons.
_RESERVE = 2 * EACH_BLOCK + 150
_ROOM = TEXT_BUDGET - _RESERVE
_MOST_BLOCKS = MAX_BLOCKS - 2
_SOURCES = "Sources"
_SOURCES_ON = "Sources, continued"
_MORE = "More of the answer"  # for screen readers
MAX_MENUS = 4  # of one post
MENU_CHOICES = MAX_MENUS * MAX_OPTIONS
MAX_SUGGESTIONS = 5
_MOST_PARTS = 9_999  # limit of action names
_LINE = 1_500  # characters
_NOTE_LENGTH = 300
_TITLE = "Passages"
# Least size of a heading, and of another line, so that a page has few enough blocks and elements.
_LEAST_HEADING = VIEW_BUDGET // (MAX_VIEW_BLOCKS - 4)
_LEAST_LINE = 40


@dataclass(frozen=True, slots=True)
class Entry:
    """A footnote in the list of sources."""

    number: int
    rows: tuple[Row, ...]

    @property
    def size(self) -> int:
        return sum(row.size for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    post_id: str  # marks every part, the same in all attempts (1 to 36 letters and digits)
    link: SourceLink
    is_allowed: Callable[[str], bool] = allow_none  # addresses that may be linked, besides cited documents'
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

    def finished(self, post_id: str, number: int, count: int) -> SlackMessage:
        """Return the message with its mark and, if there are several, its number."""
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
        """Return messages with at most `length` characters of text, each with the footnotes it uses."""
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
        if is_last:  # footnotes that no text uses are to_thread_item, too
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
    """Append a block to the last part, or to a new one if it is full."""
    last = parts[-1]
    if size_of([*last.blocks, block]) > _ROOM or len(last.blocks) >= _MOST_BLOCKS:
        parts.append(_Message())
    parts[-1].blocks.append(block)
    if block["type"] == "rich_text":
        parts[-1].names = "\n".join(filter(None, [parts[-1].names, plain_of(block)]))


def _tail(answer: Answer) -> list[Row]:
    """Return a line each for references, gaps, and suggestions that don't fit a button."""
    lines = [*named_reference_lines(answer), other_references_line(answer), gaps_line(answer)]
    lines += suggestion_lines(answer, buttons=MAX_SUGGESTIONS, longest_label=MAX_LABEL)
    return [Row((text(line, italic=True),)) for line in lines if line]


def _cost(parts: Sequence[_Message]) -> float:
    apart = sum(1 for part in parts if part.listed and part.blocks[0]["type"] != "markdown")
    return len(parts) + apart / 2


def answer_blocks(answer: Answer, post_id: str, *, is_private: bool) -> list[Block]:
    """Return menus for choices, suggestions, thumbs, and the actions on the answer as the last, unmarked block.

    An answer without a message id only has the steps button; a note about stale answers has one button for each.
    """
    if answer.note_on:
        return [actions(*_again(answer))]
    how = button(STEPS_LABEL, _name(Verb.HOW, answer.message_id or post_id))
    if not answer.message_id:
        return [actions(how)]
    is_rated = answer.status in RATED_STATUSES
    buttons = [how]
    if answer.citations:
        buttons.insert(0, button("Show passages", _name(Verb.PASSAGES, answer.message_id), style="primary"))
    if hidden_reference_count(answer):
        buttons.append(button(ALL_REFERENCES_LABEL, _name(Verb.REFERENCES, answer.message_id)))
    if is_private and is_rated:
        buttons.append(button("Share with the channel", _name(Verb.SHARE, answer.message_id)))
    thumbs = [feedback(_name(Verb.RATE, answer.message_id))] if is_rated else []
    return [*_menus(answer), *_suggestions(answer), *thumbs, actions(*buttons)]


def _again(answer: Answer) -> list[Element]:
    notes = answer.note_on[:MAX_ACTIONS]
    return [
        button(ask_again_label(note.question, alone=len(notes) == 1), _name(Verb.AGAIN, note.message_id))
        for note in notes
    ]


def running_actions(post_id: str) -> Block:
    """Return the buttons of an answer in progress, marking the post's first part."""
    stop = button("Stop", _name(Verb.STOP, post_id), style="danger")
    return actions(stop, button(STEPS_LABEL, _name(Verb.HOW, post_id)), block_id=mark_of(post_id, 1))


def how_actions(post_id: str) -> Block:
    """Return the button of a post without an answer, marking its first part."""
    return actions(button(STEPS_LABEL, _name(Verb.HOW, post_id)), block_id=mark_of(post_id, 1))


def page_actions(list_id: str, page: int, pages: int, verb: Verb = Verb.PAGE) -> list[Block]:
    """Return buttons to the previous and next page (from 1); empty for a single page."""
    ways: list[Element] = []
    if page > 1:
        ways.append(button("Previous page", _name(verb, list_id, min(page - 1, pages))))
    if page < pages:
        ways.append(button("Next page", _name(verb, list_id, page + 1)))
    return [actions(*ways)] if ways else []


def mark_of(post_id: str, part: int) -> str:
    """Return the block_id of a part's last block."""
    part = min(part, _MOST_PARTS)
    return to_action_name(replace(ActionName(verb=Verb.PART, id=post_id), post_id=post_id, part=part))


def part_note(number: int, count: int, mark: str | None = None) -> Block:
    return context(f"Part {number} of {count}", mark)


def _menus(answer: Answer) -> list[Block]:
    blocks = []
    shown = answer.choices[:MENU_CHOICES]
    for place, first in enumerate(range(0, len(shown), MAX_OPTIONS)):
        options = [
            (clip(choice, MAX_LABEL) or f"Choice {value + 1}", str(value))
            for value, choice in enumerate(shown[first : first + MAX_OPTIONS], start=first)
        ]
        last = first + len(options)
        words = "Choose one" if len(shown) <= MAX_OPTIONS else f"Choose one of {first + 1} to {last}"
        blocks.append(actions(menu(words, _name(Verb.CHOOSE, answer.message_id, place), options)))
    return blocks


def _suggestions(answer: Answer) -> list[Block]:
    buttons = [
        button(text, _name(Verb.ASK, answer.message_id, place))
        for place, text in enumerate(answer.suggestions[:MAX_SUGGESTIONS])
        if clip(text, MAX_LABEL)
    ]
    return [actions(*buttons)] if buttons else []


def _name(verb: Verb, target: str, n: int | None = None) -> str:
    return to_action_name(ActionName(verb=verb, id=target, n=n))


def source_entry(citation: Citation, address: str | None, *, is_repeated: bool) -> Entry:
    """Return a footnote's entry; a repeated one has no quote."""
    mark = text(f"[{citation.number}] ", bold=True)
    if is_repeated:
        heading = Row((mark, link(source_title(citation), address), text(" (quoted above)")))
        return Entry(citation.number, (heading,))
    heading = Row((mark, *source_heading(citation, address)))
    quote = source_quote(citation)
    quoted = (Row((text(f"“{quote}”"),), is_quoted=True),) if quote else ()
    return Entry(citation.number, (heading, *quoted))


def footnote(addresses: Mapping[int, str | None], number: int) -> str | None:
    """Return a number in the text, linked if its source has an address; None if it isn't a footnote."""
    if number not in addresses:
        return None
    address = addresses[number]
    return FLAVOUR.link(f"[{number}]", address) if address else f"[{number}]"


def source_heading(citation: Citation, address: str | None) -> tuple[Element | None, ...]:
    """Return `Page 5 of “Guide” > Chapter > Section`, with its first words linked."""
    path = source_path(citation)
    return (link(source_title(citation), address), text(f" > {path}") if path else None)


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
    """Return a modal of the cited passages, restricted to the footnotes in `numbers`.

    Pages (from 1) are reached by buttons `fn:passages:<message id>:<page>`, which update the view. Without a message id
    it shows how many pages are left out.
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
    """Yield a block for each footnote; one continued from the page before is labelled."""
    begun = pages[place - 2][-1].number if place > 1 else None
    for number, lines in groupby(pages[place - 1], lambda line: line.number):
        before = [Row((text(f"[{number}] ", bold=True), text("continued")))] if number == begun else []
        yield rich_text(*stack([*before, *(line.row for line in lines)]))


def _ways(answer: Answer, place: int, count: int) -> list[Block]:
    if count == 1:
        return []
    if not answer.message_id:
        more = f" The other {count - 1} are not shown here." if count > 2 else " The other is not shown here."
        return [context(f"Page {place} of {count}.{more}")]
    return [context(f"Page {place} of {count}"), *page_actions(answer.message_id, place, count, Verb.PASSAGES)]
