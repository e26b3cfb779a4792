"""One attempt at a question."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """The number of an attempt, and how it may end; by default the only one."""

    number: int = 1
    is_last: bool = True  # transient errors become the answer; before that they are raised, for a retry
    # Whether the asker cancelled, so that an answer with status stopped is stored. A shutdown stores none.
    is_stopped: Callable[[], bool] = lambda: True
    # Whether the message was edited or deleted, so that nothing of it stays in the history.
    is_withdrawn: Callable[[], bool] = lambda: False


ONLY_ATTEMPT = Attempt()
