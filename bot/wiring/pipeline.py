"""The pipeline of a question over the parts of a process, with its strategy and tools; and the chat commands."""

from collections.abc import Callable, Mapping
from functools import partial

from bot.wiring.parts import NOTED_PLATFORMS, Parts
from core.answering.answer_store import AnswerStore
from core.answering.answers.settled import SettledAnswers
from core.answering.context import FullHistoryCapped, LineSummariser, ModelSummariser, RollingSummary, TokenWindow
from core.answering.pipeline import Pipeline, PipelineStep, Stage
from core.answering.run import RunObserver
from core.answering.steps import question as common
from core.answering.steps.everyday import EverydayReplies
from core.answering.steps.library_answers import LibraryAnswers
from core.answering.steps.preparing import Preparation
from core.answering.steps.private_answers import PrivateAnswer, SharedAnswer, Sharing, ToPrivate
from core.answering.steps.proof import Proof
from core.answering.steps.readings import LibraryReading
from core.answering.steps.stated_positions import StatedPositions
from core.answering.strategies.choosing import Choose
from core.answering.tools.find_extracts import FindExtractsTool
from core.answering.tools.follow_relation import FollowRelationTool
from core.answering.tools.get_ontology import GetOntologyTool
from core.answering.tools.get_page import GetPageTool
from core.answering.tools.list_documents import ListDocumentsTool
from core.answering.tools.query_journal import QueryJournalTool
from core.answering.tools.query_table import QueryTableTool
from core.answering.tools.search import SearchTool
from core.answering.tools.toolbox import ToolboxMaker
from core.features.catchup import catchup_command
from core.features.replay.recording import Recording
from core.features.staleness.stale_notes import StaleNotes
from core.knowledge.references.document_lines import DocumentLines
from core.knowledge.references.service import References
from core.ports import ContextStrategy
from core.ports.service import ThreadReader
from core.service.commands.table import Commands
from core.service.commands.threads import RunningQuestions
from core.work.steps import Step
from storage.documents.page_images.pages import PdfPictures


def build_pipeline(
    parts: Parts,
    *,
    readers: Mapping[str, ThreadReader] | None = None,
    to_private: Mapping[str, ToPrivate] | None = None,
    observe: Callable[[], RunObserver] | None = None,
    strategy: Choose | None = None,
    toolbox: common.ToolboxFactory | None = None,
) -> Pipeline:
    """Build the path of a question. Every entry point and test calls this; a test may pass another strategy or toolbox.
    `readers` and `to_private` are the platforms' own, by name. `observe` replaces the recording of a run.
    """
    corpus, library, access, clock = parts.stores.corpus, parts.library, parts.access, parts.clock
    settings, conversations = parts.stores.settings, parts.conversations
    readers, to_private = readers if readers is not None else {}, to_private or {}
    store = AnswerStore(conversations, parts.stores.jobs, parts.inbox_store, clock, edited=readers)
    private = PrivateAnswer(to_private, access=access, library=library, inbox=parts.inbox_store)
    positions = StatedPositions(
        settings=settings, library=library, corpus=corpus, conversations=conversations, access=access, clock=clock
    )
    settled, notes = SettledAnswers(store, parts.stores.jobs, clock), StaleNotes(parts.staleness, access, corpus)
    history, links = common.HistorySteps(store, settled), common.ReferenceSteps(build_references(parts))
    scoping, empty = common.Scoping(access, library, corpus, clock), common.EmptyScope(parts.availability, readers)
    context = common.ContextSelection(partial(build_context, parts), parts.config.agent.history_tokens)
    prepare = Preparation(readers, clock, parts.inbox_store, parts.attachments)
    proof = Proof(corpus, parts.support, parts.strategies, clock, parts.config.agent.check_support)
    last_check = common.LastCheck(access, library, corpus, empty)
    everyday, reading, about_library = build_own_replies(parts)
    draft = common.Drafting(strategy or parts.strategies.choose, toolbox or build_toolboxes(parts))
    steps = (
        PipelineStep("Answer a note about stale answers", Stage.DECIDE, notes, NOTED_PLATFORMS),
        PipelineStep("Show a shared private answer", Stage.DECIDE, build_shared(parts), readers),
        PipelineStep("Store a stated reading position", Stage.DECIDE, common.StatedPosition(positions)),
        PipelineStep("Send an answer with spoilers privately", Stage.DECIDE, private.decide, to_private),
        PipelineStep("Apply the channel's defaults", Stage.DECIDE, common.ChannelDefaults(settings, readers)),
        PipelineStep("Replace earlier versions of an edited question", Stage.DECIDE, history.forget_earlier_versions),
        PipelineStep("Open the conversation with its history, or return the stored answer", Stage.DECIDE, history.open),
        PipelineStep("Read earlier talk and attached files", Stage.REQUEST, prepare, readers),
        PipelineStep("Record the question", Stage.REQUEST, history.record),
        PipelineStep("Compute the scope", Stage.REQUEST, scoping),
        PipelineStep("Redact the history", Stage.REQUEST, common.HistoryRedaction(corpus)),
        PipelineStep("Reply to an everyday message", Stage.REQUEST, everyday),
        PipelineStep("Say why nothing can be searched here", Stage.REQUEST, empty),
        PipelineStep("Find the document asked about", Stage.REQUEST, scoping.find_document),
        PipelineStep("Read the question in the library's words", Stage.REQUEST, reading),
        PipelineStep("Describe the library, or answer about it without a model", Stage.REQUEST, about_library),
        PipelineStep("Prefetch linked documents", Stage.REQUEST, links.link),
        PipelineStep("Fit the history into the prompt", Stage.REQUEST, context),
        PipelineStep("Draft with the strategy and its tools", Stage.REQUEST, draft),
        PipelineStep("Prove footnotes and check that they support their sentences", Stage.REQUEST, proof),
        PipelineStep("Answer from talk, or briefly, where documents don't", Stage.REQUEST, everyday.after_search),
        PipelineStep("Describe referenced documents", Stage.REQUEST, links.describe),
        PipelineStep("Suggest follow-up questions", Stage.REQUEST, common.Suggestions(parts.suggestions)),
        PipelineStep("Say why a search may be incomplete", Stage.REQUEST, empty.warn),
        PipelineStep("Add notes", Stage.REQUEST, common.add_notes),
        PipelineStep("Check that the answer may still be shown", Stage.REQUEST, last_check),
        PipelineStep("Hand an answer with spoilers over", Stage.FINISH, private.hand_over, to_private),
    )
    observe = observe or (partial(Recording, parts.cassettes.keep) if parts.config.replay.record else RunObserver)
    return Pipeline(steps, store=store, settled=settled, jobs=parts.stores.jobs, clock=clock, observe=observe)


