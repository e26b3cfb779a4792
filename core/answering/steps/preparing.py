"""What a chat platform's question needs before it is answered: the talk around it, its files, its channel's language.

Stands around the answer service in the same form. Its parts run as steps of the question's own tree; one that fails is
a failed step and one sentence in the answer, and the answer goes on. An edited question takes the place of its earlier
versions here, and one that is withdrawn in the middle leaves nothing behind.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.answering.answers.stored import talk_message
from core.answering.deletion import forget_turns
from core.answering.service import Answering, Attempt
from core.domain.answer import Answer
from core.domain.conversation import Attachment, ChannelAddress, Focus, IncomingMessage, Message, Role
from core.domain.corpus import Document
from core.domain.jobs import JobKind
from core.errors import FootnoteError, StorageError
from core.knowledge.attachments import Attachments, ReadFiles, in_time
from core.ports import Clock, ProgressSink
from core.ports.service import InboxStore, SettingsRepository, ThreadReader
from core.work.attempts import Opened, Prepared
from core.work.conversations import Conversations
from core.work.steps import step

TALK_LIMIT = 30  # messages of a thread that are read when the bot is called into it
TALK_SECONDS = 20.0  # for all of them: an answer without them is better than none


class PreparedAnswers:
    """Implements Answering. Of questions of platforms without a reader in `readers` nothing is made
    ready but how their channel wants them answered.
    """

    def __init__(
        self,
        inner: Answering,
        readers: Mapping[str, ThreadReader],
        *,
        conversations: Conversations,
        inbox: InboxStore,
        settings: SettingsRepository,
        clock: Clock,
        attachments: Attachments | None = None,
    ) -> None:
        """`readers` by platform name; without `attachments` files are named as left out."""
        self._inner = inner
        self._readers = readers
        self._conversations = conversations
        self._inbox = inbox
        self._settings = settings
        self._clock = clock
        self._attachments = attachments

    async def answer(self, message: IncomingMessage, progress: ProgressSink, attempt: Attempt) -> Answer:
        """As AnswerService.answer. Cancelled because its message was withdrawn, it leaves no trace in the history."""
        settings = await self._settings.channel(ChannelAddress.of(message.address))
        message = replace(message, strategy=message.strategy or settings.strategy)
        if message.address.platform not in self._readers:
            return await self._inner.answer(message, progress, attempt)
        await self._replace_earlier(message)
        message = replace(message, language=message.language or settings.language)
        try:
            return await self._inner.answer(message, progress, replace(attempt, prepare=self._prepare))
        except asyncio.CancelledError:
            if attempt.is_withdrawn():
                await asyncio.shield(forget_turns(self._conversations, [message]))
            raise

    async def settle(self, message: IncomingMessage, answer: Answer) -> Answer:
        if message.address.platform in self._readers:
            await self._replace_earlier(message)
        return await self._inner.settle(message, answer)

    async def _replace_earlier(self, message: IncomingMessage) -> None:
        """Take the earlier versions of an edited question out of the history, with their answers."""
        if message.message_key in ("", message.event_key):
            return
        versions = [entry.incoming for entry in await self._inbox.list_versions(message.message_key)]
        first = replace(message, event_key=message.message_key)  # its entry may be purged already
        earlier = {question.event_key: question for question in [first, *versions]}
        earlier.pop(message.event_key, None)
        await forget_turns(self._conversations, list(earlier.values()))

    async def _prepare(self, message: IncomingMessage, opened: Opened) -> Prepared:
        """The parts of it, each where there is something to do; see core.work.attempts.Preparing."""
        reader = self._readers[message.address.platform]
        before, notes = await self._talk(message, opened, reader)
        if message.about is not None:
            about = talk_message(message.about, opened.conversation.id)
            before = [*(item for item in before if item.id != about.id), about]
        read = await self._files(message, reader) if message.attachments else ReadFiles()
        return Prepared(
            message=replace(message, attachments=tuple(_as_attachment(document) for document in read.documents)),
            before=tuple(before),
            notes=(*notes, *read.notes),
            focus=self._focus_on(read.documents),
        )

    async def _talk(
        self, message: IncomingMessage, opened: Opened, reader: ThreadReader
    ) -> tuple[list[Message], Sequence[str]]:
        """What people said before the bot was called into their thread: (messages, what to tell people)."""
        if opened.is_recorded or message.private or any(item.role is Role.ASSISTANT for item in opened.history):
            return [], ()
        try:
            async with step(JobKind.PLANNING, "read what was said before") as reading:
                talk = await in_time(reader.talk_before(message, TALK_LIMIT), TALK_SECONDS)
                reading.output = {"messages": len(talk)}
        except StorageError:
            raise
        except FootnoteError as error:
            return [], (f"I could not read what was said here before: {str(error).rstrip('.')}.",)
        return [talk_message(said, opened.conversation.id) for said in talk if said.text.strip()], ()

    async def _files(self, message: IncomingMessage, reader: ThreadReader) -> ReadFiles:
        if self._attachments is None:
            names = ", ".join(attachment.name for attachment in message.attachments)
            return ReadFiles(notes=(f"I can't read files here, so I left out {names}.",))
        return await self._attachments.read(message, reader)

    def _focus_on(self, documents: Sequence[Document]) -> Focus | None:
        """A question with files is about them first."""
        if not documents:
            return None
        first = documents[0]
        return Focus(document_id=first.id, document=first.path, title=first.title, touched_at=self._clock.now())


def _as_attachment(document: Document) -> Attachment:
    """A file that was read, under the name its document has."""
    return Attachment(name=document.path, size_bytes=document.stamp.size if document.stamp else 0, reference="")
