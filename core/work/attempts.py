"""One try at a question: which one it is, how it may end, and what is made ready before it is answered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.domain.conversation import Conversation, Focus, IncomingMessage, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A question with its conversation, and what the history holds of both."""

    conversation: Conversation
    question: Message
    history: Sequence[Message]  # what was said before it
    is_new: bool = False  # the conversation is not stored yet
    is_recorded: bool  # whether the question is in the history: then what was said before it is, too
    stored: Message | None = None  # its answer, if an earlier try came that far


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A question made ready."""

    message: IncomingMessage
    before: tuple[Message, ...] = ()  # what it is asked after, for the history; those that are in it come last now
    notes: tuple[str, ...] = ()  # one sentence for each part that failed: people see them in the answer
    focus: Focus | None = None  # where to look first; None: where the conversation is at


class Preparing(Protocol):
    async def __call__(self, message: IncomingMessage, opened: Opened) -> Prepared:
        """Called inside the question's tree, before it is recorded. Raises what may pass (StorageError) alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Which try at a question this is; by default the only one."""

    number: int = 1
    is_last: bool = True  # errors that may pass become the answer; before that they are raised, to try again
    # Whether a cancellation is the asker's: only then an answer of status stopped is stored. A shutdown is not.
    is_stopped: Callable[[], bool] = lambda: True
    # Whether it is cancelled because its message was edited or deleted: nothing of it is to be remembered.
    is_withdrawn: Callable[[], bool] = lambda: False
    prepare: Preparing | None = None


ONLY_ATTEMPT = Attempt()
