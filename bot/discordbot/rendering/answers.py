"""The answer as Discord shows it: text with footnote links, sources, buttons; and the passages it quotes. Pure.

Messages of components have no link previews, so addresses need no brackets against them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.discordbot.rendering.components import (
    MAX_LABEL,
    MAX_OPTION,
    MAX_ROW,
    MENU_CHOICES,
    TEXT_BUDGET,
    Block,
    Container,
    DiscordPost,
    PartView,
    Separator,
    Text,
    answer_rows,
    mark_parts,
)
from bot.presentation.answer_text import (
    NO_PASSAGES,
    NO_TEXT,
    QuoteContext,
    SourceLink,
    answer_markdown,
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
from bot.presentation.markdown import Flavour, Part, clip, link_target, pack, read_markdown, units
from core.domain.answer import Answer, Citation

PLAIN = Flavour()
# Units of text in a part, tried if one message doesn't hold everything: shorter texts leave room for their sources. The
# fewest messages win; a message that only has sources counts for one and a half, as readers turn back and forth.
_SHORTER = (2_800, 2_000, 1_400, 1_000)
_USUAL = 2_000
_LONG_TEXT = 30_000  # characters; longer texts are split only once
_PASSAGE_LINE = 800  # units: escaped and marked, several such lines fit into a message
_NOTE_LENGTH = 300
_SOURCES = "**Sources**"
_MORE_SOURCES = "**Sources, continued**"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    """The context of an answer."""

    post_id: str  # marks every part: the same for all attempts at one post (1 to 36 letters and digits)
    link: SourceLink


def render_answer(answer: Answer, options: RenderOptions) -> DiscordPost:
    """Return the messages to post, in order: at least one."""
    builder = _Builder(answer, options)
    is_long = len(answer.text) > _LONG_TEXT
    tried = [builder.parts(_USUAL if is_long else TEXT_BUDGET)]
    if len(tried[0]) > 1 and not is_long:
        tried += [builder.parts(limit) for limit in _SHORTER]
    return DiscordPost(parts=mark_parts(min(tried, key=_cost), options.post_id))


def passages_post(answer: Answer, contexts: Mapping[int, QuoteContext], links: Mapping[int, str]) -> DiscordPost:
    """Return every quote in bold within its context, by footnote number, in as many messages as they need."""
    entries = [
        line
        for citation in answer.citations
        for line in _passage(
            citation, contexts.get(citation.number, QuoteContext()), link_target(links.get(citation.number))
        )
    ]
    return to_post(entries or [NO_PASSAGES])


def to_post(lines: Iterable[str]) -> DiscordPost:
    """Return the lines in as many messages as they need."""
    texts = ["\n".join(page).strip("\n") for page in pack_lines(lines, TEXT_BUDGET, TEXT_BUDGET)]
    return DiscordPost(parts=tuple(PartView(blocks=(Text(content=text),)) for text in texts if text))


def pack_lines(lines: Iterable[str], first: int, limit: int) -> list[list[str]]:
    """Return the lines in order, in lists of at most `limit` units with a line end each; `first` for the first list."""
    return pack_items(lines, lambda line: units(line) + 1, first, limit)


def source_entry(citation: Citation, address: str | None, *, is_repeated: bool) -> str:
    """Return a footnote's entry: with its quote, or only its heading if an earlier part has the quote."""
    mark = f"**\\[{citation.number}\\]** "
    if is_repeated:
        return f"{mark}{PLAIN.linked(source_title(citation), address)} (quoted above)"
    quote = source_quote(citation)
    return f"{mark}{source_heading(citation, address)}" + (f"\n> “{PLAIN.plain(quote)}”\n" if quote else "")


def source_heading(citation: Citation, address: str | None) -> str:
    """Return `Page 5 of “Guide” > Chapter > Section`, its first words a link."""
    path = source_path(citation)
    title = PLAIN.linked(source_title(citation), address)
    return f"{title} > {PLAIN.plain(path)}" if path else title


def footnote(addresses: Mapping[int, str | None], number: int) -> str | None:
    """Return a marker in the text, linked if its source has an address; None if it isn't a footnote."""
    if number not in addresses:
        return None
    address = addresses[number]
    return f"[[{number}]]({address})" if address else f"[{number}]"


