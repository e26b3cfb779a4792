"""The use case: a question in, a proved answer out. Read `_run` from top to bottom."""

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from core.access import scope_for
from core.citations import ProvedText, cited_page_ids, prove
from core.conversations import Conversations, live_focus
from core.domain.answer import Answer, AnswerStatus, Draft, Reference
from core.domain.conversation import Conversation, Focus, IncomingMessage, Message, Role
from core.domain.corpus import Document, Page, SearchScope
from core.domain.jobs import JobKind
from core.errors import Ambiguous, BadInput, FootnoteError, NotFound, ProviderRefused
from core.grounding import ground, only_says_not_found
from core.history import messages_of_draft
from core.library import Library
from core.ports import Clock, ContextStrategy, CorpusRepository, JobRepository, ProgressSink, RetrievalStrategy, Tools
from core.reading import positions_for, split_position
from core.references import direct_references, labels, search_references
from core.steps import Steps
from core.suggestions import suggest
from core.texts import shorten

BOT_NAME = "footnote"
# A question is read by people: longer ones are pasted documents, which belong in the library.
MAX_QUESTION_CHARACTERS = 20_000
# Room for the history in the prompt; the rest of the window is for tools and the answer.
DEFAULT_HISTORY_TOKENS = 12_000
PARTIAL_NOTE = "(I stopped at a limit before I had looked at everything: this answer is from what I found so far.)"
NOT_FROM_DOCUMENTS = "(This is not from the documents.)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one question may read and looks at first; everything its tools need to be bound to."""

    scope: SearchScope
    focus: Focus | None
    document: Document | None  # the only one to answer from; None: the whole library
    linked: tuple[Document, ...]  # named by [[wikilinks]] in the question


class ToolboxFactory(Protocol):
    def __call__(self, reading: Reading) -> Tools: ...


class StrategyChooser(Protocol):
    def __call__(self, message: IncomingMessage) -> RetrievalStrategy:
        """The strategy and model for a message; UnsupportedFeature for names that are not there."""
        ...


class AnswerService:
    def __init__(
        self,
        *,
        corpus: CorpusRepository,
        library: Library,
        conversations: Conversations,
        jobs: JobRepository,
        context: ContextStrategy,
        strategy: StrategyChooser,
        toolbox: ToolboxFactory,
        clock: Clock,
        history_tokens: int = DEFAULT_HISTORY_TOKENS,
    ) -> None:
        self._corpus = corpus
        self._library = library
        self._conversations = conversations
        self._jobs = jobs
        self._context = context
        self._strategy = strategy
        self._toolbox = toolbox
        self._clock = clock
        self._history_tokens = history_tokens

    async def answer(self, message: IncomingMessage, progress: ProgressSink) -> Answer:
        """An answer, whatever happens: errors people can act on become answers of status error, refused or clarify.

        Question and answer are stored in the conversation. Raises NotFound for an unknown conversation id and BadInput
        for a question that can't be one (nothing is stored then); cancelling stores an answer of status stopped.
        """
        check_question(message.text)
        started = self._clock.monotonic()
        conversation = await self._conversations.open(message)
        question = self._question_message(conversation, message)
        history = (await self._conversations.show(conversation.id, message.address.workspace))[1]
        await self._conversations.record(conversation, [question])
        steps = Steps(self._jobs, self._clock, message.address.workspace, on_change=progress.step)
        try:
            async with steps.step(JobKind.REQUEST, "answer", input=_request_input(message, question)) as request:
                answer, draft = await self._run(message, conversation, history, progress)
                request.output = {"status": answer.status.value, "footnotes": len(answer.citations)}
        except asyncio.CancelledError:
            stopped = Answer(status=AnswerStatus.STOPPED, text="Stopped.")
            await asyncio.shield(self._finish(conversation, stopped, None, steps, started))
            raise
        except FootnoteError as error:
            answer, draft = _error_answer(error), None
        return await self._finish(conversation, answer, draft, steps, started)

    async def _run(
        self,
        message: IncomingMessage,
        conversation: Conversation,
        messages: Sequence[Message],
        progress: ProgressSink,
    ) -> tuple[Answer, Draft]:
        strategy = self._strategy(message)
        direct, reading = await self._reading(message, conversation)
        history = await self._context.select(messages, reading.scope, self._history_tokens)
        draft = await strategy.draft(message, history, self._toolbox(reading), progress)
        proved = prove(draft, await self._live_pages(draft, reading.scope))
        answer = _to_answer(draft, proved, direct, message.text)
        if answer.status is AnswerStatus.ANSWERED and answer.citations:
            found = await suggest(message.text, answer.citations, self._corpus, self._library, reading.scope)
            answer = replace(answer, suggestions=found)
        return answer, draft

    async def _reading(self, message: IncomingMessage, conversation: Conversation) -> tuple[list[Reference], Reading]:
        """The scope (computed anew for each question), the document asked about, and what the question links to."""
        scope = await scope_for(message.address.workspace, self._corpus)
        document = await self._document(message, conversation, scope)
        if message.position:
            name, place = split_position(message.position)
            bounded = await self._library.find_document(name, scope) if name else document
            scope = replace(scope, positions=await positions_for(place, bounded, self._corpus, scope))
        direct, linked = await direct_references(message.text, self._library, scope)
        focus = live_focus(conversation.focus, self._clock.now())
        return direct, Reading(scope=scope, focus=focus, document=document, linked=tuple(linked))

    async def _document(
        self, message: IncomingMessage, conversation: Conversation, scope: SearchScope
    ) -> Document | None:
        if message.document:
            return await self._library.find_document(message.document, scope)
        if message.journal:
            return await self._library.find_journal(message.journal, scope)
        if conversation.pinned_document_id:
            return await self._corpus.get_document(conversation.pinned_document_id, scope)
        return None

    async def _live_pages(self, draft: Draft, scope: SearchScope) -> Mapping[str, Page]:
        """The pages a draft may cite, as stored this moment and within scope; those that are gone are left out."""
        pages: dict[str, Page] = {}
        for page_id in cited_page_ids(draft):
            try:
                pages[page_id] = await self._corpus.get_page(page_id, scope)
            except NotFound:
                continue  # replaced or withdrawn while the answer was written: its claims lose their footnotes
        return pages

    def _question_message(self, conversation: Conversation, message: IncomingMessage) -> Message:
        return Message(
            id=uuid.uuid4().hex,
            conversation_id=conversation.id,
            role=Role.USER,
            author=message.author,
            content=message.text,
            created_at=self._clock.now(),
        )

    async def _finish(
        self, conversation: Conversation, answer: Answer, draft: Draft | None, steps: Steps, started: float
    ) -> Answer:
        """Store the answer with its tool calls, move the focus, and complete the answer object."""
        now = self._clock.now()
        shown = Message(
            id=uuid.uuid4().hex,
            conversation_id=conversation.id,
            role=Role.ASSISTANT,
            author=BOT_NAME,
            content=answer.text,
            created_at=now,
            references=answer.references,
            citations=answer.citations,
            job_id=steps.jobs[0].id if steps.jobs else None,
            status=answer.status.value,
        )
        between = messages_of_draft(draft, conversation.id, now) if draft else []
        await self._conversations.record(conversation, [*between, shown])
        await self._conversations.refocus(conversation, answer.citations)
        total = (self._clock.monotonic() - started) * 1000
        return replace(
            answer,
            conversation_id=conversation.id,
            message_id=shown.id,
            jobs=steps.jobs,
            timings_ms={"total": round(total, 1), **_timings(steps)},
        )


