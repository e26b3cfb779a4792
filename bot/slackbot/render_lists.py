"""Lists, notices and results of commands, within Slack's limits. Pure.

Names: `ThreadItem`, `thread_row`, `threads_message`, `notice_message`, `text_post`, `said_message`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from bot.presentation.answer_text import EMPTY, TRUNCATED, ThreadItem
from bot.presentation.rendering import clip, safe_cut, split_markdown
from bot.slackbot.blocks import FLAVOUR, Row, link, markdown, plain_of, rich_text, stack, text
from bot.slackbot.layout import TEXT_BUDGET, Block, SlackMessage, SlackPost
from bot.slackbot.plain_text import fallback, unmarked
from bot.slackbot.render_buttons import how_actions, page_actions, part_note
from bot.slackbot.render_sources import footnote

__all__ = ["ThreadItem", "notice_message", "said_message", "text_post", "thread_row", "threads_message"]

_TITLE_LENGTH = 100
_DETAIL_LENGTH = 120
_HEADING_LENGTH = 200
_NAME_LENGTH = 80
# Characters of lists and results in one message; the rest of its budget is for blocks and buttons.
_ROOM = TEXT_BUDGET - 1_000
_NOTICE_LENGTH = 3_000
_RESULT_LENGTH = 8_000


def threads_message(
    rows: Sequence[ThreadItem], *, list_id: str, page: int, pages: int, heading: str, first: int = 1
) -> SlackMessage:
    """One page of a list, with buttons to the pages before and behind (`fn:page:<list id>:<page>`, from 1).

    Rows are numbered from `first`; those that a message cannot hold are counted.
    """
    where = text(f" (page {page} of {pages})") if pages > 1 else None
    head = Row((text(clip(heading, _HEADING_LENGTH) or "Conversations", bold=True), where))
    lines = [thread_row(row, f"{number}. ") for number, row in enumerate(rows, start=first)]
    kept = [line for place, line in enumerate(lines) if sum(one.size for one in lines[: place + 1]) <= _ROOM]
    more = [Row((text(f"… and {len(lines) - len(kept)} more"),))] if len(kept) < len(lines) else []
    block = rich_text(*stack([head, *(kept or [Row((text(EMPTY),))]), *more]))
    return SlackMessage(text=fallback(plain_of(block)), blocks=(block, *page_actions(list_id, page, pages)))


def thread_row(row: ThreadItem, before: str = "") -> Row:
    """`1. Title (12 messages)`, the title a link."""
    detail = clip(row.detail, _DETAIL_LENGTH)
    title = link(clip(row.title, _TITLE_LENGTH) or "(no title)", row.url)
    return Row((text(before), title, text(f" ({detail})") if detail else None))


def notice_message(sentence: str, *, post_id: str | None = None) -> SlackMessage:
    """An error or a refusal: one sentence. With a post id it is marked as that post's first part."""
    parts = split_markdown(sentence, _NOTICE_LENGTH, FLAVOUR)
    shown = parts[0].text if parts else EMPTY
    blocks: list[Block] = [markdown(shown)]
    if len(parts) > 1:
        blocks.append(rich_text(*stack([Row((text(TRUNCATED, italic=True),))])))
    if post_id is not None:
        blocks.append(how_actions(post_id))
    return SlackMessage(text=fallback(unmarked(shown), TRUNCATED if len(parts) > 1 else ""), blocks=tuple(blocks))


def text_post(source: str, addresses: Mapping[int, str | None] | None = None) -> SlackPost:
    """The result of a command, in Markdown, made safe and split; each `[n]` of `addresses` is a link to it."""
    flavour = replace(FLAVOUR, footnote=partial(footnote, addresses)) if addresses else FLAVOUR
    texts = [part.text for part in split_markdown(source, _RESULT_LENGTH, flavour)] or [EMPTY]
    return SlackPost(parts=tuple(_result(shown, number, len(texts)) for number, shown in enumerate(texts, start=1)))


def said_message(name: str, question: str, *, does: str = "asks") -> SlackMessage:
    """“**Ada** asks: question”: what somebody put by a command, or `does` otherwise ("shares"), for all to see."""
    cut = question[: safe_cut(question, _ROOM)] if question else ""
    said = text(f" {does}: {cut}" + ("…" if len(cut) < len(question) else ""))
    block = rich_text(*stack([Row((text(clip(name, _NAME_LENGTH) or "Somebody", bold=True), said))]))
    return SlackMessage(text=fallback(plain_of(block)), blocks=(block,))


def _result(shown: str, number: int, count: int) -> SlackMessage:
    notes = [part_note(number, count)] if count > 1 else []
    return SlackMessage(
        text=fallback(unmarked(shown), "\n".join(map(plain_of, notes))), blocks=(markdown(shown), *notes)
    )
