"""The answer as Discord shows it: text with footnote links, the sources below, buttons. Pure.

Names here: `RenderOptions`, `render_answer`. Beside it: `render_running` (`running_view`, `job_tree_text`, `how_view`),
`render_passages` (`QuoteContext`, `passages_view`), `render_lists` (`ThreadItem`, `threads_view`, `notice_view`,
`text_view`); values in `layout`, LayoutViews by `views.to_view`, names of buttons in `bot.presentation.action_names`.

Messages of components have no link previews, so addresses need no brackets against them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.discordbot.layout import (
    MAX_LABEL,
    MAX_OPTION,
    MAX_ROW,
    TEXT_BUDGET,
    Block,
    Container,
    DiscordPost,
    PartView,
    Separator,
    Text,
)
from bot.discordbot.render_buttons import MENU_CHOICES, answer_rows, mark_parts
from bot.discordbot.render_sources import PLAIN, footnote, pack_items, source_entry
from bot.presentation.answer_text import (
    NO_TEXT,
    SourceLink,
    answer_markdown,
    gaps_line,
    named_reference_lines,
    other_references_line,
    suggestion_lines,
)
from bot.presentation.rendering import Flavour, Part, allow_none, link_target, pack, read_markdown, units
from core.domain.answer import Answer

# Units of text to a part, tried where one message does not hold all: shorter texts leave room for their sources. The
# fewest messages win; one of sources alone counts for one and a half, as readers turn back and forth.
_SHORTER = (2_800, 2_000, 1_400, 1_000)
_USUAL = 2_000
_LONG_TEXT = 30_000  # characters; of longer ones one split is enough
_SOURCES = "**Sources**"
_SOURCES_ON = "**Sources, continued**"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    """What the renderer cannot know by itself."""

    post_id: str  # marks every part: the same for all tries at one message (1 to 36 letters and digits)
    link: SourceLink
    is_allowed: Callable[[str], bool] = allow_none  # addresses in the text that may be clicked, beside cited documents'


def render_answer(answer: Answer, options: RenderOptions) -> DiscordPost:
    """The messages to post, in order: at least one."""
    builder = _Builder(answer, options)
    is_long = len(answer.text) > _LONG_TEXT
    tried = [builder.parts(_USUAL if is_long else TEXT_BUDGET)]
    if len(tried[0]) > 1 and not is_long:
        tried += [builder.parts(limit) for limit in _SHORTER]
    return DiscordPost(parts=mark_parts(min(tried, key=_cost), options.post_id))


class _Builder:
    def __init__(self, answer: Answer, options: RenderOptions) -> None:
        self._answer = answer
        self._post_id = options.post_id
        self._addresses = {citation.number: link_target(options.link(citation)) for citation in answer.citations}
        cited = {citation.url for citation in answer.citations}
        self._flavour = Flavour(
            footnote=partial(footnote, self._addresses),
            is_allowed=lambda address: address in cited or options.is_allowed(address),
        )
        self._body = read_markdown(
            answer_markdown(answer, PLAIN.plain, menu_holds=MENU_CHOICES, longest_option=MAX_OPTION), self._flavour
        )
        self._tail = _tail(answer)
        self._seen: set[int] = set()

    def parts(self, limit: int) -> list[PartView]:
        """Texts of at most `limit` units, each with the footnotes it uses; many of those go on in further parts."""
        self._seen = set()
        texts = pack(self._body, limit) or [Part(text=NO_TEXT)]
        parts = [part for place, text in enumerate(texts, 1) for part in self._part(text, is_last=place == len(texts))]
        for place, lines in enumerate(pack_items(self._tail, TEXT_BUDGET - _size(parts[-1]), TEXT_BUDGET)):
            text = Text(content="\n".join(lines))
            if lines and place == 0:
                parts[-1] = replace(parts[-1], blocks=(*parts[-1].blocks, text))
            elif lines:
                parts.append(PartView(blocks=(text,)))
        rows = answer_rows(self._answer, self._post_id)
        return [*parts[:-1], replace(parts[-1], blocks=(*parts[-1].blocks, *rows))]

    def _part(self, text: Part, *, is_last: bool) -> list[PartView]:
        shown = set(text.numbers)
        if is_last:  # what no text names is listed all the same
            shown |= {citation.number for citation in self._answer.citations} - self._seen
        listed = [citation for citation in self._answer.citations if citation.number in shown]
        entries = {
            source_entry(
                citation, self._addresses[citation.number], is_repeated=citation.number in self._seen
            ): citation.number
            for citation in listed
        }
        self._seen |= shown
        rooms = pack_items(
            entries, TEXT_BUDGET - units(text.text) - units(_SOURCES) - 1, TEXT_BUDGET - units(_SOURCES_ON) - 1
        )
        views: list[PartView] = []
        for place, room in enumerate(rooms):
            blocks: tuple[Block, ...] = (Text(content=text.text),) if place == 0 else ()
            if room:
                blocks += (Separator(),) if blocks else ()
                blocks += (_sources(room, is_first=not any(rooms[:place])),)
            numbers = text.numbers if place == 0 else ()
            views.append(PartView(blocks=blocks, numbers=numbers, listed=tuple(entries[entry] for entry in room)))
        return views


def _sources(entries: list[str], *, is_first: bool) -> Container:
    heading = _SOURCES if is_first else _SOURCES_ON
    return Container(items=(Text(content="\n".join([heading, *entries]).rstrip("\n")),))


def _tail(answer: Answer) -> list[str]:
    """What was named and seen, what was not found, and questions whose buttons do not show them whole; a line each."""
    lines = [*named_reference_lines(answer, PLAIN.plain), other_references_line(answer, PLAIN.plain)]
    lines.append(gaps_line(answer, PLAIN.plain))
    lines += suggestion_lines(answer, PLAIN.plain, buttons=MAX_ROW, longest_label=MAX_LABEL)
    return [f"-# {line}" for line in lines if line]


def _cost(parts: Sequence[PartView]) -> float:
    apart = sum(1 for part in parts if part.listed and not isinstance(part.blocks[0], Text))
    return len(parts) + apart / 2


def _size(part: PartView) -> int:
    return sum(units(text) for text in part.texts)
