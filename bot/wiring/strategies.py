"""The composition root's part for strategies: the one that a question gets, over its provider."""

from bot.config.sections import AgentConfig
from core.answering.limits import Budget
from core.answering.strategies.always_retrieve import AlwaysRetrieveStrategy
from core.answering.strategies.choosing import NotedStrategy, choose
from core.answering.strategies.facts_first import FactsFirstStrategy
from core.answering.strategies.plan_and_synthesise import PlanAndSynthesiseStrategy
from core.answering.strategies.tool_use import ToolUseStrategy
from core.domain.conversation import IncomingMessage
from core.ports import ChatProvider, Clock, RetrievalStrategy

STRATEGIES = {made.name: made for made in (ToolUseStrategy, AlwaysRetrieveStrategy, PlanAndSynthesiseStrategy)}


def strategy_for(
    agent: AgentConfig, message: IncomingMessage, provider: ChatProvider, clock: Clock
) -> RetrievalStrategy:
    """As core/answering/strategies/choosing.py says. UnsupportedFeature for a name that there is not."""
    budget = Budget(steps=agent.max_steps, tokens=agent.max_tokens, seconds=agent.max_seconds)
    choice = choose(message, agent.strategy, provider.capabilities)
    strategy: RetrievalStrategy = STRATEGIES[choice.name](provider, budget, clock)
    if choice.note:
        strategy = NotedStrategy(strategy, choice.note)
    return FactsFirstStrategy(strategy) if agent.facts and message.strategy is None else strategy
