"""The choice of a strategy: the asker's, else the channel's, else the configured one, as far as the model allows.

If the requested strategy isn't available, the closest one answers, with a sentence about it. Pure, except for
`NotedStrategy`, which adds that sentence to the draft.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.answering.limits import Budget
from core.answering.observer import RunObserver
from core.answering.strategies.always_retrieve import AlwaysRetrieveStrategy
from core.answering.strategies.facts_first import FactsFirstStrategy
from core.answering.strategies.plan_and_synthesise import PlanAndSynthesiseStrategy
from core.answering.strategies.tool_use import ToolUseStrategy
from core.answering.strategies.wording import wording_of
from core.domain.answer import Capabilities, ChatMessage, Draft
from core.domain.conversation import IncomingMessage
from core.errors import UnsupportedFeature
from core.ports import ChatProvider, Clock, ProgressSink, RetrievalStrategy, Tools
from core.work.questions import DEEP_STRATEGY

AUTO = "auto"  # by the question's wording: a comparison, a timeline and the like are planned
DEEP = "deep"  # people's name for it
TOOL_USE, ALWAYS, PLANNED = ToolUseStrategy.name, AlwaysRetrieveStrategy.name, PlanAndSynthesiseStrategy.name
NAMES = (TOOL_USE, ALWAYS, PLANNED, AUTO)
NO_MODEL = "(A deep answer needs a language model and none is set up, so this is looked up and quoted as usual.)"
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


def build_strategy(
    message: IncomingMessage,
    provider: ChatProvider,
    budget: Budget,
    clock: Clock,
    observer: RunObserver,
    *,
    configured: str,
    facts: bool,
) -> RetrievalStrategy:
    """Build the chosen strategy over a provider; with `facts`, lists of extracted rows come first.

    Raises UnsupportedFeature for an unknown name.
    """
    choice = choose(message, configured, provider.capabilities)
    strategy: RetrievalStrategy = STRATEGIES[choice.name](provider, budget, clock, observer)
    if choice.note:
        strategy = NotedStrategy(strategy, choice.note)
    return FactsFirstStrategy(strategy) if facts and message.strategy is None else strategy


class NotedStrategy:
    """Another strategy, with a sentence under its answers (implements ports.RetrievalStrategy)."""

    def __init__(self, inner: RetrievalStrategy, note: str) -> None:
        self._inner = inner
        self._note = note

    @property
    def name(self) -> str:
        return self._inner.name

    async def draft(
        self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools, progress: ProgressSink
    ) -> Draft:
        written = await self._inner.draft(question, history, tools, progress)
        return replace(written, notes=(*written.notes, self._note))
