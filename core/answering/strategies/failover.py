"""The strategy of a question, chosen after its provider is known: which one is up, and its model's abilities."""

from collections.abc import Awaitable, Callable, Sequence

from core.answering.observer import NO_OBSERVER, RunObserver
from core.domain.answer import ChatMessage, Draft
from core.domain.conversation import IncomingMessage
from core.errors import ProviderChanged
from core.ports import ChatProvider, ProgressSink, RetrievalStrategy, Tools

MOST_CHANGES = 4  # of providers in one question; configurations have fewer


class FailoverStrategy:
    """Rebuilds its strategy when another provider has to answer (implements ports.RetrievalStrategy).

    `ready` returns the question's provider with known capabilities; `build` the strategy over it.
    """

    name = "prepared"

    def __init__(
        self,
        ready: Callable[[], Awaitable[ChatProvider]],
        build: Callable[[ChatProvider], RetrievalStrategy],
        observer: RunObserver = NO_OBSERVER,
    ) -> None:
        self._ready = ready
        self._build = build
        self._observer = observer

    async def draft(
        self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools, progress: ProgressSink
    ) -> Draft:
        """Draft with the chosen strategy. Raises ProviderError, and the errors of `build`."""
        for changes in range(MOST_CHANGES + 1):
            strategy = self._build(await self._ready())
            self._observer.choose_strategy(strategy.name)
            try:
                return await strategy.draft(question, history, tools, progress)
            except ProviderChanged:
                if changes == MOST_CHANGES:
                    raise
                progress.reset()
        raise AssertionError("unreachable")