def _request_input(message: IncomingMessage, question: Message) -> dict[str, object]:
    """What the request job records, so that people understand it and it can be asked again (core/jobs.py)."""
    options = {
        "document": message.document,
        "journal": message.journal,
        "position": message.position,
        "model": message.model,
        "strategy": message.strategy,
    }
    return {
        "question": shorten(message.text, 200),
        "conversation_id": question.conversation_id,
        "message_id": question.id,
        "query_type": message.query_type.value,
        **{name: value for name, value in options.items() if value},
    }


def check_question(text: str) -> None:
    """Raises BadInput for what can't be a question: nothing to read in it, or far too much."""
    if not any(character.isalnum() for character in text):
        raise BadInput("The question is empty: write what you want to know.")
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise BadInput(
            f"The question has {len(text):,} characters, more than the {MAX_QUESTION_CHARACTERS:,} allowed: "
            "put long texts into the library and ask about them."
        )


def _to_answer(draft: Draft, proved: ProvedText, direct: Sequence[Reference], question: str) -> Answer:
    """The draft with proved footnotes, unsupported claims marked, and the status that follows from what is proved."""
    references = (*direct, *search_references(draft.evidence, proved.citations))
    common = Answer(
        status=AnswerStatus.ANSWERED,
        text=proved.text.strip(),
        citations=proved.citations,
        references=references,
        partial=draft.partial,
        usage=draft.usage,
        model=draft.model,
    )
    if draft.choices:
        return replace(common, status=AnswerStatus.CLARIFY, choices=draft.choices, citations=())
    behind = _texts_behind(draft, proved)
    grounding = ground(common.text, behind, question)
    if proved.citations:
        text = f"{grounding.text}\n\n{PARTIAL_NOTE}" if draft.partial else grounding.text
        return replace(common, text=text, unsupported=grounding.unsupported, grounded=not grounding.unsupported)
    if draft.evidence.searches or draft.new_messages:
        text = common.text if only_says_not_found(common.text) else _not_found(draft, references)
        return replace(common, status=AnswerStatus.NOT_FOUND, text=text)
    return replace(common, text=f"{common.text}\n\n{NOT_FROM_DOCUMENTS}")


def _texts_behind(draft: Draft, proved: ProvedText) -> dict[int, list[str]]:
    """The quote and its whole passage, by footnote number."""
    passages = draft.evidence.passages
    return {c.number: [c.quote, passages[c.passage_id].source.passage.text] for c in proved.citations}


def _not_found(draft: Draft, references: Sequence[Reference]) -> str:
    searches = ", ".join(f"“{search}”" for search in dict.fromkeys(draft.evidence.searches))
    text = "I found nothing in the documents that answers this."
    text += f" I searched for {searches}." if searches else ""
    return f"{text} The closest I saw: {labels(references[:3])}." if references else text


def _error_answer(error: FootnoteError) -> Answer:
    if isinstance(error, Ambiguous):
        return Answer(status=AnswerStatus.CLARIFY, text=str(error), choices=error.candidates)
    status = AnswerStatus.REFUSED if isinstance(error, ProviderRefused) else AnswerStatus.ERROR
    return Answer(status=status, text=str(error))


def _timings(steps: Steps) -> dict[str, float]:
    def spent(*kinds: JobKind) -> float:
        return round(sum(job.duration_ms or 0 for job in steps.jobs if job.kind in kinds), 1)

    return {"retrieval": spent(JobKind.TOOL), "model": spent(JobKind.PLANNING, JobKind.SYNTHESIS)}
