"""An attempt at a question: its number, its possible ends, and its preparation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.domain.conversation import Conversation, Focus, IncomingMessage, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A question with its conversation and their place in the history."""

    conversation: Conversation
    question: Message
    history: Sequence[Message]  # the messages before it
    is_new: bool = False  # the conversation is not stored yet
    is_recorded: bool  # whether the history has the question, with the messages before it
    stored: Message | None = None  # its answer, if an earlier try came that far


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A question made ready."""

    message: IncomingMessage
    before: tuple[Message, ...] = ()  # messages the question follows; those already in the history move to its end
    notes: tuple[str, ...] = ()  # one sentence for each part that failed: people see them in the answer
    focus: Focus | None = None  # where to look first; None: where the conversation is at


class Preparing(Protocol):
    async def __call__(self, message: IncomingMessage, opened: Opened) -> Prepared:
        """Run inside the question's tree, before it is recorded. Raises only transient errors (StorageError)."""


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
