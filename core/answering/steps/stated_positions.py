"""Reading positions that people state in chat: "I've finished chapter 5 of Emma" is stored, not looked up.

The whole message has to be such a statement: a speaker, a chapter or page (core/access/positions/named_places.py),
perhaps the book, and nothing else. It sets the speaker's own position, as /position does.
"""

import re
from dataclasses import dataclass

from core.access.positions.named_places import MODE, SPEAKER, TARGET, place_of
from core.access.positions.places import KINDS
from core.access.positions.reading import describe_position, positions_for
from core.access.scopes import Access
from core.answering.pipeline import Question
from core.domain.answer import Answer, AnswerStatus
from core.domain.corpus import Document, SearchScope
from core.domain.incoming import IncomingMessage
from core.domain.service import TO_THE_END, PersonAddress
from core.errors import Ambiguous, BadInput, NotFound
from core.knowledge.library import Library
from core.ports import Clock, CorpusRepository
from core.ports.service import SettingsRepository
from core.text.words import collapse
from core.work.conversations import Conversations, live_focus

LONGEST = 200  # characters: more is more than a statement
WHICH_BOOK = "Which book do you mean? Write it with the book: “I've finished chapter 5 of Emma”, or use /position."

_OPENING = r"(?:(?:hi|hello|hey|ok(?:ay)?|so|well|fyi|note|great|by the way|btw|just so you know)[,!.:]?\s+)*"
_BOOK = r"(?:\s*,?\s*(?:of|in|from)\s+(?:the (?:book|novel)\s+)?(?P<book>[^?]+?))?"
_SPOKEN = rf"(?:{SPEAKER}\s+(?:{MODE}\s++)+|(?:just\s+)?(?:finished|done with)\s+)"
_SO_FAR = re.compile(rf"{_OPENING}(?P<place>{_SPOKEN}{TARGET}){_BOOK}\s*[.!]*", re.IGNORECASE)
_ALL_OF_IT = re.compile(
    rf"{_OPENING}{SPEAKER}\s+(?:just\s+|now\s+|finally\s+)*"
    r"(?:finished(?: reading)?|completed|read all of|reached the end of)"
    r"\s+(?:the (?:book|novel)\s+)?(?P<book>[^?0-9][^?]*?)\s*[.!]*",
    re.IGNORECASE,
)
# "I've finished 5" may be of anything: a number has to be that of a chapter or a page.
_LAST_TWO = re.compile(r".*?(\S+)\s+[0-9]+")
_COUNTED = re.compile(rf"(?:{KINDS}|pages?|pgs?|p|no|number)\.?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement of a reading position in a question."""

    place: str
    book: str | None  # as they call it; None: the one that is talked about
    is_whole: bool = False  # all of it: so only where a position is kept in it, as other things are finished, too


def read_statement(text: str) -> Statement | None:
    """None for anything else. Pure."""
    said = collapse(text)
    if len(said) > LONGEST or "\n" in text.strip():
        return None
    if (found := _SO_FAR.fullmatch(said)) is not None and _is_counted(found["place"]):
        return Statement(place=found["place"], book=_name(found["book"]))
    if (found := _ALL_OF_IT.fullmatch(said)) is not None:
        return Statement(place="the end", book=_name(found["book"]), is_whole=True)
    return None


class StatedPosition:
    """Message that only states a reading position -> a confirmation, after storing the position."""

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

    async def __call__(self, question: Question) -> Answer | None:
        statement = read_statement(question.message.text)
        if statement is None:
            return None
        try:
            return await self._remember(statement, question.message)
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


def _is_counted(place: str) -> bool:
    last = _LAST_TWO.fullmatch(place)
    return last is None or _COUNTED.fullmatch(last[1]) is not None


def _name(text: str | None) -> str | None:
    name = (text or "").strip(" \"'“”‘’«»")
    return name or None
