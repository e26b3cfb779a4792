"""An answer while it is made: the draft so far and the live job tree; and the tree afterwards. Pure."""

from collections.abc import Sequence

from bot.discordbot.layout import TEXT_BUDGET, DiscordPost, PartView, Text
from core.domain.jobs import Job


def running_view(text: str, jobs: Sequence[Job], *, post_id: str) -> PartView:
    """The draft without footnotes (numbers come with the proved answer), the steps so far, Stop and How."""
    return PartView(blocks=(Text(content=text[:TEXT_BUDGET] or "…"),))


def job_tree_text(jobs: Sequence[Job], limit: int = TEXT_BUDGET) -> str:
    """A job tree as a nested list, parents before children; what does not fit is counted, the latest steps stay."""
    return "\n".join(f"- {job.name}: {job.status.value}" for job in jobs)[:limit]


def how_view(jobs: Sequence[Job]) -> DiscordPost:
    """“How this was answered”: the whole tree, in as many messages as it needs."""
    return DiscordPost(parts=(PartView(blocks=(Text(content=job_tree_text(jobs) or "…"),)),))
