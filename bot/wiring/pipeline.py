"""The pipeline of a question over the parts of a process: provider, strategy and tools, as configured."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from bot.config.sections import AgentConfig
from bot.wiring.models import ready
from core.answering.limits import Budget
from core.answering.service import Answering, AnswerService, Reading
from core.answering.strategies.always_retrieve import AlwaysRetrieveStrategy
from core.answering.strategies.choosing import NotedStrategy, choose
from core.answering.strategies.facts_first import FactsFirstStrategy
from core.answering.strategies.plan_and_synthesise import PlanAndSynthesiseStrategy
from core.answering.strategies.tool_use import ToolUseStrategy
from core.answering.tools.section_notes import SectionReader
from core.domain.conversation import IncomingMessage
from core.features.recap import LineWriter, ModelWriter, Recaps
from core.features.replay.cassettes import Cassettes
from core.knowledge.facts import Facts
from core.knowledge.library import Library
from core.ports import ChatProvider, Clock, ContextStrategy, CorpusRepository, PagePictures, RetrievalStrategy

if TYPE_CHECKING:
    from bot.wiring.parts import Parts
    from core.answering.steps.stated_positions import StatedPositions
    from core.answering.tools.base import Toolbox
    from core.knowledge.references.service import References

STRATEGIES = {made.name: made for made in (ToolUseStrategy, AlwaysRetrieveStrategy, PlanAndSynthesiseStrategy)}


def build_answers(parts: "Parts") -> AnswerService:
    """The use case over the parts of an parts."""
    from storage.documents.page_images.pages import PdfPictures

    agent = parts.config.agent
    pictures = PdfPictures(parts.corpus)
    return AnswerService(
        corpus=parts.corpus,
        access=parts.access,
        library=parts.library,
        conversations=parts.conversations,
        jobs=parts.job_store,
        context=build_context(parts),
        strategy=lambda message: prepare_strategy(parts, message),
        toolbox=lambda reading: build_toolbox(
            reading,
            parts.library,
            parts.corpus,
            parts.facts,
            rerank=parts.config.index.rerank,
            pictures=pictures,
            sees=lambda: parts.provider_for(reading.scope.workspace, None).capabilities.images,
            sections=build_section_reader(parts, reading.scope.workspace),
        ),
        clock=parts.clock,
        references=build_references(parts),
        cassettes=parts.cassettes if parts.config.replay.record else None,
        history_tokens=agent.history_tokens,
    )


def with_stated_positions(parts: "Parts", answers: Answering) -> "StatedPositions":
    """The same, where people may say how far they have read."""
    from core.answering.steps.stated_positions import StatedPositions

    return StatedPositions(
        answers,
        settings=parts.settings,
        library=parts.library,
        corpus=parts.corpus,
        conversations=parts.conversations,
        access=parts.access,
        clock=parts.clock,
    )


def build_context(parts: "Parts") -> ContextStrategy:
    """The configured strategy; only the one that summarises needs a summariser."""
    from core.answering.agent.summarising import ModelSummariser
    from core.answering.context import FullHistoryCapped, LineSummariser, RollingSummary, TokenWindow

    agent = parts.config.agent
    if agent.context == "full":
        return FullHistoryCapped(parts.corpus, agent.history_messages)
    if agent.context == "window":
        return TokenWindow(parts.corpus)

    def summariser(workspace: str) -> LineSummariser | ModelSummariser:
        provider = parts.provider_for(workspace, None)
        return LineSummariser() if provider.capabilities.quotes_only else ModelSummariser(provider)

    return RollingSummary(parts.corpus, parts.summaries, summariser)


def build_references(parts: "Parts") -> "References | None":
    """None where they are switched off."""
    from core.knowledge.references.document_lines import DocumentLines, ModelLines
    from core.knowledge.references.service import References

    settings = parts.config.references
    if not settings.enabled:
        return None
    writer = cache(lambda workspace: ModelLines(parts.provider_for(workspace, None)))  # each bounds its own calls
    lines = DocumentLines(
        corpus=parts.corpus, summaries=parts.summaries, writer=writer if settings.written_lines else None
    )
    return References(
        library=parts.library, corpus=parts.corpus, lines=lines, clock=parts.clock, tokens=settings.offered_tokens
    )


def build_recaps(parts: "Parts") -> Recaps:
    """By rule where no model writes."""

    def writer(workspace: str) -> LineWriter | ModelWriter:
        provider = parts.provider_for(workspace, None)
        return LineWriter() if provider.capabilities.quotes_only else ModelWriter(provider)

    return Recaps(parts.corpus, parts.summaries, writer)


def prepare_strategy(parts: "Parts", message: IncomingMessage) -> RetrievalStrategy:
    """The strategy for a message, over the provider of its workspace and the model it asks for."""
    from core.answering.strategies.failover import PreparedStrategy
    from core.features.replay.recording import RecordingProvider, recorded

    async def ready_provider() -> ChatProvider:
        return await ready(parts.provider_for(message.address.workspace, message.model))

    def over(provider: ChatProvider) -> RetrievalStrategy:
        return recorded(strategy_for(parts.config.agent, message, RecordingProvider(provider), parts.clock))

    return PreparedStrategy(ready_provider, over)


def build_section_reader(parts: "Parts", workspace: str) -> SectionReader | None:
    """None where no model writes: what is too long is cut then."""
    from core.answering.agent.section_reading import ModelSectionReader

    provider = parts.provider_for(workspace, None)
    return None if provider.capabilities.quotes_only else ModelSectionReader(provider, parts.summaries)


def build_toolbox(
    reading: Reading,
    library: Library,
    corpus: CorpusRepository,
    facts: Facts,
    *,
    rerank: bool,
    pictures: PagePictures,
    sees: Callable[[], bool],
    sections: SectionReader | None,
) -> "Toolbox":
    """The tools of one question, bound to what it may read. `sees`: whether the model that answers does."""
    from core.answering.tools.base import Toolbox, ToolContext
    from core.answering.tools.find_extracts import FindExtractsTool
    from core.answering.tools.follow_relation import FollowRelationTool
    from core.answering.tools.get_ontology import GetOntologyTool
    from core.answering.tools.get_page import GetPageTool
    from core.answering.tools.query_journal import QueryJournalTool
    from core.answering.tools.search import SearchTool

    context = ToolContext(
        scope=reading.scope,
        library=library,
        corpus=corpus,
        facts=facts,
        focus=reading.focus,
        linked=frozenset(document.id for document in reading.linked),
        document_ids=frozenset({reading.document.id}) if reading.document else frozenset(),
        rerank=rerank,
        sections=sections,
    )
    tools = (
        SearchTool(),
        GetPageTool(pictures, sees),
        QueryJournalTool(),
        FindExtractsTool(),
        FollowRelationTool(),
        GetOntologyTool(),
    )
    return Toolbox(tools, context, reading.offer)


def strategy_for(
    agent: AgentConfig, message: IncomingMessage, provider: ChatProvider, clock: Clock
) -> RetrievalStrategy:
    """Choose a strategy by core/answering/strategies/choosing.py. Raises UnsupportedFeature for an unknown name."""
    budget = Budget(steps=agent.max_steps, tokens=agent.max_tokens, seconds=agent.max_seconds)
    choice = choose(message, agent.strategy, provider.capabilities)
    strategy: RetrievalStrategy = STRATEGIES[choice.name](provider, budget, clock)
    if choice.note:
        strategy = NotedStrategy(strategy, choice.note)
    return FactsFirstStrategy(strategy) if agent.facts and message.strategy is None else strategy


def build_cassettes(parts: "Parts") -> Cassettes:
    """Recorded runs, replayed over the recorded model: no provider is opened."""

    def over(name: str, question: IncomingMessage, provider: ChatProvider) -> RetrievalStrategy:
        chosen = strategy_for(parts.config.agent, question, provider, parts.clock)
        if chosen.name == name:
            return chosen
        return strategy_for(parts.config.agent, replace(question, strategy=name), provider, parts.clock)

    return Cassettes(parts.cassette_store, over, parts.clock, days=parts.config.replay.keep_days)


def build_pipeline(parts: "Parts") -> "StatedPositions":
    """The answer service of a process without chat platforms."""
    return with_stated_positions(parts, build_answers(parts))
