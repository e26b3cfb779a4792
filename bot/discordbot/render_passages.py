"""The passages behind an answer's footnotes: each quote in bold, within what stands around it. Pure."""

from collections.abc import Collection, Iterator, Mapping

from bot.discordbot.layout import TEXT_BUDGET, DiscordPost, PartView, Text
from bot.discordbot.render_sources import PLAIN, pack_items, pages_of, source_heading
from bot.presentation.answer_text import NO_PASSAGES, QuoteContext, passage_lines
from bot.presentation.rendering import clip, link_target
from core.domain.answer import Answer, Citation

__all__ = ["QuoteContext", "passages_view"]

# Units of one line: escaped, and with its marks, it fits into a message several times.
_LINE = 800
_NOTE_LENGTH = 300


def passages_view(
    answer: Answer,
    neighbours: Mapping[int, QuoteContext],
    links: Mapping[int, str],
    *,
    numbers: Collection[int] | None = None,
) -> DiscordPost:
    """Every passage, by number, in as many messages as they need; `numbers` restricts it to these footnotes."""
    wanted = [citation for citation in answer.citations if numbers is None or citation.number in numbers]
    entries = [
        entry
        for citation in wanted
        for entry in _passage(
            citation, neighbours.get(citation.number, QuoteContext()), link_target(links.get(citation.number))
        )
    ]
    pages = pages_of(pack_items(entries or [NO_PASSAGES], TEXT_BUDGET, TEXT_BUDGET))
    return DiscordPost(parts=tuple(PartView(blocks=(Text(content=page),)) for page in pages))


def _passage(citation: Citation, around: QuoteContext, address: str | None) -> Iterator[str]:
    yield f"**\\[{citation.number}\\]** {source_heading(citation, address)}"
    if citation.deep_link:
        yield f"-# Opens as: {PLAIN.plain(clip(citation.deep_link, _NOTE_LENGTH))}"
    if around.note:
        yield f"-# {PLAIN.plain(clip(around.note, _NOTE_LENGTH))}"
    yield from (f"> {PLAIN.plain(line)}" for line in passage_lines(around.before, _LINE))
    yield from (f"> **{PLAIN.plain(line)}**" for line in passage_lines(citation.quote, _LINE))
    yield from (f"> {PLAIN.plain(line)}" for line in passage_lines(around.behind, _LINE))
    yield ""
