"""The strategy for a question, chosen once its provider is known: which one is up, and what its model can do."""

from collections.abc import Awaitable, Callable, Sequence

from core.domain.answer import ChatMessage, Draft
from core.domain.conversation import IncomingMessage
from core.errors import ProviderChanged
from core.ports import ChatProvider, ProgressSink, RetrievalStrategy, Tools

MOST_CHANGES = 4  # of providers in one question; configurations have fewer


class PreparedStrategy:
    """Implements ports.RetrievalStrategy over another, which it builds anew when another provider has to answer.

    `ready` gives the provider of this question, its capabilities known; `build` the strategy over it.
    """

    name = "prepared"

    def __init__(
        self, ready: Callable[[], Awaitable[ChatProvider]], build: Callable[[ChatProvider], RetrievalStrategy]
    ) -> None:
        self._ready = ready
        self._build = build

    async def draft(
        self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools, progress: ProgressSink
    ) -> Draft:
        """Raises ProviderError, also of the asking what a model can do, and what `build` raises."""
        for _ in range(MOST_CHANGES):
            strategy = self._build(await self._ready())
            try:
                return await strategy.draft(question, history, tools, progress)
            except ProviderChanged:
                progress.reset()
        return await self._build(await self._ready()).draft(question, history, tools, progress)
