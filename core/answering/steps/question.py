"""Steps of every question: defaults, open, scope, history, links, draft, proof, and additions to the proved text."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace

from core.access.availability import Availability, LibraryState
from core.access.positions.reading import lowest, positions_for, split_position
from core.access.positions.statements import read_statement
from core.access.scopes import Access
from core.answering.answer_store import AnswerStore
from core.answering.answers.building import bounded, with_notes
from core.answering.answers.settled import SettledAnswers
from core.answering.answers.suggestions import SuggestedQuestions
from core.answering.pipeline import Question, QuestionContext
from core.answering.redaction import may_show, trace, withheld, without_gaps
from core.answering.run import RunObserver
from core.answering.steps.stated_positions import StatedPositions
from core.answering.strategies.choosing import Choose, draft
from core.domain.answer import Answer, AnswerStatus
from core.domain.conversation import Conversation, Message
from core.domain.corpus import Document, SearchScope
from core.domain.incoming import ChannelAddress, IncomingMessage
from core.errors import AccessDenied
from core.knowledge.library import Library
from core.knowledge.references.lists import names_documents, undescribed
from core.knowledge.references.service import References
from core.ports import Clock, ContextStrategy, CorpusRepository, Tools
from core.ports.service import SettingsRepository, ThreadReader
from core.work.history import live_focus
from core.work.questions import as_asked
from core.work.steps import Step

CLOSED_MEANWHILE = "I can't show this answer: some of its documents can no longer be read here. Ask again."
# Tokens of the history in a prompt; the rest of the window is for tools and the answer.
DEFAULT_HISTORY_TOKENS = 12_000


ToolboxFactory = Callable[[QuestionContext, RunObserver], Tools]


class StatedPosition:
    """Message that only states a reading position -> a confirmation, after storing the position."""

    def __init__(self, positions: StatedPositions) -> None:
        self._positions = positions

    async def __call__(self, question: Question) -> Answer | None:
        statement = read_statement(question.message.text)
        return await self._positions.answer(statement, question.message) if statement is not None else None


class ChannelDefaults:
    """Message -> `message` with its channel's strategy, and its language on platforms with readers."""

    def __init__(self, settings: SettingsRepository, readers: Container[str]) -> None:
        """`readers` names the platforms that have readers."""
        self._settings = settings
        self._readers = readers

    async def __call__(self, question: Question) -> None:
        message = question.message
        settings = await self._settings.channel(ChannelAddress.of(message.address))
        question.message = replace(message, strategy=message.strategy or settings.strategy)
        if message.address.platform in self._readers:
            question.message = replace(question.message, language=message.language or settings.language)


class HistorySteps:
    """The steps that read and write the history."""

    def __init__(self, store: AnswerStore, settled: SettledAnswers) -> None:
        self._store = store
        self._settled = settled

    async def forget_earlier_versions(self, question: Question) -> None:
        """An edited message -> the same; its earlier versions and their answers leave the history."""
        await self._store.replace_earlier(question.message)

    async def open(self, question: Question) -> Answer | None:
        """Message -> its conversation (`opened`). A stored answer ends the path."""
        question.opened = await self._store.open(question.message)
        question.asked = question.message
        stored = question.opened.stored
        return await self._settled.load(stored) if stored is not None else None

    async def record(self, question: Question) -> None:
        """Opened conversation, `before` -> the question in the history, unless an earlier attempt put it there."""
        opened = question.conversation
        question.asked = as_asked(question.asked)
        if not opened.is_recorded:
            known = {item.id for item in opened.history}
            new = [item for item in question.before if item.id not in known]
            await self._store.record(opened, [*new, opened.question])


