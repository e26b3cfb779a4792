"""Lists, notices and results of commands, within Discord's limits. Pure."""

from collections.abc import Mapping, Sequence
from functools import partial

from bot.discordbot.layout import TEXT_BUDGET, Block, DiscordPost, PartView, Text
from bot.discordbot.render_buttons import how_row, mark_parts, page_row
from bot.discordbot.render_sources import PLAIN, footnote
from bot.presentation.answer_text import EMPTY, TRUNCATED, ThreadItem
from bot.presentation.rendering import Flavour, clip, split_markdown, units

__all__ = ["ThreadItem", "notice_view", "text_view", "threads_view"]

_TITLE_LENGTH = 100
_DETAIL_LENGTH = 120
_HEADING_LENGTH = 200
_CUT = f"-# {TRUNCATED}"


def threads_view(
    rows: Sequence[ThreadItem], *, list_id: str, page: int, pages: int, heading: str, first: int = 1
) -> PartView:
    """One page of a list, with buttons to the pages before and behind (`fn:page:<list id>:<page>`, from 1).

    Rows are numbered from `first`. Long addresses give way to their titles, where a message cannot hold them all.
    """
    head = f"**{PLAIN.plain(clip(heading, _HEADING_LENGTH) or 'Conversations')}**"
    head += f" (page {page} of {pages})" if pages > 1 else ""
    lines = [_row(number, row, row.url) for number, row in enumerate(rows, start=first)]
    if _size(lines) > TEXT_BUDGET - units(head):
        lines = [_row(number, row, None) for number, row in enumerate(rows, start=first)]
    kept = [line for place, line in enumerate(lines) if _size(lines[: place + 1]) <= TEXT_BUDGET - units(head) - 40]
    more = [f"… and {len(lines) - len(kept)} more"] if len(kept) < len(lines) else []
    blocks: tuple[Block, ...] = (Text(content="\n".join([head, *(kept or [EMPTY]), *more])),)
    return PartView(blocks=(*blocks, page_row(list_id, page, pages)) if pages > 1 else blocks)


def notice_view(sentence: str, *, post_id: str | None = None) -> PartView:
    """An error or a refusal: one sentence. With a post id it is marked as that post's first part."""
    parts = split_markdown(sentence, TEXT_BUDGET - units(_CUT) - 1, Flavour())
    text = parts[0].text if parts else EMPTY
    blocks: tuple[Block, ...] = (Text(content=f"{text}\n{_CUT}" if len(parts) > 1 else text),)
    if post_id is None:
        return PartView(blocks=blocks)
    return mark_parts([PartView(blocks=(*blocks, how_row(post_id)))], post_id)[0]


def text_view(markdown: str, addresses: Mapping[int, str | None] | None = None) -> DiscordPost:
    """The result of a command, made safe and split; each `[n]` of `addresses` is a link to it."""
    flavour = Flavour(footnote=partial(footnote, addresses)) if addresses else Flavour()
    parts = split_markdown(markdown, TEXT_BUDGET, flavour)
    texts = [part.text for part in parts] or [EMPTY]
    return DiscordPost(parts=tuple(PartView(blocks=(Text(content=text),)) for text in texts))


def _row(number: int, row: ThreadItem, url: str | None) -> str:
    title = PLAIN.linked(clip(row.title, _TITLE_LENGTH) or "(no title)", url)
    detail = PLAIN.plain(clip(row.detail, _DETAIL_LENGTH))
    return f"{number}. {title}" + (f" ({detail})" if detail else "")


def _size(lines: Sequence[str]) -> int:
    return sum(units(line) + 1 for line in lines)
