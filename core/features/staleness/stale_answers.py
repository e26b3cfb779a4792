"""Stale answers: compare cited documents, mark answers, queue one note for each thread; list them, and ask again.

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

from core.access.scopes import Access
from core.answering.answers.passages import lost_quotes
from core.answering.answers.stored import BOT_NAME, stored_ids
from core.answering.redaction import basis_of
from core.domain.answer import Citation
from core.domain.conversation import Conversation, Message, Role
from core.domain.corpus import SearchScope
from core.domain.features import OUT, Checked, DueNote, Fate, LiveTexts, StaleAnswer, Unchecked
from core.domain.incoming import NOTE_ON, IncomingMessage, again_key, message_key
from core.domain.service import Decision, InboxEntry
from core.errors import BadInput, InvalidState, NotFound
from core.ports import Clock, ConversationRepository, CorpusRepository
from core.ports.service import InboxStore, SettingsRepository, StaleRepository
from core.serializers.objects import Json
from core.text.notation import is_number
from core.text.words import shorten
from core.work.commands import Command, CommandCall, CommandResult, Option, OptionKind, Question, current, readable_by

NOTE_DUE = Decision(code="note", sentence="Answers here are stale: I say so in a note.", accepted=True)
NOTE_TEXT = "(a note about stale answers)"
# Characters of documents kept between the conversations of one comparison: some hundred documents, or ten books.
KEPT_CHARACTERS = 10_000_000
LOOKED_THROUGH = 1_000  # newest messages of a thread among which a question is looked for
TITLE_LENGTH = 80
QUESTION_LENGTH = 120
LISTED = 20  # in a chat; more is a wall

TOO_OLD = "This question is too old to ask again with a button. Send it again."
AGAIN_ALREADY = "This question is already being asked again."


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
        address = note.conversation.address
        wanted = address.platform in self._noted and not (await self._settings.listening(address)).is_muted
        if wanted:
            await self._inbox.accept(to_incoming(note), NOTE_DUE)
        await self._repository.note_done(note.id)
        return wanted

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
        live: LiveTexts | None = LiveTexts(revision=item.live_revision, texts={})
    else:
        live = await texts.of(item.document_id)
    return Checked(
        message_id=item.message_id,
        document_id=item.document_id,
        was=item.checked_revision,
        revision=live.revision if live else OUT,
        lost=lost_quotes(citations, live),
        is_old=item.is_old,
    )


async def question_again(
    entries: InboxStore, conversation: Conversation, answer: Message, *, by: str, by_name: str = ""
) -> IncomingMessage:
    """Return an answer's question, to be asked once more as it was: the next version of the same message.

    With its options, files and posting key, so that the new answer takes the old one's place; now `by` asks it.

    Made twice before it is answered it has one key: it is asked once. NotFound where the inbox has the question no
    more; InvalidState while it is being answered.
    """
    address = conversation.address
    recent = await entries.recent(address.workspace, address=address, limit=LOOKED_THROUGH)
    asked = next((entry for entry in recent if _is_answered_by(entry, answer)), None)
    if asked is None:
        raise NotFound(TOO_OLD)
    versions = await entries.list_versions(asked.message_key)
    if any(not entry.status.is_final for entry in versions):
        raise InvalidState(AGAIN_ALREADY)
    incoming = asked.incoming
    return replace(
        incoming,
        author=by,
        author_name=by_name,
        event_key=again_key(asked.message_key, f"{answer.id[:12]}-{len(versions)}"),
        message_key=asked.message_key,
        circumstances=replace(incoming.circumstances, mentioned=True, mentions_others=False, from_bot=False),
    )


def _is_answered_by(entry: InboxEntry, answer: Message) -> bool:
    return entry.decision.accepted and stored_ids(entry.incoming).answer == answer.id


async def without_closed_names(
    found: Sequence[StaleAnswer], scope: SearchScope, corpus: CorpusRepository
) -> list[StaleAnswer]:
    """Return stale answers without the names of documents that aren't in the scope, such as removed ones."""
    cited = {citation.document_id for item in found for citation in item.message.citations}
    readable = {document.id for document in await corpus.find_documents([*cited], scope)}
    shown = []
    for item in found:
        citations = (
            each if each.document_id in readable else replace(each, document="", document_title="")
            for each in item.message.citations
        )
        shown.append(replace(item, message=replace(item.message, citations=tuple(citations))))
    return shown


