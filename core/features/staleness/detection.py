"""Detection of stale answers: compare cited documents, mark answers, queue one note for each thread.

The comparison relies on stored state, not on events: an answer is compared again whenever its document's live revision
differs from the one compared last. Any process may change the library, and a kill loses nothing: a comparison that was
not recorded runs again, and a note that was not handed over is handed over again under the same key.
"""

import asyncio
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby

from core.answering.answers.quote_location import lost_quotes
from core.answering.answers.stored import BOT_NAME
from core.domain.answer import Citation
from core.domain.conversation import NOTE_ON, Conversation, IncomingMessage, Message, Role, message_key
from core.domain.features import OUT, Checked, DueNote, LiveTexts, StaleAnswer, Unchecked
from core.domain.service import Decision, Listening
from core.ports import Clock, ConversationRepository
from core.ports.service import InboxStore, SettingsRepository, StaleRepository

NOTE_DUE = Decision(code="note", sentence="Answers here are stale: I say so in a note.", accepted=True)
NOTE_TEXT = "(a note about stale answers)"
# Characters of documents kept between the conversations of one comparison: some hundred documents, or ten books.
KEPT_CHARACTERS = 10_000_000


class Staleness:
    """`noted` are the platforms whose threads get notes; others show marks only (lists, exports, JSON)."""

    def __init__(
        self,
        repository: StaleRepository,
        *,
        conversations: ConversationRepository,
        inbox: InboxStore,
        settings: SettingsRepository,
        clock: Clock,
        noted: Collection[str],
    ) -> None:
        self._repository = repository
        self._conversations = conversations
        self._inbox = inbox
        self._settings = settings
        self._clock = clock
        self._noted = frozenset(noted)
        self._one_at_a_time = asyncio.Lock()

    async def check(self) -> int:
        """Compare changed documents and hand over due notes; return the number of notes.

        Each conversation gets at most one note for each run. Safe to repeat, to interrupt and to run in several
        processes. Raises StorageError.
        """
        async with self._one_at_a_time:
            await self._compare()
            return sum([await self._hand_over(note) for note in await self._repository.due_notes()])

    async def list_stale(self, workspace: str, conversation_id: str | None = None) -> list[StaleAnswer]:
        """Stale answers with their questions, as of now; those whose question was asked again since are left out."""
        async with self._one_at_a_time:
            await self._compare()
        found = await self._repository.list_stale(workspace, conversation_id)
        asked = [await self._with_question(item) for item in found]
        return [item for item in asked if item is not None]

    async def _compare(self) -> None:
        texts = _Texts(self._repository)
        unchecked = await self._repository.list_unchecked()
        for conversation_id, items in groupby(unchecked, key=lambda item: item.conversation_id):
            messages = {message.id: message for message in await self._conversations.list_messages(conversation_id)}
            checked = [
                await _compared(item, messages[item.message_id], texts) for item in items if item.message_id in messages
            ]
            await self._repository.record(conversation_id, checked, new_note_id(self._clock.now()))

    async def _hand_over(self, note: DueNote) -> bool:
        """Durable in the inbox first, under a key that is the note's own; only then it is taken care of."""
        wanted = await self._is_wanted(note.conversation)
        if wanted:
            await self._inbox.accept(to_incoming(note), NOTE_DUE)
        await self._repository.note_done(note.id)
        return wanted

    async def _is_wanted(self, conversation: Conversation) -> bool:
        if conversation.address.platform not in self._noted:
            return False
        return await self._settings.listening(conversation.address) is not Listening.MUTED

    async def _with_question(self, item: StaleAnswer) -> StaleAnswer | None:
        """Return None if the same question was asked and answered again."""
        messages = await self._conversations.list_messages(item.conversation.id)
        question = question_before(messages, item.message.id)
        if question is not None and _is_asked_again(messages, item.message.id, question):
            return None
        return replace(item, question=question.content if question else "")


def new_note_id(now: datetime) -> str:
    """Return seconds of the Unix epoch with a unique fraction: a note's post sorts below this moment."""
    return f"{int(now.timestamp())}.{uuid.uuid4().int:039d}"


def to_incoming(note: DueNote) -> IncomingMessage:
    """The note as an entry of its thread's queue: behind the questions that wait there."""
    address = note.conversation.address
    key = message_key(address, note.id)
    return IncomingMessage(
        address=address,
        author=BOT_NAME,
        text=NOTE_TEXT,
        event_key=key,
        message_key=key,
        conversation_id=note.conversation.id,
        metadata={NOTE_ON: " ".join(note.message_ids)},
    )


def question_before(messages: Sequence[Message], answer_id: str) -> Message | None:
    """Return the question of an answer, or None if the history no longer has it."""
    question = None
    for message in messages:
        if message.id == answer_id:
            return question
        if message.role is Role.USER:
            question = message
    return None


def stale_questions(messages: Sequence[Message]) -> Mapping[str, str]:
    """Id -> question of the stale answers of a conversation whose question was not asked again since."""
    found = {item.id: question_before(messages, item.id) for item in messages if item.stale}
    return {
        id: question.content
        for id, question in found.items()
        if question and not _is_asked_again(messages, id, question)
    }


def _is_asked_again(messages: Sequence[Message], answer_id: str, question: Message) -> bool:
    place = next(place for place, item in enumerate(messages) if item.id == answer_id)
    later = messages[place + 1 :]
    return any(
        item.role is Role.USER
        and item.content == question.content
        and any(after.role is Role.ASSISTANT and not after.is_note for after in later[number + 1 :])
        for number, item in enumerate(later)
    )


class _Texts:
    """A bounded cache of live document texts for many conversations."""

    def __init__(self, repository: StaleRepository) -> None:
        self._repository = repository
        self._known: dict[str, LiveTexts | None] = {}
        self._characters = 0

    async def of(self, document_id: str) -> LiveTexts | None:
        if document_id not in self._known:
            if self._characters > KEPT_CHARACTERS:
                self._known.clear()
                self._characters = 0
            live = self._known[document_id] = await self._repository.live_texts(document_id)
            self._characters += sum(map(len, live.texts.values())) if live else 0
        return self._known[document_id]


async def _compared(item: Unchecked, message: Message, texts: _Texts) -> Checked:
    citations = [citation for citation in message.citations if citation.document_id == item.document_id]
    if item.live_revision and all(citation.revision == item.live_revision for citation in citations):
        return _to_checked(item, item.live_revision, citations, LiveTexts(revision=item.live_revision, texts={}))
    live = await texts.of(item.document_id)
    return _to_checked(item, live.revision if live else OUT, citations, live)


def _to_checked(item: Unchecked, revision: str, citations: Sequence[Citation], live: LiveTexts | None) -> Checked:
    return Checked(
        message_id=item.message_id,
        document_id=item.document_id,
        was=item.checked_revision,
        revision=revision,
        lost=lost_quotes(citations, live),
        is_old=item.is_old,
    )
