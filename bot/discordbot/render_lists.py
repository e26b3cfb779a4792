"""Lists, notices and results of commands, within Discord's limits. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.discordbot.layout import TEXT_BUDGET, DiscordPost, PartView, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRow:
    """A conversation in a list."""

    title: str
    detail: str = ""  # "12 messages, last used 2026-11-20"
    url: str | None = None  # where it can be opened


def threads_view(rows: Sequence[ThreadRow], *, list_id: str, page: int, pages: int, heading: str) -> PartView:
    """One page of a list, with buttons to the pages before and behind (`fn:page:<list id>:<page>`, from 1)."""
    return PartView(blocks=(Text(content=heading[:TEXT_BUDGET]),))


def notice_view(sentence: str, *, post_id: str | None = None) -> PartView:
    """An error or a refusal: one sentence. With a post id it is marked as that post's first part."""
    return PartView(blocks=(Text(content=sentence[:TEXT_BUDGET] or "…"),))


def text_view(markdown: str) -> DiscordPost:
    """The result of a command, made safe and split."""
    return DiscordPost(parts=(PartView(blocks=(Text(content=markdown[:TEXT_BUDGET] or "…"),)),))
