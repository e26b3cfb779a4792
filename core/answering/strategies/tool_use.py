"""The default strategy: a model with tools decides on its look-ups."""

from collections.abc import Sequence

from core.answering.agent.loop import AgentLoop
from core.answering.agent.prompts import build_turns, reading_companion
from core.answering.run import NO_OBSERVER, Budget, Meter, RunObserver
from core.domain.answer import ChatMessage, Draft
from core.domain.conversation import IncomingMessage
from core.errors import UnsupportedFeature
from core.ports import ChatProvider, Clock, ProgressSink, Tools


class ToolUseStrategy:
    """One agent loop for each question (implements ports.RetrievalStrategy)."""

    name = "tool_use"

    def __init__(
        self, provider: ChatProvider, budget: Budget, clock: Clock, observer: RunObserver = NO_OBSERVER
    ) -> None:
        self._observer = observer
        self._provider = provider
        self._budget = budget
        self._clock = clock

    async def draft(
        self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools, progress: ProgressSink
    ) -> Draft:
        """Raises UnsupportedFeature when the provider has no tools, ProviderError when it gives no answer."""
        capabilities = self._provider.capabilities
        if not capabilities.tools:
            raise UnsupportedFeature(
                f"The provider {self._provider.name!r} can't call tools: choose another provider, or a strategy that "
                "searches by itself."
            )
        tools.adopt(history)
        loop = AgentLoop(
            provider=self._provider,
            tools=tools,
            progress=progress,
            meter=Meter(self._budget, self._clock),
            system=reading_companion(capabilities, question),
            model=question.model,
            observer=self._observer,
        )
        return await loop.run(build_turns(history, question))
