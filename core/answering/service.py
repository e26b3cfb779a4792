"""The use case: a question in, a proved answer out. Read `_run` from top to bottom."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from core.access.scopes import Access
from core.answering.answers.building import NOT_FROM_DOCUMENTS as NOT_FROM_DOCUMENTS
from core.answering.answers.building import PARTIAL_NOTE as PARTIAL_NOTE
from core.answering.answers.building import bounded, build_answer, build_error_answer, with_notes
from core.answering.answers.history import messages_of_draft
from core.answering.answers.live_pages import live_pages
from core.answering.answers.stored import BOT_NAME as BOT_NAME
from core.answering.answers.stored import (
    answer_message,
    question_message,
    request_input,
    settled_request,
    stored_ids,
    timings,
    to_answer,
)
from core.answering.answers.suggestions import suggest
from core.answering.answers.typed import prove_typed
from core.answering.question_scope import QuestionScopes
from core.answering.redaction import withheld
from core.domain.answer import Answer, AnswerStatus, Draft
from core.domain.conversation import Conversation, Focus, IncomingMessage, Message
from core.domain.corpus import Document, SearchScope
from core.domain.jobs import Job, JobKind, JobStatus
from core.errors import FootnoteError
from core.features.replay.cassettes import Cassettes
from core.features.replay.recording import Recording, note_proof, watched
from core.knowledge.library import Library
from core.knowledge.references.linked_context import LinkedContext
from core.knowledge.references.service import Links, References
from core.ports import Clock, ContextStrategy, CorpusRepository, ProgressSink, RetrievalStrategy, Tools
from core.ports.service import JobRepository
from core.work.attempts import ONLY_ATTEMPT, Opened, Prepared
from core.work.attempts import Attempt as Attempt
from core.work.conversations import Conversations, live_focus
from core.work.questions import MAX_QUESTION_CHARACTERS as MAX_QUESTION_CHARACTERS
from core.work.questions import as_asked
from core.work.questions import check_question as check_question
from core.work.retries import is_transient
from core.work.steps import Steps, forget_kept

# Room for the history in the prompt; the rest of the window is for tools and the answer.
DEFAULT_HISTORY_TOKENS = 12_000
STOPPED = Answer(status=AnswerStatus.STOPPED, text="Stopped.")
CUT_OFF = "The process ended in the middle of this step."


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one question may read and looks at first; everything its tools need to be bound to."""

    scope: SearchScope
    focus: Focus | None
    document: Document | None  # the only one to answer from; None: the whole library
    linked: tuple[Document, ...] = ()  # named by [[links]] in the question, or in questions shortly before it
    offer: LinkedContext | None = None  # what is offered of those before anything is looked up


