"""The composition root's part for recorded runs. Only bot/wiring/app.py uses it."""

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.wiring.strategies import strategy_for
from core.domain.conversation import IncomingMessage
from core.features.replay.cassettes import Cassettes
from core.ports import ChatProvider, RetrievalStrategy

if TYPE_CHECKING:
    from bot.wiring.app import App


def build_cassettes(app: "App") -> Cassettes:
    """Plays over the recorded model: no provider is opened for it."""

    def over(name: str, question: IncomingMessage, provider: ChatProvider) -> RetrievalStrategy:
        chosen = strategy_for(app.config.agent, question, provider, app.clock)
        if chosen.name == name:
            return chosen
        return strategy_for(app.config.agent, replace(question, strategy=name), provider, app.clock)

    return Cassettes(app.cassette_store, over, app.clock, days=app.config.replay.keep_days)
