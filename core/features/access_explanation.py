"""Explanations of access: why people can see a document in a place, or can't.

This module has no rule of its own. Sources and positions come from scopes.py as `Access.scope` uses them, and pages
are looked up within that scope.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from core.access.positions.named_places import place_of
from core.access.scopes import Access, Bounds, Ground, Grounds
from core.domain.conversation import ThreadAddress
from core.domain.corpus import Document, SearchScope
from core.domain.service import TO_THE_END, ChannelSettings, PersonAddress, PositionHolder
from core.errors import NotFound
from core.knowledge.library import Library
from core.ports import CorpusRepository
from core.serializers.objects import Json
from core.text.words import join_names

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
class HeldPosition:
    holder: Holder
    last_page: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionOf:
    """The reading position that holds for a document, and all that are set."""

    document: Document
    holder: Holder
    last_page: int
    held: tuple[HeldPosition, ...]  # the channel's first

    def of(self, holder: Holder) -> int | None:
        return next((item.last_page for item in self.held if item.holder is holder), None)


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
    ground: Ground  # of its source
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
        return Explanation(
            question=question,
            alone=bounds.own_first or question.alone,
            sources=tuple(
                SourceReason(
                    name=source.name,
                    kind=source.kind,
                    ground=ground,
                    sentence=source_sentence(ground, question, grounds.settings),
                )
                for source, ground in grounds.sources
            ),
            positions=await self._positions(grounds, bounds),
            document=await self._verdict(question, grounds, bounds),
        )

    async def _positions(self, grounds: Grounds, bounds: Bounds) -> tuple[PositionOf, ...]:
        """Of the documents that may be read there, by source name, then path."""
        found = await self._corpus.find_documents([*bounds.deciding], grounds.scope())
        books = (position for document in found if (position := _position(document, bounds)) is not None)
        return tuple(sorted(books, key=lambda item: (item.document.source, item.document.path)))

    async def _verdict(self, question: AccessQuestion, grounds: Grounds, bounds: Bounds) -> VerdictOn | None:
        if question.document is None:
            return None
        everything = grounds.everything()
        document = await self._library.find_document(question.document, everything)
        ground = next((ground for source, ground in grounds.sources if source.id == document.source_id), None)
        if ground is None:
            raise NotFound(f"{document.path!r} has just been removed: look at `footnote documents`.")
        position = _position(document, bounds)
        scope = grounds.scope(bounds.positions)
        verdict, chapter = await self._look(document, position, scope, everything)
        told = VerdictOn(document=document, verdict=verdict, ground=ground, position=position, chapter=chapter)
        return replace(
            told,
            sentence=verdict_sentence(told, question, grounds.settings),
            changes=changes_of(told, question, grounds, own_first=bounds.own_first),
        )

    async def _look(
        self, document: Document, position: PositionOf | None, scope: SearchScope, everything: SearchScope
    ) -> tuple[Verdict, str]:
        """Return how much is readable, with the last readable chapter."""
        if document.revision is None or not scope.allows(document):
            return Verdict.NOTHING, ""
        if position is None:
            return Verdict.WHOLE, ""
        pages = await self._corpus.list_pages(document.id, everything)
        shown = [page for page in pages if scope.allows(document, page.number)]
        if len(shown) == len(pages):
            return Verdict.WHOLE, ""
        return (Verdict.UP_TO, place_of(shown[-1].number, shown)) if shown else (Verdict.NOTHING, "")


def _position(document: Document, bounds: Bounds) -> PositionOf | None:
    deciding = bounds.deciding.get(document.id)
    if deciding is None:
        return None
    held = tuple(
        HeldPosition(holder=_holder(holder), last_page=positions[document.id])
        for holder, positions in bounds.held
        if document.id in positions
    )
    holder, positions = bounds.held[deciding]
    return PositionOf(document=document, holder=_holder(holder), last_page=positions[document.id], held=held)


def _holder(holder: PositionHolder) -> Holder:
    if not isinstance(holder, PersonAddress):
        return Holder.CHANNEL
    return Holder.LIFTED if holder.alone else Holder.PERSON


_OF_THREADS = (Ground.ATTACHED_HERE, Ground.ATTACHED_ELSEWHERE)
_OF_SETTINGS = (Ground.ALL_SOURCES, Ground.ALLOWED)


def source_sentence(ground: Ground, question: AccessQuestion, settings: ChannelSettings | None) -> str:
    """Return why a source is readable, or not."""
    begin = "May be read" if ground.is_readable else "May not be read"
    return f"{begin}: {_because(ground, 'it', question, settings)}."


def verdict_sentence(told: VerdictOn, question: AccessQuestion, settings: ChannelSettings | None) -> str:
    """How much of a document may be read, and why."""
    document = told.document
    title = f"“{document.title}”"
    its = "it" if told.ground in _OF_THREADS else f"its source {document.source}"
    because = _because(told.ground, its, question, settings)
    if not told.ground.is_readable:
        return f"{title} can't be read here: {because}."
    if document.revision is None:
        return f"{title} can't be read anywhere: its file could not be read ({_reason(document)})."
    if told.verdict is Verdict.WHOLE:
        return f"All of {title} can be read here: {because}, and {_at_the_end(told.position, question)}." + _as_read(
            document
        )
    whose = _whose(told.position, question)
    if told.verdict is Verdict.NOTHING:
        return f"Nothing of {title} can be read here: {whose} reading position lies before its first page."
    chapter = f" ({told.chapter})" if told.chapter else ""
    return (
        f"{title} can be read here up to page {told.last_page}{chapter}: that is {whose} reading position."
        + _as_read(document)
    )


def changes_of(told: VerdictOn, question: AccessQuestion, grounds: Grounds, *, own_first: bool) -> tuple[str, ...]:
    """Return one sentence for each way to show more of a document, or less of a fully shown one.

    `own_first`: in a private context a person's position takes precedence over the channel's.
    """
    if not told.ground.is_readable:
        return tuple(_opening(told, question, grounds))
    if told.document.revision is None:
        return (f"Mend the file and read it again: {_footnote(question.workspace)} ingest PATH, or `footnote sync`.",)
    if told.position is None or told.verdict is Verdict.WHOLE:
        return tuple(_closing(told, question, grounds))
    return tuple(_moving_alone(told, question) if own_first else _moving(told, told.position, question))


def _because(ground: Ground, it: str, question: AccessQuestion, settings: ChannelSettings | None) -> str:
    """Return a clause; `it` is the document or its source."""
    address = question.address
    thread = "another thread" if address is not None and address.thread else "a thread"
    match ground:
        case Ground.NO_CHANNEL:
            return "without a channel all sources of the workspace may be"
        case Ground.ALL_SOURCES:
            return "nothing is set for the channel's sources, so it reads all of the workspace"
        case Ground.ALLOWED:
            return f"{it} is one of the sources that are set for the channel"
        case Ground.ATTACHED_HERE:
            return f"{it} was attached in this thread"
        case Ground.ATTACHED_ELSEWHERE:
            return f"{it} was attached in {thread}, and is read in that one alone"
        case Ground.NOT_ALLOWED:
            names = join_names(sorted(settings.sources or ())) if settings is not None else ""
            return f"{it} is not among the sources that are set for the channel ({names or 'none is'})"
        case Ground.OTHER_WORKSPACE:
            there = address.workspace if address is not None else ""
            return f"the channel belongs to the workspace {there}, and nothing is read across workspaces"


def _as_read(document: Document) -> str:
    """That a newer file could not be read, behind a sentence about the older one."""
    if not document.failed_reason:
        return ""
    return f" Its file could not be read again ({_reason(document)}), so this is its older revision."


def _at_the_end(position: PositionOf | None, question: AccessQuestion) -> str:
    if position is None:
        return "no reading position holds for it"
    if position.holder is Holder.LIFTED:
        return f"{question.person} lifted their reading position where nobody else reads"
    return f"{_whose(position, question)} reading position is its end"


def _whose(position: PositionOf | None, question: AccessQuestion) -> str:
    is_channel = position is None or position.holder is Holder.CHANNEL
    return "the channel's" if is_channel else f"{question.person}'s"


def _opening(told: VerdictOn, question: AccessQuestion, grounds: Grounds) -> Iterator[str]:
    """For a document of a source that may not be read."""
    there = question.address.workspace if question.address is not None else ""
    match told.ground:
        case Ground.NOT_ALLOWED:
            names = [*_names(grounds, [Ground.ALLOWED]), told.document.source]
            yield f"An admin allows its source in the channel: /settings sources {join_names(sorted(names))}"
        case Ground.ATTACHED_ELSEWHERE:
            yield "Ask in the thread that it was attached in: " + told.document.source.removeprefix("attached:")
            yield f"Make it everybody's: {_footnote(question.workspace)} ingest FILE"
        case _:
            yield f"Read it into the channel's workspace, too: {_footnote(there)} ingest PATH"
            where = "`workspaces` of its platform in the configuration"
            yield f"Or let the channel's server or team use the workspace {question.workspace}: {where}"


def _closing(told: VerdictOn, question: AccessQuestion, grounds: Grounds) -> Iterator[str]:
    """For a document that is shown whole."""
    if told.ground is Ground.ATTACHED_HERE:
        yield "It goes with its conversation: /delete in the thread."
    others = [name for name in _names(grounds, _OF_SETTINGS) if name != told.document.source]
    if told.ground in _OF_SETTINGS:
        yield f"An admin keeps its source from the channel: /settings sources {join_names(others) or 'none'}"
    if question.address is not None:
        yield f"An admin keeps back what the channel has not read: {_position_command(told, 'PLACE --channel')}"
    if question.person:
        yield f"{question.person} keeps back what they have not read: {_position_command(told, 'PLACE')}"


def _moving_alone(told: VerdictOn, question: AccessQuestion) -> Iterator[str]:
    """Return the ways for a document that a reading position limits in a private context."""
    if told.position is not None and told.position.holder is Holder.CHANNEL:
        yield f"{question.person} sets their own, which comes first here: {_position_command(told, 'PLACE')}"
        return
    yield f"{question.person} moves theirs on: {_position_command(told, 'PLACE')}"
    yield f"Or lifts it, where nobody else reads: {_position_command(told, 'lifted')}"


def _moving(told: VerdictOn, position: PositionOf, question: AccessQuestion) -> Iterator[str]:
    """For a document that reading positions bound: the lowest of them does."""
    lowest = [item.holder for item in position.held if item.last_page == position.last_page]
    own = position.of(Holder.PERSON)
    if Holder.CHANNEL in lowest:
        yield f"An admin moves the channel's position on: {_position_command(told, 'PLACE --channel')}"
    if own is not None and Holder.PERSON in lowest:
        yield f"{question.person} moves theirs on: {_position_command(told, 'PLACE')}"
    if position.holder is Holder.CHANNEL and own is not None and own > position.last_page:
        yield f"In private {question.person} reads as far as they have read: /ask QUESTION --private"


def _position_command(told: VerdictOn, place: str) -> str:
    """The command, with a name that it takes in quotation marks."""
    title = told.document.title
    name = title if title and not set(title) & set('"“”') else told.document.path
    return f'/position "{name}" {place}'


def _names(grounds: Grounds, wanted: Iterable[Ground]) -> list[str]:
    return [source.name for source, ground in grounds.sources if ground in wanted]


def _footnote(workspace: str) -> str:
    return f"footnote --workspace {workspace}"


def _reason(document: Document) -> str:
    return (document.failed_reason or "its ingest has not ended").rstrip(".")


def explanation_json(found: Explanation) -> Json:
    """`last_page` None is the end of a document; `held` are all positions that are set, the channel's first."""
    question = found.question
    return {
        "workspace": question.workspace,
        "thread": _address(question.address) if question.address is not None else None,
        "person": question.person,
        "alone": found.alone,
        "sources": [_source(source) for source in found.sources],
        "positions": [_position_json(position) for position in found.positions],
        "document": _verdict(found.document) if found.document is not None else None,
    }


def _address(address: ThreadAddress) -> Json:
    return {
        "platform": address.platform,
        "workspace": address.workspace,
        "channel": address.channel,
        "thread": address.thread,
    }


def _source(source: SourceReason) -> Json:
    return {
        "source": source.name,
        "source_type": source.kind,
        "readable": source.ground.is_readable,
        "reason": source.ground.value,
        "sentence": source.sentence,
    }


def _position_json(position: PositionOf) -> Json:
    return {
        **_document(position.document),
        "last_page": _page(position.last_page),
        "holder": position.holder.value,
        "held": [{"holder": item.holder.value, "last_page": _page(item.last_page)} for item in position.held],
    }


def _verdict(told: VerdictOn) -> Json:
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