class Scoping:
    """Question, focus -> `context`: the scope, computed again for each question, and the document asked about."""

    def __init__(self, access: Access, library: Library, corpus: CorpusRepository, clock: Clock) -> None:
        self._scopes = QuestionScopes(access, library, corpus)
        self._library = library
        self._corpus = corpus
        self._clock = clock

    async def __call__(self, question: Question) -> None:
        scope = await self._scopes.of(question.asked)
        focus = live_focus(question.focus or question.conversation.conversation.focus, self._clock.now())
        question.context = QuestionContext(scope=scope, focus=focus, document=None)

    async def find_document(self, question: Question) -> None:
        """Scope -> `context` with the document asked about, up to the position that the question states."""
        message, scope = question.asked, question.context.scope
        document = await self._document(message, question.conversation.conversation, scope)
        scope = await self._scopes.up_to(message, document, scope)
        question.context = replace(question.context, scope=scope, document=document)

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


class EmptyScope:
    """Scope, notes -> the reason, if nothing in it can be searched; it ends the request."""

    def __init__(self, availability: Availability, readers: Mapping[str, ThreadReader]) -> None:
        """`readers` of the platforms, by name, know who is an admin."""
        self._availability = availability
        self._readers = readers

    async def __call__(self, question: Question) -> Answer | None:
        message, scope = question.asked, question.context.scope
        found = await self._availability.of(scope, message.address)
        if found.is_ready:
            return None
        reader = self._readers.get(message.address.platform)
        is_admin = reader is not None and await reader.is_admin(question.message)
        reason = self._availability.sentence(found, message.address, is_admin=is_admin)
        is_fault = found.state is LibraryState.NO_INDEX
        status = AnswerStatus.ERROR if is_fault else AnswerStatus.NOT_FOUND
        answer = Answer(status=status, text=reason, searched=False)
        return bounded(with_notes(answer, question.notes), scope.positions)

    async def warn(self, question: Question) -> None:
        """Answer, scope -> `notes` with the reason why a search without a result may have missed something."""
        if question.answer.status is AnswerStatus.NOT_FOUND:
            caveat = await self._availability.caveat(question.context.scope, question.message.address)
            question.notes = (*question.notes, *([caveat] if caveat else ()))


class HistoryRedaction:
    """Opened conversation, `before`, scope -> `messages` without turns that rest on more than the scope."""

    def __init__(self, corpus: CorpusRepository) -> None:
        self._corpus = corpus

    async def __call__(self, question: Question) -> None:
        last = {item.id for item in question.before}
        messages: Sequence[Message] = [
            *(item for item in question.conversation.history if item.id not in last),
            *question.before,
        ]
        shown = await withheld(messages, question.context.scope, self._corpus, questions=True)
        question.messages = without_gaps(shown)


class ReferenceSteps:
    """The steps about links. Without `references`, links are plain words."""

    def __init__(self, references: References | None) -> None:
        self._references = references

    async def link(self, question: Question) -> None:
        """Question, messages, scope -> direct `references`, and their text in `context`."""
        is_plain = not any(item.references for item in question.messages) and not names_documents(question.asked)
        if self._references is None:
            return
        unread = await self._references.unread(question.asked.text, question.context.scope)
        question.notes = (*question.notes, *unread)
        if is_plain:
            return
        context, root = question.context, question.observer.root
        links = await self._references.of(question.asked, question.messages, context.scope, context.document, root)
        question.context = replace(context, linked=links.documents, offer=links.offer)
        question.references = tuple(links.references)
        question.notes = (*question.notes, *links.notes)

    async def describe(self, question: Question) -> None:
        """Answer, scope -> `answer` with a summary of each referenced document."""
        if self._references is not None and undescribed(question.answer):
            scope, root = question.context.scope, question.observer.root
            question.answer = await self._references.described(question.answer, scope, root)


class ContextSelection:
    """Messages, scope -> `history`, as much as fits into the model's prompt.

    `context` returns the strategy whose steps go below one.
    """

    def __init__(self, context: Callable[[Step], ContextStrategy], tokens: int = DEFAULT_HISTORY_TOKENS) -> None:
        self._context = context
        self._tokens = tokens

    async def __call__(self, question: Question) -> None:
        if question.messages:
            context = self._context(question.observer.root)
            question.history = await context.select(question.messages, question.context.scope, self._tokens)


