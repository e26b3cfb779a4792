"""An answer as Slack shows it: text with footnote links, sources, buttons, and the passages it cites.

The last block of each part is marked: its `block_id` is an action name with the post's id and the part's number.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import partial
from itertools import groupby

from bot.presentation.action_names import ActionName, Verb, to_action_name
from bot.presentation.answer_buttons import (
    MAX_MENUS,
    ActionButton,
    Emphasis,
    action_buttons,
    action_name,
    choice_menus,
    more_options,
    running_buttons,
    steps_button,
)
from bot.presentation.answer_files import MOST_FILES, fit_messages
from bot.presentation.answer_text import (
    NO_PASSAGES,
    NO_TEXT,
    QuoteContext,
    SourceLink,
    answer_markdown,
    pack_items,
    passage_lines,
    source_path,
    source_title,
)
from bot.presentation.markdown import Flavour, Part, clean, clip, link_target, pack, read_markdown, weight
from bot.presentation.sources import Source, sources_line, sources_of
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

# Characters of text in a part, so that its sources, its number and its buttons fit, too.
TEXT_LENGTH = 9_000
SHORT_LENGTH = 2_500
_LONGEST_SECTION = 2_900
_SECTIONS = 3  # of a plain message
_LONGEST_SOURCES = 1_200  # characters of the line of sources; a longer one has no links
_MORE = "More of the answer"  # for screen readers
MENU_CHOICES = MAX_MENUS * kit.MAX_OPTIONS
_MOST_PARTS = 9_999  # limit of action names
_MOST_IN_OVERFLOW = 5
_LINE = 1_500  # characters
_NOTE_LENGTH = 300
_TITLE = "Sources"
# Least size of a heading, and of another line, so that a page has few enough blocks and elements.
_LEAST_HEADING = kit.VIEW_BUDGET // (kit.MAX_VIEW_BLOCKS - 4)
_LEAST_LINE = 40
_STYLES = {Emphasis.PRIMARY: "primary", Emphasis.DANGER: "danger"}


class Layout(Enum):
    """The forms of an answer, in the order in which they are tried if Slack refuses one."""

    FULL = auto()
    WHOLE = auto()  # without files
    SHORT = auto()  # many short messages without headings and tables
    PLAIN = auto()  # unformatted text


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    post_id: str  # marks every part, the same in all attempts (1 to 36 letters and digits)
    link: SourceLink
    is_private: bool = False  # for one person, who may share it with the channel


def render_answer(answer: Answer, options: RenderOptions, layout: Layout = Layout.FULL) -> SlackPost:
    """Return the messages of an answer, in order, at least one: text, its sources, and below the last one row."""
    if layout is Layout.PLAIN:
        return _plain_post(answer, options)
    addresses = {citation.number: link_target(options.link(citation)) for citation in answer.citations}
    cited = {citation.url for citation in answer.citations}
    flavour = replace(FLAVOUR, footnote=partial(footnote, addresses), is_allowed=cited.__contains__)
    source = answer_markdown(answer, FLAVOUR.plain, menu_holds=MENU_CHOICES, longest_option=MAX_LABEL)
    most_files = 0 if layout is Layout.WHOLE else MOST_FILES
    fitted, files = fit_messages(
        source,
        TEXT_LENGTH,
        lambda text: _texts(text, flavour, layout),
        most_files=most_files,
        notes=addresses,
        files_are_a_message=True,
    )
    texts = fitted or [Part(text=NO_TEXT)]
    unused = {citation.number for citation in answer.citations}.difference(*(part.numbers for part in texts))
    texts[-1] = replace(texts[-1], numbers=tuple(sorted({*texts[-1].numbers, *unused})))
    messages = [_Message.of(part, answer, addresses) for part in texts]
    for block in answer_blocks(answer, options.post_id, is_private=options.is_private):
        if kit.size_of([*messages[-1].blocks, block]) > kit.TEXT_BUDGET - 2 * EACH_BLOCK:
            messages.append(_Message(says=_MORE))
        messages[-1].blocks.append(block)
    count = len(messages)
    parts = tuple(one.finished(options.post_id, place, count) for place, one in enumerate(messages, 1))
    return SlackPost(parts=parts, files=files)


def plain_answer(answer: Answer, link: SourceLink) -> str:
    """Return an answer with its sources as text, for a file or a message without any format."""
    lines = [f"{source.marks} {source.name} {link(source.notes[0]) or ''}" for source in sources_of(answer.citations)]
    return "\n".join([clean(answer.text).strip() or NO_TEXT, *([""] if lines else []), *map(str.rstrip, lines)])


def _plain_post(answer: Answer, options: RenderOptions) -> SlackPost:
    length = _SECTIONS * _LONGEST_SECTION
    parts, files = fit_messages(
        answer.text,
        length,
        lambda text: _plain_parts(plain_answer(replace(answer, text=text), options.link), options),
        files_are_a_message=True,
    )
    return SlackPost(parts=tuple(parts), files=files)


def _plain_parts(text: str, options: RenderOptions) -> list[SlackMessage]:
    pieces = [*passage_lines(text, _LONGEST_SECTION)]
    sections = ["\n".join(piece) for piece in pack_items(pieces, len_with_end, _LONGEST_SECTION, _LONGEST_SECTION)]
    parts = []
    for number, first in enumerate(range(0, len(sections), _SECTIONS), start=1):
        shown = sections[first : first + _SECTIONS]
        row = button_row([steps_button(options.post_id)], mark_of(options.post_id, number))
        text = kit.fallback("\n".join(shown))
        parts.append(SlackMessage(text=text, blocks=(*map(kit.section, filter(str.strip, shown)), row)))
    return parts


def len_with_end(line: str) -> int:
    return weight(line) + 1


def _texts(source: str, flavour: Flavour, layout: Layout) -> list[Part]:
    """Return the text in parts. Where that saves a message, headings and rules are plain lines: Slack counts each."""
    plain = replace(flavour, deepest_heading=0, has_rules=False)
    if layout is Layout.SHORT:
        plain = replace(plain, has_tables=False)
        return pack(read_markdown(source, plain), SHORT_LENGTH, plain)
    texts = pack(read_markdown(source, flavour), TEXT_LENGTH, flavour)
    return min(texts, pack(read_markdown(source, plain), TEXT_LENGTH, plain), key=len) if len(texts) > 1 else texts


@dataclass(slots=True, kw_only=True)
class _Message:
    """A message under construction. `says` and `names` are its text and its sources for screen readers."""

    says: str
    names: str = ""
    blocks: list[Block] = field(default_factory=list)
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, part: Part, answer: Answer, addresses: Mapping[int, str | None]) -> "_Message":
        listed = [citation for citation in answer.citations if citation.number in part.numbers]
        line = sources_line(listed, partial(_linked_source, addresses=addresses))
        if len(line) > _LONGEST_SOURCES:
            line = sources_line(listed, partial(_linked_source, addresses={}))
        return cls(
            says=kit.unmarked(part.text),
            names=sources_line(listed, lambda source: f"{source.marks} {source.name}"),
            blocks=[kit.markdown(part.text), *([kit.small(line)] if line else [])],
            numbers=part.numbers,
        )

    def finished(self, post_id: str, number: int, count: int) -> SlackMessage:
        """Return the message with its mark in the last block and, if there are several, its number."""
        mark = mark_of(post_id, number)
        *before, last = self.blocks
        if last["type"] == "actions":
            blocks = [*before, *([part_note(number, count)] if count > 1 else []), {**last, "block_id": mark}]
        else:
            blocks = [*self.blocks, part_note(number, count, mark)]
        names = "\n".join(filter(None, [self.names, f"Part {number} of {count}" if count > 1 else ""]))
        return SlackMessage(text=kit.fallback(self.says, names), blocks=tuple(blocks), numbers=self.numbers)


def _linked_source(source: Source, addresses: Mapping[int, str | None]) -> str:
    return f"{source.marks} {kit.small_link(source.name, addresses.get(source.notes[0].number))}"


def answer_blocks(answer: Answer, post_id: str, *, is_private: bool) -> list[Block]:
    """Return menus for choices, and the actions on the answer as the last, unmarked block; none if it has neither."""
    menus = choice_menus(answer, most_options=kit.MAX_OPTIONS, longest=MAX_LABEL)
    row = button_row(action_buttons(answer, post_id)[: kit.MAX_ACTIONS])
    if more := more_options(answer, longest=MAX_LABEL, most=_MOST_IN_OVERFLOW, is_private=is_private):
        row["elements"].append(kit.overflow(action_name(Verb.MORE, answer.message_id), more))
    return [*(kit.actions(kit.menu(menu.placeholder, menu.name, menu.options)) for menu in menus), row]


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
