"""Summaries of a conversation by a model."""

from collections.abc import Sequence

from core.answering.agent.prompts import conversation_notes
from core.answering.context.summarising import cut, spoken
from core.domain.answer import ChatMessage, ChatRequest, ChatRole
from core.errors import ProviderError
from core.ports import ChatProvider
from core.work.steps import NO_STEPS, Step, complete

FEWEST_WORDS = 40


class ModelSummariser:
    """One call of a model (implements core.answering.context.Summariser), inside of the step `parent`."""

    def __init__(self, provider: ChatProvider, parent: Step = NO_STEPS) -> None:
        self._provider = provider
        self._parent = parent

    async def go_on(self, earlier: str, messages: Sequence[ChatMessage], tokens: int) -> str:
        notes = f"Notes so far:\n{earlier}\n\n" if earlier else ""
        said = "\n\n".join(f"{_name(message)}: {message.text.strip()}" for message in spoken(messages))
        request = ChatRequest(
            system=conversation_notes(max(FEWEST_WORDS, tokens // 2)),
            messages=(ChatMessage(role=ChatRole.USER, text=f"{notes}Said since:\n{said}"),),
        )
        text = (await complete(self._provider, request, self._parent)).text.strip()
        if not text:
            raise ProviderError(f"{self._provider.name} gave an empty summary of the conversation.")
        return cut(text, tokens)


def _name(message: ChatMessage) -> str:
    return message.speaker or "Somebody" if message.role is ChatRole.USER else "Assistant"