def build_shared(parts: Parts) -> SharedAnswer:
    """Build the step that shows a private answer to others."""
    return SharedAnswer(Sharing(parts.conversations, parts.stores.corpus, parts.access))


def build_own_replies(parts: Parts) -> tuple[EverydayReplies, LibraryReading, LibraryAnswers]:
    """Build the steps that answer without a search or a model, and the one that reads a question without a model."""
    corpus, provider = parts.stores.corpus, parts.providers.of
    everyday = EverydayReplies(corpus, parts.suggestions, provider, parts.turn_model, parts.judge)
    about_library = LibraryAnswers(corpus, parts.library, parts.clock, provider)
    return everyday, LibraryReading(parts.vocabularies, provider), about_library


def describe(pipeline: Pipeline) -> str:
    """Return the steps as a numbered Markdown list; README.md and docs/architecture.md show it."""
    return "\n".join(f"{number}. {step.name}" for number, step in enumerate(pipeline.steps, start=1))


def build_context(parts: Parts, parent: Step) -> ContextStrategy:
    """Build the configured context strategy, with its steps below `parent`."""
    agent = parts.config.agent
    if agent.context == "full":
        return FullHistoryCapped(parts.stores.corpus, agent.history_messages)
    if agent.context == "window":
        return TokenWindow(parts.stores.corpus)

    def summariser(workspace: str, step: Step) -> LineSummariser | ModelSummariser:
        provider = parts.providers.of(workspace)
        return LineSummariser() if provider.capabilities.quotes_only else ModelSummariser(provider, step)

    return RollingSummary(parts.stores.corpus, parts.stores.summaries, summariser, parent)


def build_references(parts: Parts) -> References | None:
    """None if they are switched off."""
    settings = parts.config.references
    if not settings.enabled:
        return None
    corpus, tokens = parts.stores.corpus, settings.offered_tokens
    provider = parts.providers.of if settings.written_lines else None
    lines = DocumentLines(corpus=corpus, summaries=parts.stores.summaries, provider=provider)
    return References(library=parts.library, corpus=corpus, lines=lines, clock=parts.clock, tokens=tokens)


def build_toolboxes(parts: Parts) -> ToolboxMaker:
    """Bind the tools to the library."""
    of_text = SearchTool(), GetPageTool(), QueryJournalTool()
    of_extracts = FindExtractsTool(), QueryTableTool(), FollowRelationTool(), GetOntologyTool()
    return ToolboxMaker(
        tools=(*of_text, ListDocumentsTool(), *of_extracts),
        library=parts.library,
        corpus=parts.stores.corpus,
        facts=parts.facts,
        summaries=parts.stores.summaries,
        pictures=PdfPictures(parts.stores.corpus),
        provider=parts.providers.of,
        rerank=parts.config.index.rerank,
        tokens=parts.config.agent.max_tokens,
    )


def build_commands(parts: Parts, questions: RunningQuestions | None = None) -> Commands:
    """Bind the chat commands; `questions` are being answered by a worker."""
    return Commands(
        library=parts.library,
        corpus=parts.stores.corpus,
        conversations=parts.conversations,
        jobs=parts.jobs,
        access=parts.access,
        availability=parts.availability,
        settings=parts.stores.settings,
        auto_answers=parts.auto_answers,
        questions=questions,
        kept=parts.kept,
        facts=parts.facts,
        staleness=parts.staleness,
        recaps=parts.recaps,
        cassettes=parts.cassettes if parts.config.replay.record else None,
        additions=parts.additions,
        reviews=parts.reviews,
        people=parts.stores.people,
        live=parts.live,
        catchup=catchup_command(
            parts.live, parts.stores.corpus, parts.access, parts.providers.of, parts.support, parts.clock
        ),
    )
