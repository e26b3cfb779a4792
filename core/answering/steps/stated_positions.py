"""Reading positions that people state in chat: "I've finished chapter 5 of Emma" is stored, not looked up.

The statement sets the speaker's own position, as /position does.
"""

from core.access.positions.named_places import place_of
from core.access.positions.reading import describe_position, positions_for
from core.access.positions.statements import Statement
from core.access.scopes import Access
from core.domain.answer import Answer, AnswerStatus
from core.domain.corpus import Document, SearchScope
from core.domain.incoming import IncomingMessage
from core.domain.service import TO_THE_END, PersonAddress
from core.errors import Ambiguous, BadInput, NotFound
from core.knowledge.library import Library
from core.ports import Clock, CorpusRepository
from core.ports.service import SettingsRepository
from core.work.conversations import Conversations
from core.work.history import live_focus

WHICH_BOOK = "Which book do you mean? Write it with the book: “I've finished chapter 5 of Emma”, or use /position."


class StatedPositions:
    """Stores the positions that people state."""

    def __init__(
        self,
        *,
        settings: SettingsRepository,
        library: Library,
        corpus: CorpusRepository,
        conversations: Conversations,
        access: Access,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._library = library
        self._corpus = corpus
        self._conversations = conversations
        self._access = access
        self._clock = clock

    async def answer(self, statement: Statement, message: IncomingMessage) -> Answer | None:
        """Store the position and confirm it. None if the message isn't about a book here."""
        try:
            return await self._remember(statement, message)
        except Ambiguous as error:
            return Answer(status=AnswerStatus.CLARIFY, text=f"{error}.")
        except BadInput as error:
            return Answer(status=AnswerStatus.CLARIFY, text=str(error))

    async def _remember(self, statement: Statement, message: IncomingMessage) -> Answer | None:
        """Return None if no book here is meant. Raises BadInput for a place that the book doesn't have."""
        workspace, address = message.address.workspace, message.address
        whole = await self._access.scope_to_the_end(workspace, address)
        person = PersonAddress(workspace=workspace, person=message.author)
        document = await self._document(statement, message, person, whole)
        if document is None:
            return (
                None if statement.book or statement.is_whole else Answer(status=AnswerStatus.CLARIFY, text=WHICH_BOOK)
            )
        held = await self._settings.positions(person)
        if statement.is_whole and document.id not in held:
            return None
        shown = await self._scope(message)
        found = await positions_for(statement.place, document, self._corpus, whole, shown)
        last = found.get(document.id, TO_THE_END)
        await self._settings.save_position(person, document.id, last)
        after = await self._scope(message)
        at = place_of(last, await self._corpus.list_pages(document.id, after)) if 0 < last < TO_THE_END else ""
        is_seen = after.positions.get(document.id, last) >= last  # a channel must not show the positions of its people
        text = describe_position(document, last, at if is_seen else "")
        if not message.is_alone:
            text += " This applies only to you."
        return Answer(status=AnswerStatus.ANSWERED, text=f"{text} To undo this, use /position with the book and “off”.")

    async def _document(
        self, statement: Statement, message: IncomingMessage, person: PersonAddress, scope: SearchScope
    ) -> Document | None:
        """Find it by name; else the conversation's subject; else the only book with a position."""
        if statement.book is not None:
            try:
                return await self._library.find_document(statement.book, scope)
            except NotFound:
                return None
        thread = await self._conversations.thread_of(message)
        focus = live_focus(thread.conversation.focus, self._clock.now())
        wanted = [thread.conversation.pinned_document_id, focus.document_id if focus is not None else None]
        held = await self._settings.positions(person)
        wanted += list(held) if len(held) == 1 else []
        for document_id in filter(None, wanted):
            try:
                return await self._corpus.get_document(document_id, scope)
            except NotFound:
                continue  # it can't be read here
        return None

    async def _scope(self, message: IncomingMessage) -> SearchScope:
        address = message.address
        return await self._access.scope(address.workspace, address, reader=message.author, alone=message.is_alone)
