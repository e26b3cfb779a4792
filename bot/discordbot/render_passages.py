"""The passages behind an answer's footnotes: each quote in bold, within what stands around it. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bot.discordbot.layout import DiscordPost, PartView, Text
from core.domain.answer import Answer, Citation


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Text of the page before and behind a quote; "" at the page's ends."""

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
    wanted: list[Citation] = [c for c in answer.citations if numbers is None or c.number in numbers]
    return DiscordPost(parts=tuple(PartView(blocks=(Text(content=f"[{c.number}] {c.quote}"[:3600]),)) for c in wanted))
