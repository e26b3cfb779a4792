"""Comparisons of answers with their documents in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.domain.conversation import Conversation, Message
from core.domain.features import OUT, Checked, DueNote, LiveTexts, LostQuote, StaleAnswer, Unchecked
from storage.memory.conversations import MemoryConversationRepository
from storage.memory.corpus import MemoryCorpusRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class _Check:
    revision: str
    lost: tuple[LostQuote, ...]
    note_id: str | None


class MemoryStaleRepository:
    """StaleRepository that forgets everything with the process, over the twins of what it compares."""

    def __init__(self, conversations: MemoryConversationRepository, corpus: MemoryCorpusRepository) -> None:
        self._conversations = conversations
        self._corpus = corpus
        self._checks: dict[tuple[str, str], _Check] = {}  # by message and document

    async def list_unchecked(self) -> list[Unchecked]:
        live = dict((await self._corpus.live_revisions()).keys())
        found = [
            Unchecked(
                conversation_id=message.conversation_id,
                message_id=message.id,
                document_id=document_id,
                checked_revision=check.revision if check else None,
                live_revision=live.get(document_id, OUT),
            )
            for _, message in self._conversations.every_message()
            for document_id in sorted({citation.document_id for citation in message.citations})
            for check in [self._checks.get((message.id, document_id))]
            if check is None or check.revision != live.get(document_id, OUT)
        ]
        return sorted(found, key=lambda item: item.conversation_id)

    async def live_texts(self, document_id: str) -> LiveTexts | None:
        revision = dict((await self._corpus.live_revisions()).keys()).get(document_id)
        if revision is None:
            return None
        return LiveTexts(revision=revision, texts=self._corpus.live_texts(document_id))

    async def record(self, conversation_id: str, checked: Sequence[Checked], note_id: str) -> bool:
        news = [self._record(conversation_id, item, note_id) for item in checked]
        for message_id in {item.message_id for item in checked}:
            self._conversations.mark_stale(message_id, is_stale=bool(self._lost(message_id)))
        return any(news)

    async def due_notes(self) -> list[DueNote]:
        due: dict[str, list[tuple[Conversation, Message]]] = {}
        for conversation, message in self._conversations.every_message():
            for note_id in {check.note_id for check in self._checks_of(message.id) if check.note_id is not None}:
                due.setdefault(note_id, []).append((conversation, message))
        return [
            DueNote(id=note_id, conversation=found[0][0], message_ids=tuple(message.id for _, message in found))
            for note_id, found in sorted(due.items())
        ]

    async def note_done(self, note_id: str) -> None:
        for key, check in self._checks.items():
            if check.note_id == note_id:
                self._checks[key] = _Check(revision=check.revision, lost=check.lost, note_id=None)

    async def list_stale(self, workspace: str, conversation_id: str | None = None) -> list[StaleAnswer]:
        return [
            StaleAnswer(conversation=conversation, message=message, lost=self._lost(message.id))
            for conversation in await self._conversations.list_conversations(workspace)
            if conversation_id in (None, conversation.id)
            for message in await self._conversations.list_messages(conversation.id)
            if message.stale
        ]

    def _record(self, conversation_id: str, item: Checked, note_id: str) -> bool:
        key = item.message_id, item.document_id
        known = self._checks.get(key)
        cited = {
            (message.id, citation.document_id)
            for conversation, message in self._conversations.every_message()
            if conversation.id == conversation_id
            for citation in message.citations
        }
        if (known.revision if known else None) != item.was or key not in cited:
            return False
        is_news = bool(item.lost) and not (known and known.lost) and not item.is_old
        due = note_id if is_news else known.note_id if known else None
        self._checks[key] = _Check(revision=item.revision, lost=item.lost, note_id=due)
        return is_news

    def _lost(self, message_id: str) -> tuple[LostQuote, ...]:
        found = [quote for check in self._checks_of(message_id) for quote in check.lost]
        return tuple(sorted(found, key=lambda quote: quote.number))

    def _checks_of(self, message_id: str) -> Iterator[_Check]:
        return (check for (message, _), check in self._checks.items() if message == message_id)
