"""The choice of a strategy: the asker's, else the channel's, else the configured one, as far as the model allows.

If the requested strategy isn't available, the closest one answers, with a sentence about it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from core.answering.limits import Budget
from core.answering.observer import NO_OBSERVER, RunObserver
from core.answering.strategies.always_retrieve import AlwaysRetrieveStrategy
from core.answering.strategies.plan_and_synthesise import PlanAndSynthesiseStrategy
from core.answering.strategies.tool_use import ToolUseStrategy
from core.answering.strategies.wording import wording_of
from core.domain.answer import Capabilities
from core.domain.conversation import IncomingMessage
from core.errors import UnsupportedFeature
from core.ports import ChatProvider, Clock, RetrievalStrategy
from core.work.questions import DEEP_STRATEGY

AUTO = "auto"  # by the question's wording: a comparison, a timeline and the like are planned
DEEP = "deep"  # people's name for it
TOOL_USE, ALWAYS, PLANNED = ToolUseStrategy.name, AlwaysRetrieveStrategy.name, PlanAndSynthesiseStrategy.name
NAMES = (TOOL_USE, ALWAYS, PLANNED, AUTO)
NO_MODEL = "(A deep answer needs a language model, and none is set up, so I searched and quoted as usual.)"
NO_PLANS = "(A deep answer needs a model that calls tools, so I searched first and answered from what I found.)"
NO_TOOLS = "(The model can't call tools, so I searched first and answered from what I found.)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    name: str  # of a strategy; never AUTO
    note: str = ""  # for people


def choose(message: IncomingMessage, configured: str, capabilities: Capabilities) -> Choice:
    """The strategy for a message. `configured` is one of NAMES. UnsupportedFeature for a name that there is not."""
    wanted = known_name(message.strategy) if message.strategy else configured
    usual = TOOL_USE if capabilities.tools else ALWAYS
    can_plan = capabilities.tools and not capabilities.quotes_only
    if wanted == AUTO:
        return Choice(name=PLANNED if can_plan and wording_of(message.text) is not None else usual)
    if wanted == PLANNED and not can_plan:
        return Choice(name=usual, note=NO_MODEL if capabilities.quotes_only else NO_PLANS)
    if wanted == TOOL_USE and not capabilities.tools:
        return Choice(name=ALWAYS, note=NO_TOOLS if message.strategy else "")
    return Choice(name=wanted)


def known_name(name: str) -> str:
    """The strategy that a person's word stands for. UnsupportedFeature for one that stands for none."""
    word = name.strip().lower().replace("-", "_").replace(" ", "_")
    if word == DEEP:
        return DEEP_STRATEGY
    if word not in NAMES:
        raise UnsupportedFeature(f"There is no strategy {name!r}: use {', '.join(NAMES[:-1])} or {AUTO}.")
    return word


STRATEGIES = {made.name: made for made in (ToolUseStrategy, AlwaysRetrieveStrategy, PlanAndSynthesiseStrategy)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenStrategy:
    """The strategy of one question."""

    strategy: RetrievalStrategy
    note: str = ""  # for people, below the answer
    lists_facts: bool = False  # a list of extracted rows comes first (drafting.py)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategies:
    """Chooses and builds strategies. `configured` is one of NAMES; `facts`: lists of extracted rows come first.

    `provider` returns the provider of a workspace for a model with known capabilities, and raises ProviderError.
    """

    provider: Callable[[str, str | None], Awaitable[ChatProvider]]
    configured: str
    facts: bool
    budget: Budget
    clock: Clock

    async def choose(self, message: IncomingMessage, observer: RunObserver) -> ChosenStrategy:
        """Return the strategy for a message over its workspace's provider. UnsupportedFeature for an unknown name."""
        provider = await self.provider(message.address.workspace, message.model)
        return self.over(provider, message, observer)

    def over(self, provider: ChatProvider, message: IncomingMessage, observer: RunObserver) -> ChosenStrategy:
        """Return the strategy for a message over a provider. UnsupportedFeature for an unknown name."""
        choice = choose(message, self.configured, provider.capabilities)
        strategy = STRATEGIES[choice.name](provider, self.budget, self.clock, observer)
        return ChosenStrategy(strategy=strategy, note=choice.note, lists_facts=self.facts and message.strategy is None)

    def recorded(self, name: str, question: IncomingMessage, provider: ChatProvider) -> ChosenStrategy:
        """Return the strategy of a name for a replay. UnsupportedFeature for an unknown name."""
        chosen = self.over(provider, question, NO_OBSERVER)
        if chosen.strategy.name == name:
            return chosen
        return self.over(provider, replace(question, strategy=name), NO_OBSERVER)
