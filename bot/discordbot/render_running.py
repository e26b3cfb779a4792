"""An answer while it is made: the draft so far and the live job tree; and the tree afterwards. Pure."""

from collections.abc import Iterator, Sequence

from bot.discordbot.layout import TEXT_BUDGET, Block, DiscordPost, PartView, Separator, Text
from bot.discordbot.render_buttons import mark_parts, running_row
from bot.discordbot.render_sources import PLAIN, pack_items, pages_of
from bot.presentation.answer_text import (
    MORE_COMING,
    NO_STEPS,
    STEPS_LABEL,
    WORKING,
    earlier_steps_line,
    job_line,
    job_tree,
    remove_space_before_markers,
)
from bot.presentation.rendering import Flavour, split_markdown, units
from core.domain.jobs import Job

TREE_BUDGET = 900  # units of the live tree; the rest of the message is the draft's
_DEEPEST = 6  # levels that are set in; Discord's lists have no more
_WORKING = f"**{WORKING}**"
_GOES_ON = f"-# {MORE_COMING}"
# Numbers of a draft are not yet those of its footnotes, and no link in it has been checked.
_DRAFT = Flavour(footnote=lambda number: "")


def running_view(text: str, jobs: Sequence[Job], *, post_id: str) -> PartView:
    """The draft without footnotes (numbers come with the proved answer), the steps so far, Stop and How.

    Of a draft that is longer than a message, its beginning: the final post has it all.
    """
    tree = job_tree_text(jobs, TREE_BUDGET)
    parts = split_markdown(remove_space_before_markers(text), TEXT_BUDGET - TREE_BUDGET - units(_GOES_ON) - 2, _DRAFT)
    draft = parts[0].text if parts else _WORKING
    blocks: list[Block] = [Text(content=f"{draft}\n\n{_GOES_ON}" if len(parts) > 1 else draft)]
    blocks += [Separator(), Text(content=tree)] if tree else []
    return mark_parts([PartView(blocks=(*blocks, running_row(post_id)))], post_id)[0]


def job_tree_text(jobs: Sequence[Job], limit: int = TEXT_BUDGET) -> str:
    """A job tree as a nested list, parents before children; what does not fit is counted, the latest steps stay."""
    lines = list(_lines(jobs))
    if sum(units(line) + 1 for line in lines) <= limit:
        return "\n".join(lines)
    kept: list[str] = []
    room = limit - units(lines[0]) - 40
    for line in reversed(lines[1:]):
        room -= units(line) + 1
        if room < 0:
            break
        kept.insert(0, line)
    left_out = len(lines) - len(kept) - 1
    return "\n".join([lines[0], f"  - {earlier_steps_line(left_out)}", *kept])[:limit]


def how_view(jobs: Sequence[Job]) -> DiscordPost:
    """“How this was answered”: the whole tree, in as many messages as it needs."""
    heading = f"**{STEPS_LABEL}**"
    pages = pages_of(pack_items([heading, *(list(_lines(jobs)) or [NO_STEPS])], TEXT_BUDGET, TEXT_BUDGET))
    return DiscordPost(parts=tuple(PartView(blocks=(Text(content=page),)) for page in pages))


def _lines(jobs: Sequence[Job]) -> Iterator[str]:
    for depth, job in job_tree(jobs):
        yield f"{'  ' * min(depth, _DEEPEST)}- {job_line(job, PLAIN.plain)}"
