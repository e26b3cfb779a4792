"""Actions on answers by button, menu or form, the same on every platform.

Every action takes the address of the interaction and the person's platform id. A private answer is only for its reader,
in any channel; other answers only accept actions in their own thread. Errors are sentences for the person who acted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.presentation.action_names import Verb, post_id
from bot.presentation.answer_text import QuoteContext
from bot.presentation.platform_parts import PlatformParts
from core.answering.answers.passages import surroundings
from core.answering.answers.stored import stored_ids
from core.answering.redaction import has_gaps, readable_steps, withheld
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import Conversation, Message, Role
from core.domain.corpus import SearchScope
from core.domain.features import Rating
from core.domain.incoming import ThreadAddress, message_key
from core.domain.jobs import Job
from core.domain.service import InboxEntry
from core.errors import AccessDenied, BadInput, NotFound
from core.features.kept_answers import FOR_ONE, Said, proposed
from core.features.staleness.stale_answers import question_again
from core.text.notation import is_number
from core.work.commands import Question

NO_ACTION = "This button is from an earlier version. Ask again."
NO_ANSWER = "Only answers can be kept. Choose a message with an answer's buttons."
NOWHERE = "Answers can't be kept here: this Footnote has nowhere to keep them."
SEARCHED_ENTRIES = 50  # newest entries of a thread among which a running question is searched for
_THANKS = {
    Rating.UP: "Noted as helpful: thank you.",
    Rating.DOWN: (
        "Noted as not helpful: thank you. Ask in other words, or look at how it was answered; an admin can keep it as "
        "a regression case with /case."
    ),
}
NO_LONGER_READABLE = "The pages behind this answer are no longer readable here. Ask again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """An answer with the footnotes that its thread may read; both mappings are by footnote number."""

    answer: Answer
    around: Mapping[int, QuoteContext]
    links: Mapping[int, str]  # addresses of footnotes; those without one are omitted


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformMessage:
    """A message on the platform to keep as an answer."""

    text: str
    link: str  # its web address
    is_ours: bool  # the bot wrote it
    is_direct: bool  # it is in a direct channel
    id: str  # the platform's, unique in its channel
    by: str = ""  # the platform's id of its author
    by_name: str = ""
    is_closed: bool = False  # it is in a thread with fewer readers than its channel
    answer_id: str | None = None  # the stored answer in it, if any


class AnswerActions:
    def __init__(self, parts: PlatformParts) -> None:
        self._parts = parts

    async def answer(self, place: ThreadAddress, reader: str, message_id: str) -> tuple[Conversation, Message]:
        """Return the stored answer of a button. Raises NotFound, and AccessDenied if it is for another reader."""
        conversation, message = await self._parts.conversations.message(message_id, place.workspace)
        _require_reader(conversation.address, reader)
        if conversation.address != place and conversation.address.private_to is None:
            raise AccessDenied("This answer belongs to another thread: press the button there.")
        return conversation, message

    async def passages(self, place: ThreadAddress, reader: str, message_id: str) -> Passages:
        """Return the current context of the quotes that the thread may read. Raises NotFound if it may read none."""
        conversation, message = await self.answer(place, reader, message_id)
        address = conversation.address
        scope = await self._parts.access.scope(address.workspace, address)
        around = {item.number: await surroundings(item, self._parts.corpus, scope) for item in message.citations}
        readable = [around[item.number].now or item for item in message.citations if around[item.number].quote]
        if not readable:
            raise NotFound(NO_LONGER_READABLE)
        contexts = {
            number: QuoteContext(before=found.before, behind=found.behind, note=found.note)
            for number, found in around.items()
        }
        links = {item.number: self._parts.link(item, address, message.id) for item in readable}
        return Passages(
            answer=Answer(status=AnswerStatus.ANSWERED, text="", citations=tuple(readable), message_id=message.id),
            around={item.number: contexts[item.number] for item in readable},
            links={number: link for number, link in links.items() if link is not None},
        )

    async def offers(self, place: ThreadAddress, reader: str, message_id: str) -> tuple[Answer, bool]:
        """Return an answer with all that its menu offers, and whether it is private. Raises as `answer` does."""
        conversation, message = await self.answer(place, reader, message_id)
        outcome = message.outcome
        answer = Answer(
            status=AnswerStatus(message.status or AnswerStatus.ANSWERED),
            text=message.content,
            citations=message.citations,
            references=message.references,
            suggestions=outcome.suggestions if outcome is not None else (),
            message_id=message.id,
        )
        return answer, conversation.address.private_to is not None

    async def references(self, place: ThreadAddress, reader: str, message_id: str) -> Answer:
        """Return the answer with its broken and its readable references. Raises as `answer` does."""
        conversation, message = await self.answer(place, reader, message_id)
        scope = await self._parts.access.scope(place.workspace, conversation.address)
        shown = [item for item in message.references if item.broken or await self._can_read(item.document_id, scope)]
        return Answer(
            status=AnswerStatus.ANSWERED,
            text=message.content,
            citations=message.citations,
            references=tuple(shown),
            message_id=message.id,
        )

    async def rate(self, place: ThreadAddress, reader: str, message_id: str, rating: Rating) -> str:
        """Store a rating, or withdraw it if it is repeated; return a confirmation."""
        conversation, message = await self.answer(place, reader, message_id)
        before = (await self._parts.feedbacks.ratings_by(reader, conversation)).get(message.id)
        given = None if before is rating else rating
        await self._parts.feedbacks.rate(conversation, message.id, reader, given)
        return _THANKS[given] if given is not None else "Taken back."

    async def steps(self, place: ThreadAddress, reader: str, wanted: str) -> Sequence[Job]:
        """Return the job tree of an answer, or of one in progress, by its post's id. Raises NotFound."""
        entry = await self._entry(place, reader, wanted)
        if entry is not None:
            _require_reader(entry.address, reader)
            return await self._parts.jobs.tree(stored_ids(entry.incoming).request, place.workspace)
        conversation, message = await self.answer(place, reader, wanted)
        if message.job_id is None:
            raise NotFound("No steps were recorded for this answer.")
        tree = await self._parts.jobs.tree(message.job_id, place.workspace)
        scope = await self._parts.access.scope(place.workspace, conversation.address)
        return await readable_steps(tree, message, scope, self._parts.corpus)

    async def stop(self, place: ThreadAddress, reader: str, wanted: str, *, is_moderator: bool) -> str:
        """Stop an answer in progress for its asker or a moderator; return a confirmation."""
        entry = await self._entry(place, reader, wanted)
        if entry is None or entry.status.is_final:
            raise NotFound("There is nothing to stop: this answer is done.")
        await self._parts.worker.cancel(entry.message_key, reader, is_moderator)
        return "Stopped."

    async def offered_question(
        self, place: ThreadAddress, reader: str, message_id: str, verb: Verb, wanted: str
    ) -> Question:
        """Return the suggestion or choice at a place (from 0) of an answer; private if the answer is."""
        conversation, message = await self.answer(place, reader, message_id)
        outcome = message.outcome
        offered = () if outcome is None else outcome.suggestions if verb is Verb.ASK else outcome.choices
        scope = await self._parts.access.scope(place.workspace, conversation.address)
        if has_gaps(await withheld([message], scope, self._parts.corpus)):
            raise NotFound(NO_LONGER_READABLE)
        if not is_number(wanted) or int(wanted) >= len(offered):
            raise BadInput(NO_ACTION)
        return Question(text=offered[int(wanted)], private=conversation.address.private_to is not None)

    async def ask_again(self, place: ThreadAddress, reader: str, name: str, message_id: str) -> str:
        """Ask a stale answer's question again in the reader's name; return a confirmation.

        Raises as `answer` and core.features.staleness.stale_answers.question_again do.
        """
        conversation, message = await self.answer(place, reader, message_id)
        question = await question_again(self._parts.entries, conversation, message, by=reader, by_name=name)
        receipt = await self._parts.inbox.receive(question)
        return (
            "Asked again: the new answer takes the old one’s place." if receipt.accepted else receipt.decision.sentence
        )

    async def question_of(self, conversation: Conversation, answer: Message) -> str | None:
        """Return the question of an answer; None if the history no longer has it."""
        _, messages = await self._parts.conversations.show(conversation.id, conversation.address.workspace)
        before = messages[: next(place for place, item in enumerate(messages) if item.id == answer.id)]
        return next((item.content for item in reversed(before) if item.role is Role.USER), None)

    async def question_behind(self, place: ThreadAddress, said: PlatformMessage) -> str | None:
        """Return the question that a message answers; None if it must be asked for. Raises BadInput."""
        if self._parts.keeping is None:
            raise BadInput(NOWHERE)
        found = await self._own_answer(place, said)
        if found is None:
            if said.is_ours:
                raise BadInput(NO_ANSWER)
            if said.is_direct:
                raise BadInput(FOR_ONE)
            return None
        conversation, answer = found
        if answer.status != AnswerStatus.ANSWERED.value:
            raise BadInput(NO_ANSWER)
        return await self.question_of(conversation, answer)

    async def propose(self, place: ThreadAddress, said: PlatformMessage, *, author: str, author_name: str) -> str:
        """Propose to keep one of the bot's answers; return a confirmation. Raises as `keep` does."""
        question = await self.question_behind(place, said) or ""
        return await self.keep(place, said, question=question, author=author, author_name=author_name)

    async def keep(
        self, place: ThreadAddress, said: PlatformMessage, *, question: str, author: str, author_name: str
    ) -> str:
        """Propose to keep a message as the answer to a question; return a confirmation.

        Raises BadInput if answers can't be kept, and as KeptAnswers.propose does.
        """
        if self._parts.keeping is None:
            raise BadInput(NOWHERE)
        found = await self._own_answer(place, said)
        if said.is_direct:
            raise BadInput(FOR_ONE)
        message = Said(
            text=found[1].content if found else said.text,
            link=said.link,
            address=found[0].address if found else place,
            by=said.by,
            by_name=said.by_name,
            origin=message_key(place, said.id),
            is_closed=said.is_closed,
            answer=found[1] if found else None,
        )
        kept = await self._parts.keeping.propose(message, question=question, author=author, author_name=author_name)
        return proposed(kept)

    async def _can_read(self, document_id: str | None, scope: SearchScope) -> bool:
        if document_id is None:
            return False  # older references have no id
        try:
            await self._parts.corpus.get_document(document_id, scope)
        except NotFound:
            return False
        return True

    async def _own_answer(self, place: ThreadAddress, said: PlatformMessage) -> tuple[Conversation, Message] | None:
        """Return the public stored answer in a message; None for messages of people."""
        if said.answer_id is None:
            return None
        conversation, answer = await self._parts.conversations.message(said.answer_id, place.workspace)
        if conversation.address.private_to is not None or said.is_direct:
            raise BadInput(FOR_ONE)
        return conversation, answer

    async def _entry(self, place: ThreadAddress, reader: str, wanted: str) -> InboxEntry | None:
        """Return the entry of a post without a stored answer, of any process."""
        entries = await self._parts.entries.recent(place.workspace, address=place, limit=SEARCHED_ENTRIES)
        entries += await self._parts.entries.recent(place.workspace, author=reader, limit=SEARCHED_ENTRIES)
        return next((entry for entry in entries if post_id(entry.message_key) == wanted), None)


def _require_reader(address: ThreadAddress, reader: str) -> None:
    if address.private_to is not None and address.private_to != reader:
        raise AccessDenied("This answer is private to another person.")
