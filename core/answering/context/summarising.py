"""Short summaries of a conversation: by rule here, by a model in core/answering/agent/summarising.py."""

from collections.abc import Sequence
from typing import Protocol

from core.answering.context.turns import BYTES_PER_TOKEN
from core.domain.answer import ChatMessage, ChatRole
from core.text.words import collapse, shorten

QUESTION_CHARACTERS = 160
ANSWER_CHARACTERS = 240


class Summariser(Protocol):
    async def go_on(self, earlier: str, messages: Sequence[ChatMessage], tokens: int) -> str:
        """Return a summary, of about `tokens` at most, of an earlier one ("": none) and the messages since.

        Raises ProviderError.
        """
        ...


class LineSummariser:
    """Each question with the beginning of its answer on a line, the newest where not all fit: no model is asked."""

    async def go_on(self, earlier: str, messages: Sequence[ChatMessage], tokens: int) -> str:
        lines = earlier.splitlines()
        for message in spoken(messages):
            if message.role is ChatRole.USER:
                lines.append(f"- {shorten(collapse(message.text), QUESTION_CHARACTERS)}")
            elif lines:
                lines[-1] += f" → {shorten(collapse(message.text), ANSWER_CHARACTERS)}"
        size = tokens * BYTES_PER_TOKEN
        while len(lines) > 1 and sum(len(line.encode()) + 1 for line in lines) > size:
            del lines[0]
        return cut("\n".join(lines), tokens)


def spoken(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Questions and answers, without calls of tools and their results."""
    return [message for message in messages if message.text.strip() and message.role is not ChatRole.TOOL_RESULT]


def cut(text: str, tokens: int) -> str:
    """About so many tokens of a text at most, without half a character."""
    return text.encode()[: tokens * BYTES_PER_TOKEN].decode(errors="ignore").strip()
