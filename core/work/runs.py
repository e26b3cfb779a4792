"""An inbox entry that a worker is processing, with its stop requests."""

import asyncio
from dataclasses import dataclass, field

from core.domain.service import WITHDRAWN, InboxEntry


class LostLease(BaseException):
    """Another process owns the entry now. No `except Exception` may swallow it: nothing more may be written."""


@dataclass(eq=False)
class Run:
    """One entry that is being worked on."""

    entry: InboxEntry
    ours_until: float  # monotonic: the end of this process's lease
    task: asyncio.Task[None] | None = None
    is_stopped: bool = False  # by the asker, or withdrawn
    is_withdrawn: bool = field(init=False)  # its message was edited or deleted: no post, and nothing to remember
    has_begun: bool = False  # a task that is cancelled before it begins never runs at all
    is_posting: bool = False  # too late to stop

    def __post_init__(self) -> None:
        self.is_withdrawn = self.entry.cancelled_by == WITHDRAWN

    def stop(self, by: str) -> None:
        """End its work, unless that is done but for the post. Safe to repeat."""
        if self.task is None or self.is_posting:
            return
        self.is_withdrawn = self.is_withdrawn or by == WITHDRAWN
        if not self.is_stopped:
            self.is_stopped = True
            if self.has_begun:
                self.task.cancel()
