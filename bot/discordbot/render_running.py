"""An answer while it is made: the draft so far and the live job tree; and the tree afterwards. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence

from bot.discordbot.layout import TEXT_BUDGET, Block, DiscordPost, PartView, Separator, Text
from bot.discordbot.render_buttons import mark_parts, running_row
from bot.discordbot.render_sources import PLAIN, fill, pages_of
from bot.rendering import Flavour, clip, split_markdown, units
from core.domain.jobs import Job, JobStatus

TREE_BUDGET = 900  # units of the live tree; the rest of the message is the draft's
_ASKED_LENGTH = 80
_DEEPEST = 6  # levels that are set in; Discord's lists have no more
_ERROR_LENGTH = 160
_WORKING = "**Working on it**"
_GOES_ON = "-# More is being written."
_NO_STEPS = "No steps were recorded for this answer."
_SIGNS: Mapping[JobStatus, str] = {
    JobStatus.QUEUED: "○",
    JobStatus.RUNNING: "▸",
    JobStatus.WAITING: "○",
    JobStatus.DONE: "✓",
    JobStatus.FAILED: "✗",
    JobStatus.CANCELLED: "–",
}
_BEFORE_NOTE = re.compile(r"[ \t]+(?=\[\d{1,3}\])")
# Numbers of a draft are not yet those of its footnotes, and no link in it has been checked.
_DRAFT = Flavour(footnote=lambda number: "")


def running_view(text: str, jobs: Sequence[Job], *, post_id: str) -> PartView:
    """The draft without footnotes (numbers come with the proved answer), the steps so far, Stop and How.

    Of a draft that is longer than a message, its beginning: the final post has it all.
    """
    tree = job_tree_text(jobs, TREE_BUDGET)
    parts = split_markdown(_BEFORE_NOTE.sub("", text), TEXT_BUDGET - TREE_BUDGET - units(_GOES_ON) - 2, _DRAFT)
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
    return "\n".join([lines[0], f"  - … {left_out} earlier {'step' if left_out == 1 else 'steps'}", *kept])[:limit]


def how_view(jobs: Sequence[Job]) -> DiscordPost:
    """“How this was answered”: the whole tree, in as many messages as it needs."""
    heading = "**How this was answered**"
    pages = pages_of(fill([heading, *(list(_lines(jobs)) or [_NO_STEPS])], TEXT_BUDGET, TEXT_BUDGET))
    return DiscordPost(parts=tuple(PartView(blocks=(Text(content=page),)) for page in pages))


def _lines(jobs: Sequence[Job]) -> Iterator[str]:
    """Depth first, children in the order given; jobs whose parent is not there are roots."""
    known = {job.id for job in jobs}
    children: dict[str | None, list[Job]] = {}
    for job in jobs:
        parent = job.parent_id if job.parent_id in known and job.parent_id != job.id else None
        children.setdefault(parent, []).append(job)
    open_jobs = [(job, 0) for job in reversed(children.get(None, []))]
    while open_jobs:
        job, depth = open_jobs.pop()
        yield f"{'  ' * min(depth, _DEEPEST)}- {_label(job)}"
        open_jobs += [(child, depth + 1) for child in reversed(children.get(job.id, []))]


def _label(job: Job) -> str:
    """`✓ search “keys” (3 passages, 120 ms)`: a sign, and in words whatever is not simply done."""
    asked = clip(str(job.input.get("query") or job.input.get("question") or ""), _ASKED_LENGTH)
    passages = job.output.get("passages")
    details = [
        job.status.value if job.status is not JobStatus.DONE else "",
        f"{passages} {'passage' if passages == 1 else 'passages'}" if isinstance(passages, int) else "",
        f"try {job.attempts}" if job.attempts > 1 else "",
        f"{job.duration_ms:,.0f} ms" if job.duration_ms is not None else "",
        PLAIN.plain(clip(job.error, _ERROR_LENGTH)) if job.error else "",
    ]
    words = f"{_SIGNS[job.status]} {PLAIN.plain(clip(job.name, _ASKED_LENGTH) or job.kind.value)}"
    words += f" “{PLAIN.plain(asked)}”" if asked else ""
    said = ", ".join(detail for detail in details if detail)
    return f"{words} ({said})" if said else words