class Answering(Protocol):
    """What a worker needs of AnswerService; what counts or limits answers stands around it in the same form."""

    async def answer(self, message: IncomingMessage, progress: ProgressSink, attempt: Attempt) -> Answer: ...

    async def settle(self, message: IncomingMessage, answer: Answer) -> Answer: ...


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
        access: Access,
        library: Library,
        conversations: Conversations,
        jobs: JobRepository,
        context: ContextStrategy,
        strategy: StrategyChooser,
        toolbox: ToolboxFactory,
        clock: Clock,
        references: References | None = None,
        cassettes: Cassettes | None = None,
        history_tokens: int = DEFAULT_HISTORY_TOKENS,
    ) -> None:
        """Without `references`, links in questions are words like others; without `cassettes` no run is recorded."""
        self._corpus = corpus
        self._scopes = QuestionScopes(access, library, corpus)
        self._library = library
        self._conversations = conversations
        self._jobs = jobs
        self._context = context
        self._strategy = strategy
        self._toolbox = toolbox
        self._clock = clock
        self._references = references
        self._cassettes = cassettes
        self._history_tokens = history_tokens

    async def answer(self, message: IncomingMessage, progress: ProgressSink, attempt: Attempt = ONLY_ATTEMPT) -> Answer:
        """An answer, whatever happens: errors people can act on become answers of status error, refused or clarify.

        Question and answer are stored in the conversation, once for each event: a question whose answer is stored
        already gets that one again. Raises NotFound for an unknown conversation id and BadInput for a question that
        can't be one (nothing is stored then); cancelling stores an answer of status stopped.
        """
        started = self._clock.monotonic()
        opened = await self._open(message)
        if opened.stored is not None:
            return await self._again(opened.stored)
        earlier = await self._end_steps_of_the_dead(stored_ids(message).request) if attempt.number > 1 else []
        steps = Steps(self._jobs, self._clock, message.address.workspace, progress.step, attempt.number, earlier)
        request = steps.step(
            JobKind.REQUEST,
            "answer",
            input=request_input(message, opened.conversation.id),
            key=stored_ids(message).request,
        )
        recording = Recording()
        try:
            async with request:
                prepared = await self._prepare(message, opened, attempt)
                with recording.running():
                    answer, draft = await self._run(prepared, opened, progress)
                request.output = {"status": answer.status.value, "footnotes": len(answer.citations)}
        except asyncio.CancelledError:
            if attempt.is_stopped():
                await asyncio.shield(self._end(message, opened, STOPPED, steps.jobs, started))
            raise
        except FootnoteError as error:
            if is_transient(error) and not attempt.is_last:
                raise
            return await self._end(message, opened, build_error_answer(error), steps.jobs, started)
        finished = await self._finish(message, opened.conversation, answer, draft, steps.jobs, started)
        # A later try takes over what earlier ones did, without doing it: that is no whole recording.
        if self._cassettes is not None and attempt.number == 1 and (cassette := recording.cassette(answer)):
            self._cassettes.keep(finished.message_id, cassette)
        return finished

    async def settle(self, message: IncomingMessage, answer: Answer) -> Answer:
        """The stored answer of a question; where there is none, this one is stored as it. Raises as `answer` does."""
        started = self._clock.monotonic()
        opened = await self._open(message)
        if opened.stored is not None:
            return await self._again(opened.stored)
        jobs = await self._end_steps_of_the_dead(stored_ids(message).request)
        if not jobs:
            jobs = [settled_request(message, opened.conversation.id, answer, self._clock.now())]
            await self._jobs.save(*jobs)
        return await self._end(message, opened, answer, jobs, started)

    async def _open(self, message: IncomingMessage) -> Opened:
        """The conversation of the question, and how far the history has it."""
        check_question(message.text)
        thread = await self._conversations.thread_of(message)
        conversation, messages = thread.conversation, thread.messages
        question = question_message(message, conversation.id, self._clock.now())
        place = next((place for place, item in enumerate(messages) if item.id == question.id), None)
        if place is None:
            return Opened(
                conversation=conversation, question=question, history=messages, is_recorded=False, is_new=thread.is_new
            )
        answer_id = stored_ids(message).answer
        stored = next((item for item in messages[place:] if item.id == answer_id), None)
        return Opened(
            conversation=conversation, question=question, history=messages[:place], is_recorded=True, stored=stored
        )

    async def _prepare(self, message: IncomingMessage, opened: Opened, attempt: Attempt) -> Prepared:
        """Make the question ready and record it, with what was said before it, where it is not recorded yet."""
        prepared = await attempt.prepare(message, opened) if attempt.prepare else Prepared(message=message)
        if not opened.is_recorded:
            known = {item.id for item in opened.history}
            new = [item for item in prepared.before if item.id not in known]
            await self._record(opened, [*new, opened.question])
        return prepared

    async def _record(self, opened: Opened, messages: Sequence[Message]) -> None:
        """Store what was said, with the conversation where this begins it."""
        if opened.is_new:
            await self._conversations.begin(opened.conversation, messages)
        else:
            await self._conversations.record(opened.conversation, messages)

    async def _end(
        self, message: IncomingMessage, opened: Opened, answer: Answer, jobs: Sequence[Job], started: float
    ) -> Answer:
        """Store an answer that no run gave, and before it the question where a try did not come that far."""
        now = await self._open(message)
        if now.stored is not None:
            return await self._again(now.stored)
        if not now.is_recorded:
            now = opened if now.is_new else now  # the one whose id the jobs have
            await self._record(now, [now.question])
        return await self._finish(message, now.conversation, answer, None, jobs, started)

    async def _again(self, stored: Message) -> Answer:
        return to_answer(stored, await self._jobs.list_tree(stored.job_id) if stored.job_id else [])

    async def _end_steps_of_the_dead(self, request_id: str) -> list[Job]:
        """End what an earlier try left running, as the process that ran it is gone. Gives the tree, as far as it came.

        A post is left alone: it is still to be made.
        """
        now = self._clock.now()
        jobs = [
            job
            if job.status.is_final or job.kind is JobKind.POST
            else replace(job, status=JobStatus.FAILED, error=CUT_OFF, completed_at=now)
            for job in await self._jobs.list_tree(request_id)
        ]
        await self._jobs.save(*jobs)
        return jobs

    async def _run(self, prepared: Prepared, opened: Opened, progress: ProgressSink) -> tuple[Answer, Draft]:
        message = as_asked(prepared.message)
        conversation = replace(opened.conversation, focus=prepared.focus or opened.conversation.focus)
        last = {item.id for item in prepared.before}
        messages = [*(item for item in opened.history if item.id not in last), *prepared.before]
        strategy = self._strategy(message)
        reading = await self._reading(message, conversation)
        messages = await withheld(messages, reading.scope, self._corpus, questions=True)
        links = await self._links(message, messages, reading)
        reading = replace(reading, linked=links.documents, offer=links.offer)
        history = await self._context.select(messages, reading.scope, self._history_tokens)
        tools = watched(self._toolbox(reading), message, history)
        draft = await strategy.draft(message, history, tools, progress)
        pages = await live_pages(draft, self._corpus, reading.scope)
        note_proof(pages, links.references, (*prepared.notes, *links.notes))
        draft, proved = prove_typed(draft, pages)
        answer = build_answer(draft, proved, links.references, message.text)
        if self._references is not None:
            answer = await self._references.described(answer, reading.scope)
        if answer.status is AnswerStatus.ANSWERED and answer.citations:
            found = await suggest(message.text, answer.citations, self._corpus, self._library, reading.scope)
            answer = replace(answer, suggestions=found)
        answer = bounded(answer, reading.scope.positions)
        return with_notes(answer, (*prepared.notes, *links.notes)), draft

    async def _links(self, message: IncomingMessage, messages: Sequence[Message], reading: Reading) -> Links:
        if self._references is None:
            return Links()
        return await self._references.of(message, messages, reading.scope, reading.document)

    async def _reading(self, message: IncomingMessage, conversation: Conversation) -> Reading:
        """The scope (computed anew for each question), and the document asked about."""
        scope = await self._scopes.of(message)
        document = await self._document(message, conversation, scope)
        scope = await self._scopes.up_to(message, document, scope)
        focus = live_focus(conversation.focus, self._clock.now())
        return Reading(scope=scope, focus=focus, document=document)

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

    async def _finish(
        self,
        message: IncomingMessage,
        conversation: Conversation,
        answer: Answer,
        draft: Draft | None,
        jobs: Sequence[Job],
        started: float,
    ) -> Answer:
        """Store the answer with its tool calls, move the focus, and complete the answer object."""
        now = self._clock.now()
        await forget_kept(jobs, self._jobs)  # no other try comes, after a failure either
        shown = answer_message(answer, message, conversation.id, jobs[0].id if jobs else None, now)
        between = messages_of_draft(draft, conversation.id, now) if draft else []
        await self._conversations.record(conversation, [*between, shown], answer.citations)
        return replace(
            answer,
            conversation_id=conversation.id,
            message_id=shown.id,
            jobs=tuple(jobs),
            timings_ms={"total": round((self._clock.monotonic() - started) * 1000, 1), **timings(jobs)},
        )
