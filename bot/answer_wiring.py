"""The composition root's part for answers: provider, strategy and tools, as configured. Only bot/wiring.py uses it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from bot.config import Config
from core.answering import AnswerService, Reading
from core.domain.conversation import IncomingMessage
from core.errors import UnsupportedFeature
from core.facts import Facts
from core.library import Library
from core.limits import Budget
from core.ports import AnswerJudge, ChatProvider, Clock, CorpusRepository, RetrievalStrategy, SentenceRanker

if TYPE_CHECKING:
    from bot.wiring import App
    from core.tools.base import Toolbox


def build_answers(app: "App") -> AnswerService:
    """The use case over the parts of an app."""
    from core.context import FullHistoryCapped

    agent = app.config.agent
    return AnswerService(
        corpus=app.corpus,
        access=app.access,
        library=app.library,
        conversations=app.conversations,
        jobs=app.job_store,
        context=FullHistoryCapped(app.corpus, agent.history_messages),
        strategy=lambda message: build_strategy(app.config, message, lambda: app.provider, app.clock),
        toolbox=lambda reading: build_toolbox(
            reading, app.library, app.corpus, app.facts, rerank=app.config.index.rerank
        ),
        clock=app.clock,
        history_tokens=agent.history_tokens,
    )


def build_provider(
    config: Config, ranker: Callable[[], SentenceRanker], judge: Callable[[], AnswerJudge]
) -> ChatProvider:
    """The configured provider; local models are built only for the one that needs them."""
    settings = config.provider
    if settings.name == "extractive":
        from core.providers.extractive.provider import ExtractiveProvider

        return ExtractiveProvider(ranker=ranker(), judge=judge())
    from core.providers.anthropic.provider import AnthropicProvider

    return AnthropicProvider(
        api_key=config.provider_key(),
        model=settings.model,
        max_output_tokens=settings.max_output_tokens,
        timeout_seconds=settings.timeout_seconds,
        stall_seconds=settings.stall_seconds,
        max_retries=settings.max_retries,
        base_url=settings.base_url,
    )


def build_strategy(
    config: Config, message: IncomingMessage, provider: Callable[[], ChatProvider], clock: Clock
) -> RetrievalStrategy:
    """The strategy a message asks for, else the configured one. UnsupportedFeature for what is not there."""
    from core.strategies.facts_first import FactsFirstStrategy
    from core.strategies.tool_use import ToolUseStrategy

    wanted = message.strategy or config.agent.strategy
    if wanted != ToolUseStrategy.name:
        raise UnsupportedFeature(f"There is no strategy {wanted!r}: use {ToolUseStrategy.name}.")
    if message.model and config.provider.name == "extractive":
        raise UnsupportedFeature("--model needs a provider with models: set provider.name in the configuration.")
    agent = config.agent
    budget = Budget(steps=agent.max_steps, tokens=agent.max_tokens, seconds=agent.max_seconds)
    strategy = ToolUseStrategy(provider(), budget, clock)
    return FactsFirstStrategy(strategy) if agent.facts and message.strategy is None else strategy


def build_toolbox(
    reading: Reading, library: Library, corpus: CorpusRepository, facts: Facts, *, rerank: bool
) -> "Toolbox":
    """The tools of one question, bound to what it may read."""
    from core.tools.base import Toolbox, ToolContext
    from core.tools.find_extracts import FindExtractsTool
    from core.tools.follow_relation import FollowRelationTool
    from core.tools.get_ontology import GetOntologyTool
    from core.tools.get_page import GetPageTool
    from core.tools.query_journal import QueryJournalTool
    from core.tools.search import SearchTool

    context = ToolContext(
        scope=reading.scope,
        library=library,
        corpus=corpus,
        facts=facts,
        focus=reading.focus,
        linked=frozenset(document.id for document in reading.linked),
        document_ids=frozenset({reading.document.id}) if reading.document else frozenset(),
        rerank=rerank,
    )
    tools = (
        SearchTool(),
        GetPageTool(),
        QueryJournalTool(),
        FindExtractsTool(),
        FollowRelationTool(),
        GetOntologyTool(),
    )
    return Toolbox(tools, context)


async def check_provider(provider: ChatProvider) -> None:
    """One small request where the provider is remote. Raises ProviderError with the next step."""
    from core.providers.anthropic.provider import AnthropicProvider

    if isinstance(provider, AnthropicProvider):
        await provider.check()
