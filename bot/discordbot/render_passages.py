"""The passages behind an answer's footnotes: each quote in bold, within what stands around it. Pure."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from bot.discordbot.layout import TEXT_BUDGET, DiscordPost, PartView, Text
from bot.discordbot.render_sources import PLAIN, fill, pages_of, source_heading
from bot.rendering import clean, clip, link_target, safe_cut, units
from core.domain.answer import Answer, Citation

# Units of one line: escaped, and with its marks, it fits into a message several times.
_LINE = 800
_NOTE_LENGTH = 300
_NO_PASSAGES = "This answer has no passages to show."


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Text of the page before and behind a quote; "" at the page's ends, “…” where it goes on."""

    before: str = ""
    behind: str = ""
    note: str = ""  # "changed since this answer"


def passages_view(
    answer: Answer,
    neighbours: Mapping[int, Neighbours],
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
            citation, neighbours.get(citation.number, Neighbours()), link_target(links.get(citation.number))
        )
    ]
    pages = pages_of(fill(entries or [_NO_PASSAGES], TEXT_BUDGET, TEXT_BUDGET))
    return DiscordPost(parts=tuple(PartView(blocks=(Text(content=page),)) for page in pages))


def _passage(citation: Citation, around: Neighbours, address: str | None) -> Iterator[str]:
    yield f"**\\[{citation.number}\\]** {source_heading(citation, address)}"
    if citation.deep_link:
        yield f"-# Opens as: {PLAIN.plain(clip(citation.deep_link, _NOTE_LENGTH))}"
    if around.note:
        yield f"-# {PLAIN.plain(clip(around.note, _NOTE_LENGTH))}"
    yield from (f"> {PLAIN.plain(line)}" for line in _lines(around.before))
    yield from (f"> **{PLAIN.plain(line)}**" for line in _lines(citation.quote))
    yield from (f"> {PLAIN.plain(line)}" for line in _lines(around.behind))
    yield ""


def _lines(text: str) -> Iterator[str]:
    """The text's lines, without those of white space; long ones in pieces, cut between words."""
    for line in clean(text).split("\n"):
        rest = line.strip()
        while rest:
            end = len(rest) if units(rest) <= _LINE else safe_cut(rest[: _LINE + 1], _LINE)
            space = rest.rfind(" ", 0, end) if end < len(rest) else -1
            end = space if space > 0 else end
            yield rest[:end].rstrip()
            rest = rest[end:].lstrip()