class _Builder:
    def __init__(self, answer: Answer, options: RenderOptions) -> None:
        self._answer = answer
        self._post_id = options.post_id
        self._addresses = {citation.number: link_target(options.link(citation)) for citation in answer.citations}
        cited = {citation.url for citation in answer.citations}
        self._flavour = Flavour(footnote=partial(footnote, self._addresses), is_allowed=cited.__contains__)
        self._body = read_markdown(
            answer_markdown(answer, PLAIN.plain, menu_holds=MENU_CHOICES, longest_option=MAX_OPTION), self._flavour
        )
        self._tail = _tail(answer)
        self._seen: set[int] = set()

    def parts(self, limit: int) -> list[PartView]:
        """Return texts of at most `limit` units, each with its sources, which may continue in further parts."""
        self._seen = set()
        texts = pack(self._body, limit) or [Part(text=NO_TEXT)]
        parts = [part for place, text in enumerate(texts, 1) for part in self._part(text, is_last=place == len(texts))]
        for place, lines in enumerate(
            pack_lines(self._tail, TEXT_BUDGET - sum(map(units, parts[-1].texts)), TEXT_BUDGET)
        ):
            text = Text(content="\n".join(lines))
            if lines and place == 0:
                parts[-1] = replace(parts[-1], blocks=(*parts[-1].blocks, text))
            elif lines:
                parts.append(PartView(blocks=(text,)))
        rows = answer_rows(self._answer, self._post_id)
        return [*parts[:-1], replace(parts[-1], blocks=(*parts[-1].blocks, *rows))]

    def _part(self, text: Part, *, is_last: bool) -> list[PartView]:
        shown = set(text.numbers)
        if is_last:  # sources without a marker are listed, too
            shown |= {citation.number for citation in self._answer.citations} - self._seen
        listed = [citation for citation in self._answer.citations if citation.number in shown]
        entries = {
            source_entry(
                citation, self._addresses[citation.number], is_repeated=citation.number in self._seen
            ): citation.number
            for citation in listed
        }
        self._seen |= shown
        first_room = TEXT_BUDGET - units(text.text) - units(_SOURCES) - 1
        rooms = pack_lines(entries, first_room, TEXT_BUDGET - units(_MORE_SOURCES) - 1)
        views: list[PartView] = []
        for place, room in enumerate(rooms):
            blocks: tuple[Block, ...] = (Text(content=text.text),) if place == 0 else ()
            if room:
                heading = _MORE_SOURCES if any(rooms[:place]) else _SOURCES
                blocks += (Separator(),) if blocks else ()
                blocks += (Container(items=(Text(content="\n".join([heading, *room]).rstrip("\n")),)),)
            numbers = text.numbers if place == 0 else ()
            views.append(PartView(blocks=blocks, numbers=numbers, listed=tuple(entries[entry] for entry in room)))
        return views


def _tail(answer: Answer) -> list[str]:
    """Return a line each for references, gaps, and suggestions that are too long for a button."""
    lines = [*named_reference_lines(answer, PLAIN.plain), other_references_line(answer, PLAIN.plain)]
    lines.append(gaps_line(answer, PLAIN.plain))
    lines += suggestion_lines(answer, PLAIN.plain, buttons=MAX_ROW, longest_label=MAX_LABEL)
    return [f"-# {line}" for line in lines if line]


def _cost(parts: Sequence[PartView]) -> float:
    apart = sum(1 for part in parts if part.listed and not isinstance(part.blocks[0], Text))
    return len(parts) + apart / 2


def _passage(citation: Citation, around: QuoteContext, address: str | None) -> Iterator[str]:
    yield f"**\\[{citation.number}\\]** {source_heading(citation, address)}"
    if citation.deep_link:
        yield f"-# Opens as: {PLAIN.plain(clip(citation.deep_link, _NOTE_LENGTH))}"
    if around.note:
        yield f"-# {PLAIN.plain(clip(around.note, _NOTE_LENGTH))}"
    for passage, sign in ((around.before, ""), (citation.quote, "**"), (around.behind, "")):
        yield from (f"> {sign}{PLAIN.plain(line)}{sign}" for line in passage_lines(passage, _PASSAGE_LINE))
    yield ""
