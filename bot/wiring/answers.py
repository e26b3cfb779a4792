"""The composition root's part for answers: provider, strategy and tools, as configured."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from bot.wiring.providers import ready
from core.answering.service import Answering, AnswerService, Reading
from core.answering.tools.section_notes import SectionReader
from core.domain.conversation import IncomingMessage
from core.features.recap import LineWriter, ModelWriter, Recaps
from core.knowledge.facts import Facts
from core.knowledge.library import Library
from core.ports import ChatProvider, ContextStrategy, CorpusRepository, PagePictures, RetrievalStrategy

if TYPE_CHECKING:
    from bot.wiring.app import App
    from core.answering.steps.stated_positions import StatedPositions
    from core.answering.tools.base import Toolbox
    from core.knowledge.references.service import References


def build_answers(app: "App") -> AnswerService:
    """The use case over the parts of an app."""
    from storage.documents.page_images.pages import PdfPictures

    agent = app.config.agent
    pictures = PdfPictures(app.corpus)
    return AnswerService(
        corpus=app.corpus,
        access=app.access,
        library=app.library,
        conversations=app.conversations,
        jobs=app.job_store,
        context=build_context(app),
        strategy=lambda message: prepare_strategy(app, message),
        toolbox=lambda reading: build_toolbox(
            reading,
            app.library,
            app.corpus,
            app.facts,
            rerank=app.config.index.rerank,
            pictures=pictures,
            sees=lambda: app.provider_for(reading.scope.workspace, None).capabilities.images,
            sections=build_section_reader(app, reading.scope.workspace),
        ),
        clock=app.clock,
        references=build_references(app),
        cassettes=app.cassettes if app.config.replay.record else None,
        history_tokens=agent.history_tokens,
    )


def with_stated_positions(app: "App", answers: Answering) -> "StatedPositions":
    """The same, where people may say how far they have read."""
    from core.answering.steps.stated_positions import StatedPositions

    return StatedPositions(
        answers,
        settings=app.settings,
        library=app.library,
        corpus=app.corpus,
        conversations=app.conversations,
        access=app.access,
        clock=app.clock,
    )


def build_context(app: "App") -> ContextStrategy:
    """The configured strategy; only the one that summarises needs a summariser."""
    from core.answering.agent.summarising import ModelSummariser
    from core.answering.context import FullHistoryCapped, LineSummariser, RollingSummary, TokenWindow

    agent = app.config.agent
    if agent.context == "full":
        return FullHistoryCapped(app.corpus, agent.history_messages)
    if agent.context == "window":
        return TokenWindow(app.corpus)

    def summariser(workspace: str) -> LineSummariser | ModelSummariser:
        provider = app.provider_for(workspace, None)
        return LineSummariser() if provider.capabilities.quotes_only else ModelSummariser(provider)

    return RollingSummary(app.corpus, app.summaries, summariser)


def build_references(app: "App") -> "References | None":
    """None where they are switched off."""
    from core.knowledge.references.lines import DocumentLines
    from core.knowledge.references.service import References
    from core.knowledge.references.writing import ModelLines

    settings = app.config.references
    if not settings.enabled:
        return None
    writer = cache(lambda workspace: ModelLines(app.provider_for(workspace, None)))  # each bounds its own calls
    lines = DocumentLines(corpus=app.corpus, summaries=app.summaries, writer=writer if settings.written_lines else None)
    return References(
        library=app.library, corpus=app.corpus, lines=lines, clock=app.clock, tokens=settings.offered_tokens
    )


def build_recaps(app: "App") -> Recaps:
    """By rule where no model writes."""

    def writer(workspace: str) -> LineWriter | ModelWriter:
        provider = app.provider_for(workspace, None)
        return LineWriter() if provider.capabilities.quotes_only else ModelWriter(provider)

    return Recaps(app.corpus, app.summaries, writer)


def prepare_strategy(app: "App", message: IncomingMessage) -> RetrievalStrategy:
    """The strategy for a message, over the provider of its workspace and the model it asks for."""
    from bot.wiring.strategies import strategy_for
    from core.answering.strategies.failover import PreparedStrategy
    from core.features.replay.recording import RecordingProvider, recorded

    async def ready_provider() -> ChatProvider:
        return await ready(app.provider_for(message.address.workspace, message.model))

    def over(provider: ChatProvider) -> RetrievalStrategy:
        return recorded(strategy_for(app.config.agent, message, RecordingProvider(provider), app.clock))

    return PreparedStrategy(ready_provider, over)


def build_section_reader(app: "App", workspace: str) -> SectionReader | None:
    """None where no model writes: what is too long is cut then."""
    from core.answering.agent.section_reading import ModelSectionReader

    provider = app.provider_for(workspace, None)
    return None if provider.capabilities.quotes_only else ModelSectionReader(provider, app.summaries)


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
