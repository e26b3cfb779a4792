"""Preparation of a chat platform's question: earlier messages of its thread, and its files."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.answering.answers.stored import NAMESPACE
from core.answering.pipeline import Question
from core.domain.conversation import Focus, Message, Role
from core.domain.corpus import Document
from core.domain.incoming import Attachment, IncomingMessage, Talk
from core.domain.jobs import JobKind
from core.domain.service import InboxEntry
from core.errors import FootnoteError, StorageError
from core.knowledge.attachments import Attachments, ReadFiles, in_time
from core.ports import Clock
from core.ports.service import InboxStore, ThreadReader
from core.text.asking import is_follow_up
from core.text.courtesies import read_courtesies

TALK_LIMIT = 30  # messages of a thread that are read when the bot is called into it
_NO_TALK = frozenset({"own_message", "another_bot", "command"})  # codes of decisions
TALK_SECONDS = 20.0  # for all of them: an answer without them is better than none


class Preparation:
    """Message, opened conversation -> `asked` with readable files, `before`, `notes`, `focus`.

    Reads earlier messages of the thread and attached files, as steps of the job tree. A failed part becomes a note.
    """

    def __init__(
        self,
        readers: Mapping[str, ThreadReader],
        clock: Clock,
        inbox: InboxStore,
        attachments: Attachments | None = None,
    ) -> None:
        """`readers` of the platforms that it runs for, by name; without `attachments`, files are listed as left out."""
        self._readers = readers
        self._clock = clock
        self._inbox = inbox
        self._attachments = attachments

    async def __call__(self, question: Question) -> None:
        message = question.message
        reader = self._readers[message.address.platform]
        before, notes = await self._talk(question, reader)
        if message.about is not None:
            about = _talk_message(message.about, question.conversation.conversation.id)
            before = [*(item for item in before if item.id != about.id), about]
        read = await self._files(question, reader) if message.attachments else ReadFiles()
        question.asked = replace(message, attachments=tuple(_as_attachment(document) for document in read.documents))
        question.before = tuple(before)
        question.notes = (*notes, *read.notes)
        question.focus = self._focus_on(read.documents)

    async def _talk(self, question: Question, reader: ThreadReader) -> tuple[list[Message], Sequence[str]]:
        """Return people's messages since the last answer, or before the bot was called, with notes for people.

        The talk of a channel is only read for a question that leans on it.
        """
        message, opened = question.message, question.conversation
        if opened.is_recorded or message.private or not (_is_in_talk(message) or _leans(message.text)):
            return [], ()
        last = next((item for item in reversed(opened.history) if item.role is Role.ASSISTANT), None)
        asked = await self._since(message) if last is not None else frozenset[str]()
        if asked is None:
            return [], ()
        try:
            async with question.observer.root.step(JobKind.PLANNING, "read what was said before") as reading:
                talk = await in_time(reader.talk_before(message, TALK_LIMIT), TALK_SECONDS)
                reading.output = {"messages": len(talk)}
        except StorageError:
            raise
        except FootnoteError as error:
            return [], (f"I could not read what was said here before: {str(error).rstrip('.')}.",)
        new = [said for said in talk if said.text.strip() and (last is None or said.message_id in asked)]
        return [_talk_message(said, opened.conversation.id) for said in new], ()

    async def _since(self, message: IncomingMessage) -> frozenset[str] | None:
        """Return the ids of messages that were left to people since the last question; None without any.

        Only then the platform is asked for their texts, which the inbox doesn't keep.
        """
        address = message.address
        found = await self._inbox.recent(address.workspace, address=address, limit=TALK_LIMIT * 2)
        between = [entry for entry in _before(found, message) if entry.decision.code not in _NO_TALK]
        return frozenset(entry.message_key.rpartition(":")[2] for entry in between) or None

    async def _files(self, question: Question, reader: ThreadReader) -> ReadFiles:
        if self._attachments is None:
            names = ", ".join(attachment.name for attachment in question.message.attachments)
            return ReadFiles(notes=(f"I can't read files here, so I left out {names}.",))
        return await self._attachments.read(question.message, reader, question.observer.root)

    def _focus_on(self, documents: Sequence[Document]) -> Focus | None:
        """A question with files is about them first."""
        if not documents:
            return None
        first = documents[0]
        return Focus(document_id=first.id, document=first.path, title=first.title, touched_at=self._clock.now())


def _before(entries: Sequence[InboxEntry], message: IncomingMessage) -> Sequence[InboxEntry]:
    """Return the entries (newest first) between a message and the question before it."""
    place = next((place for place, entry in enumerate(entries) if entry.event_key == message.event_key), -1)
    earlier = entries[place + 1 :]
    end = next((place for place, entry in enumerate(earlier) if entry.decision.accepted), len(earlier))
    return earlier[:end]


def _is_in_talk(message: IncomingMessage) -> bool:
    """Return whether a message is in a thread, which has one subject, and not in a channel."""
    said = message.circumstances
    return said.in_thread or said.in_our_thread or said.direct


def _leans(text: str) -> bool:
    return is_follow_up(read_courtesies(text).rest)


def _as_attachment(document: Document) -> Attachment:
    """A file that was read, under the name its document has."""
    return Attachment(name=document.path, size_bytes=document.stamp.size if document.stamp else 0, reference="")


def _talk_message(talk: Talk, conversation_id: str) -> Message:
    """Return a platform message for the history: once in a conversation, for any number of reads."""
    said = f"talk:{conversation_id}:{talk.message_id}".encode("utf-8", "replace").decode()
    return Message(
        id=uuid.uuid5(NAMESPACE, said).hex,
        conversation_id=conversation_id,
        role=Role.USER,
        author=talk.author,
        content=talk.text,
        created_at=talk.said_at,
    )
