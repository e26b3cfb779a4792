"""The passages behind an answer's footnotes: each quote in bold, within what stands around it. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bot.slackbot.layout import View
from core.domain.answer import Answer


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
    page: int = 1,
) -> View:
    """A modal of the passages, by number; `numbers` restricts it to these footnotes.

    What one view cannot hold is on further pages (`page`, from 1): buttons in it are `fn:passages:<message id>:<page>`,
    and whoever presses one is to have this view updated. Without a message id it says how many pages are not shown.
    """
    raise NotImplementedError
