"""Explanations of access: why people can see a document in a place, or can't.

This module has no rule of its own. Sources and positions come from scopes.py as `Access.scope` uses them, and pages
are looked up within that scope.
"""

import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from core.access.positions.named_places import place_of
from core.access.scopes import Access, Bounds, Ground, Grounds
from core.domain.corpus import Document, Source
from core.domain.incoming import ThreadAddress
from core.domain.readers import narrowing_label, readers_label
from core.domain.service import TO_THE_END, PersonAddress, PositionHolder
from core.errors import NotFound
from core.knowledge.library import Library
from core.ports import CorpusRepository
from core.serializers.objects import Json
from core.text.notation import join_names

__all__ = ["AccessQuestion", "Explanation", "Explanations"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessQuestion:
    """The person and the place. No address: a private context such as the command line."""

    workspace: str
    address: ThreadAddress | None = None
    reader: str | None = None  # a person's id; None: anybody, so only the channel's positions count
    alone: bool = False  # a private context
    document: str | None = None  # path, title or alias

    @property
    def person(self) -> str | None:
        """Return whose positions count: in a private thread, those of its owner."""
        return (self.address.private_to if self.address is not None else None) or self.reader


class Holder(StrEnum):
    """The owner of a reading position."""

    CHANNEL = "channel"
    PERSON = "person"
    LIFTED = "lifted"  # lifted by a person, in private contexts


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionOf:
    """The reading position that holds for a document, and all that are set."""

    document: Document
    holder: Holder
    held: Mapping[Holder, int]  # last pages, the channel's first

    @property
    def last_page(self) -> int:
        return self.held[self.holder]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReason:
    """A source, and why it may be read, or not."""

    name: str
    kind: str
    ground: Ground
    sentence: str


class Verdict(StrEnum):
    """How much of a document may be read."""

    WHOLE = "whole"
    UP_TO = "up_to"  # a page
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictOn:
    """How much of a document is readable, the reason, and how to change it."""

    document: Document
    verdict: Verdict
    ground: Ground  # of its source, unless fewer people may read the document
    readers: str  # in words: the source's, or the document's own if these decide
    position: PositionOf | None
    chapter: str = ""  # the last readable chapter; "" if unknown
    sentence: str = ""
    changes: tuple[str, ...] = ()  # one sentence each

    @property
    def reason(self) -> str:
        """Return the deciding ground: the source's, unread files, or a reading position."""
        if not self.ground.is_readable:
            return self.ground.value
        if self.document.revision is None:
            return "never_read"
        return self.ground.value if self.verdict is Verdict.WHOLE else "position"

    @property
    def last_page(self) -> int | None:
        """The last page that may be read; None: the end, 0: none."""
        if self.verdict is Verdict.WHOLE:
            return None
        return self.position.last_page if self.verdict is Verdict.UP_TO and self.position is not None else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    question: AccessQuestion
    alone: bool  # private context: a person's own positions take precedence over the channel's
    sources: tuple[SourceReason, ...]  # all of the workspace, by name
    positions: tuple[PositionOf, ...]  # of readable documents, by source name, then path
    document: VerdictOn | None = None


class Explanations:
    """Explanations for the operator: they name unreadable documents, and never quote any text."""

    def __init__(self, access: Access, library: Library, corpus: CorpusRepository) -> None:
        self._access = access
        self._library = library
        self._corpus = corpus

    async def of(self, question: AccessQuestion) -> Explanation:
        """Raises BadInput and NotFound for a document as Library.find_document does, in the whole workspace."""
        grounds, bounds = await self._access.decide(
            question.workspace, question.address, question.reader, alone=question.alone
        )
        readable = await self._corpus.find_documents([*bounds.deciding], grounds.scope())
        books = [position for document in readable if (position := _position(document, bounds)) is not None]
        return Explanation(
            question=question,
            alone=bounds.own_first or question.alone,
            sources=tuple(_explain(source, ground, question, grounds) for source, ground in grounds.sources),
            positions=tuple(sorted(books, key=lambda item: (item.document.source, item.document.path))),
            document=await self._verdict(question, grounds, bounds),
        )

    async def _verdict(self, question: AccessQuestion, grounds: Grounds, bounds: Bounds) -> VerdictOn | None:
        if question.document is None:
            return None
        everything = grounds.everything()
        document = await self._library.find_document(question.document, everything)
        found = [(source, ground) for source, ground in grounds.sources if source.id == document.source_id]
        if not found:
            raise NotFound(f"{document.path!r} has just been removed: look at `footnote documents`.")
        source, ground = found[0]
        readers = readers_label(source.readers)
        if ground.is_readable and document.id in grounds.hidden:
            ground = Ground.UNKNOWN_AUDIENCE if grounds.unknown else Ground.NOT_FOR_ALL
            limits = (await self._corpus.narrowed(source.workspace)).get(document.id)
            readers = narrowing_label(limits) if limits is not None else readers
        position = _position(document, bounds)
        scope = grounds.scope(bounds.positions)
        verdict, chapter = Verdict.WHOLE, ""
        if document.revision is None or not scope.allows(document):
            verdict = Verdict.NOTHING
        elif position is not None:
            pages = await self._corpus.list_pages(document.id, everything)
            shown = [page for page in pages if scope.allows(document, page.number)]
            if len(shown) < len(pages):
                verdict = Verdict.UP_TO if shown else Verdict.NOTHING
                chapter = place_of(shown[-1].number, shown) if shown else ""
        told = VerdictOn(
            document=document, verdict=verdict, ground=ground, readers=readers, position=position, chapter=chapter
        )
        return replace(
            told,
            sentence=_sentence(told, question, grounds),
            changes=tuple(_changes(told, question, grounds, own_first=bounds.own_first)),
        )


def _position(document: Document, bounds: Bounds) -> PositionOf | None:
    deciding = bounds.deciding.get(document.id)
    if deciding is None:
        return None
    held = {_holder(holder): positions[document.id] for holder, positions in bounds.held if document.id in positions}
    return PositionOf(document=document, holder=_holder(bounds.held[deciding][0]), held=held)


def _holder(holder: PositionHolder) -> Holder:
    if not isinstance(holder, PersonAddress):
        return Holder.CHANNEL
    return Holder.LIFTED if holder.alone else Holder.PERSON


# A clause for each ground; `it` is the document or its source.
_BECAUSE: Mapping[Ground, str] = {
    Ground.NO_CHANNEL: "without a channel all sources of the workspace may be",
    Ground.ALL_SOURCES: "the channel has no source setting, so it reads all of the workspace",
    Ground.ALLOWED: "{it} is one of the channel's sources",
    Ground.ATTACHED_HERE: "{it} was attached in this thread",
    Ground.ATTACHED_ELSEWHERE: "{it} was attached in {thread}, and is only readable there",
    Ground.NOT_ALLOWED: "{it} is not one of the channel's sources ({names})",
    Ground.NOT_FOR_ALL: "not everyone who can read this place is among the readers of {it} ({readers})",
    Ground.UNKNOWN_AUDIENCE: "it is not known who can read this place ({unknown})",
    Ground.NOT_COMPARED: "{it} is a live channel that is still to be compared with what is there now",
    Ground.OTHER_WORKSPACE: "the channel belongs to the workspace {there}, and nothing is read across workspaces",
}


def _because(ground: Ground, it: str, readers: str, question: AccessQuestion, grounds: Grounds) -> str:
    address = question.address
    return _BECAUSE[ground].format(
        it=it,
        readers=readers,
        unknown=grounds.unknown.rstrip("."),
        thread="another thread" if address is not None and address.thread else "a thread",
        names=join_names(sorted((grounds.settings and grounds.settings.sources) or ())) or "none is",
        there=address.workspace if address is not None else "",
    )


def _explain(source: Source, ground: Ground, question: AccessQuestion, grounds: Grounds) -> SourceReason:
    begin = "May be read" if ground.is_readable else "May not be read"
    sentence = f"{begin}: {_because(ground, 'it', readers_label(source.readers), question, grounds)}."
    return SourceReason(name=source.name, kind=source.kind, ground=ground, sentence=sentence)


def _sentence(told: VerdictOn, question: AccessQuestion, grounds: Grounds) -> str:
    """How much of a document may be read, and why."""
    document, position = told.document, told.position
    title, reason = f"“{document.title}”", (document.failed_reason or "its ingest has not ended").rstrip(".")
    is_attached = told.ground in (Ground.ATTACHED_HERE, Ground.ATTACHED_ELSEWHERE)
    is_own = is_attached or document.id in grounds.hidden
    it = "it" if is_own else f"its source {document.source}"
    because = _because(told.ground, it, told.readers, question, grounds)
    if not told.ground.is_readable:
        return f"{title} can't be read here: {because}."
    if document.revision is None:
        return f"{title} can't be read anywhere: its file could not be read ({reason})."
    is_channel = position is None or position.holder is Holder.CHANNEL
    whose = "the channel's" if is_channel else f"{question.person}'s"
    if told.verdict is Verdict.NOTHING:
        return f"Nothing of {title} can be read here: {whose} reading position is before its first page."
    as_read = f" Its file could not be read again ({reason}), so this is its older revision."
    as_read = as_read if document.failed_reason else ""
    if told.verdict is Verdict.UP_TO:
        chapter = f" ({told.chapter})" if told.chapter else ""
        place = f"page {told.last_page}{chapter}: that is {whose} reading position"
        return f"{title} can be read here up to {place}.{as_read}"
    at_the_end = "no reading position applies to it"
    if position is not None:
        is_lifted = position.holder is Holder.LIFTED
        lifted = f"{question.person} lifted their reading position in private"
        at_the_end = lifted if is_lifted else f"{whose} reading position is its end"
    return f"All of {title} can be read here: {because}, and {at_the_end}.{as_read}"


def _changes(told: VerdictOn, question: AccessQuestion, grounds: Grounds, *, own_first: bool) -> Iterator[str]:
    """Yield one sentence for each way to show more of a document, or less of a fully shown one.

    `own_first`: in a private context a person's position takes precedence over the channel's.
    """
    if not told.ground.is_readable:
        yield from _opening(told, question, grounds)
    elif told.document.revision is None:
        footnote = f"footnote --workspace {question.workspace}"
        yield f"Fix the file and read it again: {footnote} ingest PATH, or `footnote sync`."
    elif told.position is None or told.verdict is Verdict.WHOLE:
        yield from _closing(told, question, grounds)
    else:
        yield from _moving(told.position, question, own_first=own_first)


def _opening(told: VerdictOn, question: AccessQuestion, grounds: Grounds) -> Iterator[str]:
    """For a document of a source that may not be read."""
    there = question.address.workspace if question.address is not None else ""
    match told.ground:
        case Ground.NOT_ALLOWED:
            names = [*_names(grounds, [Ground.ALLOWED]), told.document.source]
            yield f"An admin allows its source in the channel: /settings sources {join_names(sorted(names))}"
        case Ground.NOT_FOR_ALL | Ground.UNKNOWN_AUDIENCE if told.document.id in grounds.hidden:
            yield "Its own readers come with it: change them there (docs/sources.md, Readers of documents), then sync."
        case Ground.NOT_FOR_ALL | Ground.UNKNOWN_AUDIENCE:
            readers = f"footnote --workspace {question.workspace} sources readers {shlex.quote(told.document.source)}"
            yield f"The operator lets more people read the source: {readers} READER..."
        case Ground.ATTACHED_ELSEWHERE:
            yield "Ask in the thread that it was attached in: " + told.document.source.removeprefix("attached:")
            yield f"Add it for everyone: footnote --workspace {question.workspace} ingest FILE"
        case Ground.NOT_COMPARED:
            yield "It opens by itself once the service is connected and has read what is in the channel now."
        case _:
            yield f"Add it to the channel's workspace too: footnote --workspace {there} ingest PATH"
            where = "`workspaces` of its platform in the configuration"
            yield f"Or let the channel's server or team use the workspace {question.workspace}: {where}"


def _closing(told: VerdictOn, question: AccessQuestion, grounds: Grounds) -> Iterator[str]:
    """For a document that is shown whole."""
    set_for_channel = (Ground.ALL_SOURCES, Ground.ALLOWED)
    command = _position_command(told.document)
    if told.ground is Ground.ATTACHED_HERE:
        yield "It is deleted with its conversation: /delete in the thread."
    if told.ground in set_for_channel:
        others = [name for name in _names(grounds, set_for_channel) if name != told.document.source]
        yield f"An admin removes its source from the channel: /settings sources {join_names(others) or 'none'}"
    if question.address is not None:
        yield f"An admin hides what the channel has not read: {command} PLACE --channel"
    if question.person:
        yield f"{question.person} hides what they have not read: {command} PLACE"


def _moving(position: PositionOf, question: AccessQuestion, *, own_first: bool) -> Iterator[str]:
    """For a document that a reading position limits: in company, the lowest of them does."""
    command = _position_command(position.document)
    if own_first and position.holder is Holder.CHANNEL:
        yield f"{question.person} sets their own, which comes first here: {command} PLACE"
        return
    if own_first:
        yield f"{question.person} moves theirs on: {command} PLACE"
        yield f"Or lifts it in private: {command} lifted"
        return
    own = position.held.get(Holder.PERSON)
    if position.held.get(Holder.CHANNEL) == position.last_page:
        yield f"An admin moves the channel's position on: {command} PLACE --channel"
    if own == position.last_page:
        yield f"{question.person} moves theirs on: {command} PLACE"
    if position.holder is Holder.CHANNEL and own is not None and own > position.last_page:
        yield f"In private {question.person} reads as far as they have read: /ask QUESTION --private"


def _position_command(document: Document) -> str:
    """The beginning of the command, with a name that it takes in quotation marks."""
    is_quotable = document.title and not set(document.title) & set('"“”')
    return f'/position "{document.title if is_quotable else document.path}"'


def _names(grounds: Grounds, wanted: Collection[Ground]) -> list[str]:
    return [source.name for source, ground in grounds.sources if ground in wanted]


def explanation_json(found: Explanation) -> Json:
    """`last_page` None is the end of a document; `held` are all positions that are set, the channel's first."""
    question = found.question
    return {
        "workspace": question.workspace,
        "thread": asdict(question.address) if question.address is not None else None,
        "person": question.person,
        "alone": found.alone,
        "sources": [
            {
                "source": source.name,
                "source_type": source.kind,
                "readable": source.ground.is_readable,
                "reason": source.ground.value,
                "sentence": source.sentence,
            }
            for source in found.sources
        ],
        "positions": [_position_json(position) for position in found.positions],
        "document": _verdict_json(found.document) if found.document is not None else None,
    }


def _position_json(position: PositionOf) -> Json:
    return {
        **_document(position.document),
        "last_page": _page(position.last_page),
        "holder": position.holder.value,
        "held": [{"holder": holder.value, "last_page": _page(last)} for holder, last in position.held.items()],
    }


def _verdict_json(told: VerdictOn) -> Json:
    return {
        **_document(told.document),
        "verdict": told.verdict.value,
        "reason": told.reason,
        "last_page": told.last_page,
        "chapter": told.chapter,
        "sentence": told.sentence,
        "changes": list(told.changes),
    }


def _document(document: Document) -> Json:
    return {"document": document.path, "source": document.source, "title": document.title}


def _page(last: int) -> int | None:
    return None if last == TO_THE_END else last