def told(item: StaleAnswer) -> str:
    """Describe the footnotes of an answer that its documents no longer support, by document."""
    by_document: dict[tuple[str, Fate], list[int]] = {}
    for quote in item.lost:
        cited = next((c for c in item.message.citations if c.number == quote.number), None)
        title = shorten(cited.document_title or cited.document, TITLE_LENGTH) if cited else ""
        by_document.setdefault((f"“{title}”" if title else "a document", quote.fate), []).append(quote.number)
    parts = [
        f"{title} was removed ({_footnotes(numbers)})"
        if fate is Fate.GONE
        else f"{title} no longer says what {_footnotes(numbers)} {'quote' if len(numbers) > 1 else 'quotes'}"
        for (title, fate), numbers in by_document.items()
    ]
    return "; ".join(parts) or "a document behind it was removed"


def stale_json(item: StaleAnswer) -> Json:
    """A stale answer as listed."""
    cited = {citation.number: citation for citation in item.message.citations}
    return {
        "conversation_id": item.conversation.id,
        "title": item.conversation.title,
        "thread": str(item.conversation.address),
        "message_id": item.message.id,
        "question": item.question,
        "answered_at": item.message.created_at.isoformat(),
        "lost": [
            {"number": quote.number, "fate": quote.fate.value, **_cited_json(cited.get(quote.number))}
            for quote in item.lost
        ],
    }


def _cited_json(citation: Citation | None) -> Json:
    if citation is None:
        return {}
    return {
        "source": citation.source,
        "document": citation.document,
        "document_title": citation.document_title,
        "page_number": citation.page_number,
        "quote": citation.quote,
    }


def _footnotes(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"footnotes {', '.join(first)} and {last}" if first else f"footnote {last}"


def stale_command(staleness: Staleness, access: Access, corpus: CorpusRepository) -> Command:
    """Return the row of the table about stale answers."""

    async def run(call: CommandCall) -> CommandResult:
        """Of the conversation; without one, for who may see all, of every one."""
        everywhere = call.conversation is None and call.sees_all
        listed = await staleness.list_stale(call.workspace, None if everywhere else current(call).id)
        found = await without_closed_names(listed, await readable_by(call, access), corpus)
        if wanted := call.option("number"):
            return CommandResult(text="", ask=_question(found, wanted))
        lines = [_line(number, item) for number, item in enumerate(found[:LISTED], start=1)]
        lines += [f"- and {len(found) - LISTED} more"] if len(found) > LISTED else []
        lines += ["", "Ask one again with /stale and its number."] if lines else []
        empty = "No stale answers here. Every cited passage is still in its document."
        rests_on = basis_of(item.message for item in found[:LISTED])
        return CommandResult(text="\n".join(lines) or empty, rests_on=rests_on, quotes_people=True)

    return Command(
        name="stale",
        usage="[N]",
        help="answers here whose documents have changed since; with a number, ask that one again",
        run=run,
        options=(Option(name="number", help="which one to ask again", kind=OptionKind.NUMBER),),
    )


def _question(found: list[StaleAnswer], wanted: str) -> Question:
    if not is_number(wanted) or not 1 <= int(wanted) <= len(found):
        raise BadInput(f"No stale answer {wanted[:20]!r} here. Use /stale to list them.")
    item = found[int(wanted) - 1]
    if not item.question:
        raise BadInput("The question is no longer in the history. Ask it again in your own words.")
    return Question(text=item.question, private=item.conversation.address.private_to is not None)


def _line(number: int, item: StaleAnswer) -> str:
    return f"{number}. {shorten(item.question, QUESTION_LENGTH) or '(its question was removed)'}: {told(item)}"
