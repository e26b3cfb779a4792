"""The answer as Discord shows it: text with footnote links, sources, buttons; and the passages it quotes. Pure.

Messages of components have no link previews, so addresses need no brackets against them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from bot.discordbot.rendering.components import (
    MAX_OPTION,
    MENU_CHOICES,
    TEXT_BUDGET,
    DiscordPost,
    PartView,
    Text,
    answer_rows,
    mark_parts,
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
from bot.presentation.markdown import Flavour, Part, clip, link_target, pack, read_markdown, weight
from bot.presentation.sources import Source, sources_line
from core.domain.answer import Answer, Citation

PLAIN = Flavour()
# Units of weight of the line of sources; a longer one has no links. The text has the rest of a message.
_LONGEST_SOURCES = 900
_TEXT_LENGTH = TEXT_BUDGET - _LONGEST_SOURCES
_PASSAGE_LINE = 800  # units: escaped and marked, several such lines fit into a message
_NOTE_LENGTH = 300
_SMALL = "-# "


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    """The context of an answer."""

    post_id: str  # marks every part: the same for all attempts at one post (1 to 36 letters and digits)
    link: SourceLink


def render_answer(answer: Answer, options: RenderOptions, *, most_files: int = MOST_FILES) -> DiscordPost:
    """Return the messages to post, in order, at least one: text, its sources, and below the last files and one row.

    `most_files` is for tables and code that would fill too many messages.
    """
    addresses = {citation.number: link_target(options.link(citation)) for citation in answer.citations}
    cited = {citation.url for citation in answer.citations}
    flavour = Flavour(footnote=partial(footnote, addresses), is_allowed=cited.__contains__)
    source = answer_markdown(answer, PLAIN.plain, menu_holds=MENU_CHOICES, longest_option=MAX_OPTION)
    fitted, files = fit_messages(
        source,
        _TEXT_LENGTH,
        lambda text: pack(read_markdown(text, flavour), _TEXT_LENGTH),
        most_files=most_files,
        notes=addresses,
    )
    texts = fitted or [Part(text=NO_TEXT)]
    unused = {citation.number for citation in answer.citations}.difference(*(part.numbers for part in texts))
    texts[-1] = replace(texts[-1], numbers=tuple(sorted({*texts[-1].numbers, *unused})))
    parts = [_part(text, answer, addresses) for text in texts]
    rows = answer_rows(answer, options.post_id)
    parts[-1] = replace(parts[-1], blocks=(*parts[-1].blocks, *files, *rows))
    return DiscordPost(parts=mark_parts(parts, options.post_id))


def _part(text: Part, answer: Answer, addresses: Mapping[int, str | None]) -> PartView:
    listed = [citation for citation in answer.citations if citation.number in text.numbers]
    line = sources_line(listed, partial(_linked_source, addresses=addresses))
    if weight(line) > _LONGEST_SOURCES - len(_SMALL):
        line = sources_line(listed, partial(_linked_source, addresses={}))
    blocks = (Text(content=text.text), *([Text(content=f"{_SMALL}{line}")] if line else []))
    return PartView(blocks=blocks, numbers=text.numbers)


def _linked_source(source: Source, addresses: Mapping[int, str | None]) -> str:
    marks = source.marks.replace("[", "\\[").replace("]", "\\]")
    return f"{marks} {PLAIN.linked(source.name, addresses.get(source.notes[0].number))}"


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
    """Return the lines in order, in lists of at most `limit` units of weight; `first` for the first list.

    Each line has a line end.
    """
    return pack_items(lines, lambda line: weight(line) + 1, first, limit)


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


def _passage(citation: Citation, around: QuoteContext, address: str | None) -> Iterator[str]:
    yield f"**\\[{citation.number}\\]** {source_heading(citation, address)}"
    if citation.deep_link:
        yield f"-# Opens as: {PLAIN.plain(clip(citation.deep_link, _NOTE_LENGTH))}"
    if around.note:
        yield f"-# {PLAIN.plain(clip(around.note, _NOTE_LENGTH))}"
    for passage, sign in ((around.before, ""), (citation.quote, "**"), (around.behind, "")):
        yield from (f"> {sign}{PLAIN.plain(line)}{sign}" for line in passage_lines(passage, _PASSAGE_LINE))
    yield ""