class Drafting:
    """Question, history, context -> `draft`, by the question's strategy and tools. Raises ProviderError."""

    def __init__(self, choose: Choose, toolbox: ToolboxFactory) -> None:
        self._choose = choose
        self._toolbox = toolbox

    async def __call__(self, question: Question) -> None:
        asked, history, observer = question.asked, question.history, question.observer
        tools = self._toolbox(question.context, observer)
        observer.begin(asked, history, tools)
        question.draft = await draft(self._choose, asked, history, tools, question.progress, observer)


class Suggestions:
    """Answer, scope -> `answer` with follow-up questions that the library can answer."""

    def __init__(self, questions: SuggestedQuestions) -> None:
        self._questions = questions

    async def __call__(self, question: Question) -> None:
        answer = question.answer
        if answer.status is AnswerStatus.ANSWERED and answer.citations:
            found = await self._questions.after(question.asked.text, answer.citations, question.context.scope)
            question.answer = replace(answer, suggestions=(*answer.suggestions, *found))


async def add_notes(question: Question) -> None:
    """Answer, draft, notes, reading, scope -> `answer` with its provenance, its reading and its notes."""
    scope = question.context.scope
    answer = replace(bounded(question.answer, scope.positions), rests_on=trace(question))
    if question.reading and answer.status is AnswerStatus.ANSWERED:
        answer = replace(answer, text=f"{answer.text}\n\n{question.reading}")
    question.answer = with_notes(answer, question.notes)


class LastCheck:
    """Answer, the scope as it is now -> the reason, if the answer rests on documents that were closed meanwhile.

    Readers of a place, or of a source, may change while a model writes, and documents may be removed.
    """

    def __init__(self, access: Access, library: Library, corpus: CorpusRepository, empty: EmptyScope) -> None:
        self._scopes = QuestionScopes(access, library, corpus)
        self._corpus = corpus
        self._empty = empty

    async def __call__(self, question: Question) -> Answer | None:
        before, now = question.context.scope, await self._scopes.of(question.asked)
        is_narrower = not (before.sources <= now.sources and now.hidden <= before.hidden)
        basis = question.answer.rests_on
        if basis is None or await may_show(basis, now, self._corpus):
            if is_narrower:
                question.answer = replace(question.answer, suggestions=())  # they may name other documents
            return None
        question.context = replace(question.context, scope=now)
        refused = await self._empty(question) or Answer(status=AnswerStatus.REFUSED, text=CLOSED_MEANWHILE)
        return replace(refused, rests_on=basis)  # its steps have words of these documents


class QuestionScopes:
    """Built for each question, because settings may have changed."""

    def __init__(self, access: Access, library: Library, corpus: CorpusRepository) -> None:
        self._access = access
        self._library = library
        self._corpus = corpus

    async def of(self, message: IncomingMessage) -> SearchScope:
        """Return the scope up to the positions of the question's place, or to the end for an asker in private.

        Raises AccessDenied for a question to the end in a shared place.
        """
        address, alone = message.address, message.is_alone
        if message.to_the_end and not alone:
            raise AccessDenied(
                "A question to the end of a book is only answered in private. Ask it in a direct message, or "
                "with --private."
            )
        scope = await self._access.scope(address.workspace, address, reader=message.author, alone=alone)
        return replace(scope, positions={}) if message.to_the_end else scope

    async def up_to(self, message: IncomingMessage, document: Document | None, scope: SearchScope) -> SearchScope:
        """The scope up to the question's own position, too; `document` is the one that it is asked of.

        Raises BadInput and NotFound for a position that is none.
        """
        if not message.position:
            return scope
        name, place = split_position(message.position)
        bounded = await self._library.find_document(name, scope) if name else document
        whole = await self._access.scope_to_the_end(message.address.workspace, message.address)
        asked = await positions_for(place, bounded, self._corpus, whole, scope)
        shared = await self._access.copies.share(asked, message.address.workspace)
        return replace(scope, positions=lowest(scope.positions, shared))
