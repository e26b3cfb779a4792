"""Redaction of a history for its present reader: turns made from more than the reader may see are emptied.

Readers of a source change, documents are removed, a position may be set or lowered after people talked about a book,
and a private thread may have read more than its channel. Answers rest on more than their footnotes: on lists, names and
rows from tools, and on earlier answers. So a turn stays only if all that it rests on may be read, and none of that is
beyond the present positions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.access.scopes import ATTACHMENTS, attached_name
from core.domain.answer import Provenance
from core.domain.conversation import Conversation, Message, Outcome, Role
from core.domain.corpus import SearchScope
from core.domain.service import TO_THE_END
from core.knowledge.references.linked_context import OPENED
from core.ports import CorpusRepository
from core.work.conversations import Conversations

if TYPE_CHECKING:  # commands that only show a history load no path of a question
    from core.answering.pipeline import Question

BEYOND = "(This was taken out: it goes beyond the reading position.)"
CLOSED = "(This was taken out: it rests on documents that can't be read here any more.)"

# Tools whose texts are only about the pages of their passages.
_ABOUT_PASSAGES = frozenset({"search", "get_page"})
# Those whose words are about whole documents, of which they show passages.
_ABOUT_DOCUMENTS = frozenset({"query_journal", OPENED})
_EVERYTHING = "*"  # stands for every document


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """The sources of a turn."""

    pages: Mapping[str, int]  # document id -> the furthest page shown or cited
    whole: frozenset[str]  # ids of documents of which more may have been told than pages say
    within: Mapping[str, int]  # the positions that held then


async def withheld(
    messages: Sequence[Message], scope: SearchScope, corpus: CorpusRepository, *, questions: bool = False
) -> list[Message]:
    """Redact answers that rest on more than the scope; with `questions`, redact their questions, too.

    Keeps message order. Tool calls of such turns are left out.
    """
    if all(message.role is Role.USER for message in messages):
        return list(messages)
    messages = await _readable(messages, scope, corpus, questions=questions)
    bounds = {document: last for document, last in scope.positions.items() if last < TO_THE_END}
    if not bounds:
        return list(messages)
    places = await _places(messages, scope, corpus)
    kept: list[Message] = []
    spoilt: set[str] = set()  # documents that were told beyond their bound: turns behind that may know it
    for turn in _turns(messages):
        seen = _seen(turn, places)
        free = {document: last for document, last in bounds.items() if seen.within.get(document, last + 1) > last}
        spoilt |= {document for document, last in free.items() if _goes_beyond(seen, document, last)}
        if spoilt & free.keys():
            kept += _emptied(turn, BEYOND, questions=questions)
        else:
            told = free.keys() & seen.pages.keys()
            kept += [_without_offers(message) if told else message for message in turn]
    return kept


async def _readable(
    messages: Sequence[Message], scope: SearchScope, corpus: CorpusRepository, *, questions: bool
) -> list[Message]:
    """Empty the turns that rest on documents or sources outside the scope."""
    turns = _turns(messages)
    bases = [_basis(turn) for turn in turns]
    named = dict.fromkeys(document for basis in bases for document in basis.documents)
    readable = {document.id for document in await corpus.find_documents([*named], scope)}
    kept: list[Message] = []
    for turn, basis in zip(turns, bases, strict=True):
        if readable.issuperset(basis.documents) and _may_list(basis, scope):
            kept += turn
        else:
            kept += _emptied(turn, CLOSED, questions=questions)
    return kept


async def may_show(basis: Provenance, scope: SearchScope, corpus: CorpusRepository) -> bool:
    """Return whether everything that an answer rests on is within the scope."""
    readable = {document.id for document in await corpus.find_documents(basis.documents, scope)}
    return readable.issuperset(basis.documents) and _may_list(basis, scope)


def _may_list(basis: Provenance, scope: SearchScope) -> bool:
    """Return whether the documents of which an answer may know the names are all within the scope."""
    is_hidden = bool(basis.sources) and not scope.hidden.issubset(basis.hidden)
    return scope.sources.issuperset(basis.sources) and not is_hidden


def _basis(turn: Iterable[Message]) -> Provenance:
    """Return all that a turn rests on: its provenance, and its footnotes."""
    found = Provenance()
    for message in turn:
        cited = tuple(item.document_id for item in message.citations)
        found = _joined(found, Provenance(documents=cited))
        if message.outcome is not None and message.outcome.rests_on is not None:
            found = _joined(found, message.outcome.rests_on)
    return found


def _joined(one: Provenance, other: Provenance) -> Provenance:
    def both(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*first, *second)))

    if one.sources and other.sources:
        hidden = tuple(id for id in one.hidden if id in other.hidden)  # from both
    else:
        hidden = one.hidden or other.hidden
    return Provenance(
        documents=both(one.documents, other.documents), sources=both(one.sources, other.sources), hidden=hidden
    )


def trace(question: "Question") -> Provenance:
    """Return all that the drafted answer of a question rests on, with the turns before it that the model read."""
    scope, draft = question.context.scope, question.draft
    results = [result for turn in draft.new_messages for result in turn.tool_results]
    seen = [item.source.document.id for result in results for item in result.passages]
    seen += [item.source.document.id for item in draft.evidence.passages.values()]
    seen += [item.document_id for item in question.answer.references if item.document_id]
    seen += [document.id for document in question.context.linked]
    is_listing = any(result.name not in (_ABOUT_PASSAGES | _ABOUT_DOCUMENTS) for result in results)
    own = Provenance(
        documents=tuple(dict.fromkeys(seen)),
        sources=tuple(sorted(scope.sources)) if is_listing else (),
        hidden=tuple(sorted(scope.hidden)) if is_listing else (),
    )
    return _joined(_basis(question.messages), own)


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    """Split messages before each question; all messages, in order."""
    turns: list[list[Message]] = []
    for message in messages:
        if message.role is Role.USER or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


async def _places(
    messages: Iterable[Message], scope: SearchScope, corpus: CorpusRepository
) -> Mapping[str, tuple[str, int]]:
    """Map passage id -> its document and page, also beyond positions; removed passages are left out."""
    ids = dict.fromkeys(key for message in messages for call in message.tool_calls for key in call.passage_ids)
    found = await corpus.list_passages(list(ids), replace(scope, positions={}))
    return {item.passage.id: (item.document.id, item.passage.page_number) for item in found}


def _seen(turn: Sequence[Message], places: Mapping[str, tuple[str, int]]) -> _Seen:
    pages: dict[str, int] = {}
    whole: set[str] = set()
    within: Mapping[str, int] = {}
    for message in turn:
        within = message.outcome.read_to if message.outcome is not None else within
        shown = [(item.document_id, item.page_number) for item in message.citations]
        for call in message.tool_calls:
            known = [places[key] for key in call.passage_ids if key in places]
            shown += known
            if call.invocation.name in _ABOUT_DOCUMENTS:
                whole |= {document for document, _ in known}
            elif call.invocation.name not in _ABOUT_PASSAGES:
                whole.add(_EVERYTHING)
            if len(known) < len(call.passage_ids):  # removed since: their document is unknown
                whole.add(_EVERYTHING)
        for document, number in shown:
            pages[document] = max(number, pages.get(document, 0))
    return _Seen(pages=pages, whole=frozenset(whole), within=within)


def _goes_beyond(seen: _Seen, document: str, last: int) -> bool:
    return seen.pages.get(document, 0) > last or not seen.whole.isdisjoint({document, _EVERYTHING})


def _emptied(turn: Sequence[Message], reason: str, *, questions: bool) -> list[Message]:
    return [
        _without_content(message, reason) if questions or message.role is not Role.USER else message
        for message in turn
        if message.role is not Role.TOOL_RESULT
    ]


def _without_content(message: Message, reason: str) -> Message:
    outcome = Outcome(note_on=message.outcome.note_on) if message.outcome is not None else None
    return replace(message, content=reason, citations=(), references=(), tool_calls=(), outcome=outcome)


def _without_offers(message: Message) -> Message:
    """Remove suggestions, which are about pages near the citations that may be beyond."""
    if message.outcome is None or not message.outcome.suggestions:
        return message
    return replace(message, outcome=replace(message.outcome, suggestions=()))


def has_gaps(messages: Iterable[Message]) -> bool:
    """Return whether an answer among these was taken out."""
    return any(message.role is Role.ASSISTANT and message.content in (BEYOND, CLOSED) for message in messages)


class Histories:
    """Conversations as their readers may see them."""

    def __init__(self, conversations: Conversations, corpus: CorpusRepository) -> None:
        self._conversations = conversations
        self._corpus = corpus

    async def show(
        self, conversation_id: str, workspace: str, scope: SearchScope
    ) -> tuple[Conversation, list[Message]]:
        """Show a conversation as Conversations.show does, redacted to the scope and its own attached files."""
        conversation, messages = await self._conversations.show(conversation_id, workspace)
        attached = await self._corpus.find_source(workspace, attached_name(conversation.address))
        if attached is not None and attached.kind == ATTACHMENTS:
            scope = replace(scope, sources=scope.sources | {attached.id})
        [shown] = await self.without_closed_focus([conversation], scope)
        return shown, await withheld(messages, scope, self._corpus)

    async def without_closed_focus(
        self, conversations: Sequence[Conversation], scope: SearchScope
    ) -> list[Conversation]:
        """Return the conversations, those about a document outside the scope without its name."""
        named = [item.focus.document_id for item in conversations if item.focus is not None]
        readable = {document.id for document in await self._corpus.find_documents(named, scope)}
        return [
            item if item.focus is None or item.focus.document_id in readable else replace(item, focus=None)
            for item in conversations
        ]
