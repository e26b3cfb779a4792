"""The terminal as a chat platform, and the parser of its input."""

from dataclasses import dataclass

from core.domain.answer import Answer
from core.domain.incoming import ThreadAddress
from core.domain.service import InboxEntry, PostRef
from core.ports import ProgressSink
from core.work.progress import SilentProgress

PLATFORM = "terminal"


class TerminalPlatform:
    """A ChatPlatform that posts nothing: a command finds the answer in its conversation."""

    name = PLATFORM

    async def open(self, entry: InboxEntry) -> ProgressSink:
        return SilentProgress()

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        """Return `conversation id/message id` of the stored answer."""
        return f"{answer.conversation_id}/{answer.message_id}"

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        """Return no reference: the command shows the sentence of the entry."""
        return ""

    async def remove(self, entry: InboxEntry) -> None:
        """Do nothing: posts are read from the history."""

    async def redact(self, entry: InboxEntry, sentence: str) -> None:
        """Do nothing: posts are read from the history."""


# The reply to `footnote ask "/help"`.
NO_QUESTION = "A question that begins with / is a command: commands work inside `footnote chat`."
LEAVE = frozenset({"quit", "exit", "/quit", "/exit"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A line: `leave`, a command with its argument, or a question; all empty for a blank line."""

    question: str = ""
    command: str = ""
    argument: str = ""
    leave: bool = False


def to_typed(line: str) -> Typed:
    text = line.strip()
    if text.lower() in LEAVE:
        return Typed(leave=True)
    if text.startswith("/"):
        name, _, argument = text[1:].partition(" ")
        return Typed(command=name.lower() or "help", argument=argument.strip())
    return Typed(question=text)
