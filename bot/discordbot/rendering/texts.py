"""Drafts, steps, notices, lists and results of commands, within Discord's limits. Pure."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import inf

from bot.discordbot.rendering.answers import PLAIN, footnote, pack_lines, to_post
from bot.discordbot.rendering.components import (
    TEXT_BUDGET,
    Block,
    DiscordPost,
    PartView,
    Separator,
    Text,
    mark_parts,
    page_row,
    running_row,
    steps_row,
)
from bot.presentation.answer_text import (
    EMPTY,
    MORE_COMING,
    NO_STEPS,
    STEPS_HEADING,
    TRUNCATED,
    WORKING,
    ThreadItem,
    job_steps,
    remove_space_before_markers,
)
from bot.presentation.markdown import Flavour, clip, split_markdown, weight
from bot.presentation.platform_text import ThreadPage
from core.domain.jobs import Job

TREE_BUDGET = 900  # units of the live tree; the rest of the message is the draft's
_TITLE_LENGTH = 100
_DETAIL_LENGTH = 120
_HEADING_LENGTH = 200
_WORKING = f"**{WORKING}**"
_MORE_COMING = f"-# {MORE_COMING}"
_TRUNCATED = f"-# {TRUNCATED}"
# A draft shows no footnotes: their numbers are not final, and no link has been checked.
_DRAFT = Flavour(footnote=lambda number: "")


def running_view(text: str, jobs: Sequence[Job], *, post_id: str) -> PartView:
    """Return the draft without footnotes, the steps so far, and the buttons Stop and Show steps.

    Shows only the beginning of a draft that is longer than a message; the final post has all of it.
    """
    tree = job_tree_text(jobs, TREE_BUDGET)
    longest = TEXT_BUDGET - TREE_BUDGET - weight(_MORE_COMING) - 2
    parts = split_markdown(remove_space_before_markers(text), longest, _DRAFT)
    draft = parts[0].text if parts else _WORKING
    blocks: list[Block] = [Text(content=f"{draft}\n\n{_MORE_COMING}" if len(parts) > 1 else draft)]
    blocks += [Separator(), Text(content=tree)] if tree else []
    return mark_parts([PartView(blocks=(*blocks, running_row(post_id)))], post_id)[0]


def job_tree_text(jobs: Sequence[Job], limit: int | None = None) -> str:
    """Return a job tree as a nested list, parents first; keeps the latest steps that fit and counts the others."""
    steps = job_steps(jobs, PLAIN.plain, most_units=limit or inf)
    return "\n".join(f"{'  ' * depth}- {words}" for depth, words in steps)[:limit]


def steps_post(jobs: Sequence[Job]) -> DiscordPost:
    """Return the whole job tree, in as many messages as it needs."""
    return to_post([f"**{STEPS_HEADING}**", *(job_tree_text(jobs) or NO_STEPS).split("\n")])


def notice_view(sentence: str, *, post_id: str | None = None) -> PartView:
    """Return an error or a refusal. With a post id it is marked as that post's first part."""
    parts = split_markdown(sentence, TEXT_BUDGET - weight(_TRUNCATED) - 1, Flavour())
    text = parts[0].text if parts else EMPTY
    blocks: tuple[Block, ...] = (Text(content=f"{text}\n{_TRUNCATED}" if len(parts) > 1 else text),)
    if post_id is None:
        return PartView(blocks=blocks)
    return mark_parts([PartView(blocks=(*blocks, steps_row(post_id)))], post_id)[0]


def text_post(markdown: str, addresses: Mapping[int, str | None] | None = None) -> DiscordPost:
    """Return the result of a command, made harmless and split; each `[n]` of `addresses` becomes a link."""
    flavour = Flavour(footnote=partial(footnote, addresses)) if addresses else Flavour()
    texts = [part.text for part in split_markdown(markdown, TEXT_BUDGET, flavour)] or [EMPTY]
    return DiscordPost(parts=tuple(PartView(blocks=(Text(content=text),)) for text in texts))


def threads_view(page: ThreadPage) -> PartView:
    """Return a page of a list, with buttons to its other pages (`fn:page:<list id>:<page>`).

    If the rows don't fit with their links, they have none.
    """
    head = f"**{PLAIN.plain(clip(page.heading, _HEADING_LENGTH) or 'Conversations')}**"
    head += f" (page {page.page} of {page.pages})" if page.pages > 1 else ""
    room = TEXT_BUDGET - weight(head)
    lines = [_row(number, row, row.url) for number, row in enumerate(page.rows, start=page.first)]
    if sum(weight(line) + 1 for line in lines) > room:
        lines = [_row(number, row, None) for number, row in enumerate(page.rows, start=page.first)]
    kept = pack_lines(lines, room - 40, room)[0]
    more = [f"… and {len(lines) - len(kept)} more"] if len(kept) < len(lines) else []
    text = Text(content="\n".join([head, *(kept or [EMPTY]), *more]))
    return PartView(blocks=(text, page_row(page.list_id, page.page, page.pages)) if page.pages > 1 else (text,))


def _row(number: int, row: ThreadItem, url: str | None) -> str:
    title = PLAIN.linked(clip(row.title, _TITLE_LENGTH) or "(no title)", url)
    detail = PLAIN.plain(clip(row.detail, _DETAIL_LENGTH))
    return f"{number}. {title}" + (f" ({detail})" if detail else "")
