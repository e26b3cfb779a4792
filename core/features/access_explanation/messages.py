"""The sentences of an explanation: why, how far, and which command would change it. Pure."""

from collections.abc import Iterable, Iterator

from core.access.scopes import Ground, Grounds
from core.domain.corpus import Document
from core.domain.service import ChannelSettings
from core.features.access_explanation.values import AccessQuestion, Holder, PositionOf, Verdict, VerdictOn
from core.text.words import join_names

_OF_THREADS = (Ground.ATTACHED_HERE, Ground.ATTACHED_ELSEWHERE)
_OF_SETTINGS = (Ground.ALL_SOURCES, Ground.ALLOWED)


def source_sentence(ground: Ground, question: AccessQuestion, settings: ChannelSettings | None) -> str:
    """Why a source may be read, or not."""
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
    """What would show more of a document, or less of one that is shown whole; one sentence each.

    `own_first`: a person's position comes before the channel's, as nobody else reads.
    """
    if not told.ground.is_readable:
        return tuple(_opening(told, question, grounds))
    if told.document.revision is None:
        return (f"Mend the file and read it again: {_footnote(question.workspace)} ingest PATH, or `footnote sync`.",)
    if told.position is None or told.verdict is Verdict.WHOLE:
        return tuple(_closing(told, question, grounds))
    return tuple(_moving_alone(told, question) if own_first else _moving(told, told.position, question))


def _because(ground: Ground, it: str, question: AccessQuestion, settings: ChannelSettings | None) -> str:
    """A clause; `it` is what is read, or its source."""
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
        yield f"An admin keeps back what the channel has not read: {_position(told, 'PLACE --channel')}"
    if question.person:
        yield f"{question.person} keeps back what they have not read: {_position(told, 'PLACE')}"


def _moving_alone(told: VerdictOn, question: AccessQuestion) -> Iterator[str]:
    """For a document that a reading position bounds where nobody else reads."""
    if told.position is not None and told.position.holder is Holder.CHANNEL:
        yield f"{question.person} sets their own, which comes first here: {_position(told, 'PLACE')}"
        return
    yield f"{question.person} moves theirs on: {_position(told, 'PLACE')}"
    yield f"Or lifts it, where nobody else reads: {_position(told, 'lifted')}"


def _moving(told: VerdictOn, position: PositionOf, question: AccessQuestion) -> Iterator[str]:
    """For a document that reading positions bound: the lowest of them does."""
    lowest = [item.holder for item in position.held if item.last_page == position.last_page]
    own = position.of(Holder.PERSON)
    if Holder.CHANNEL in lowest:
        yield f"An admin moves the channel's position on: {_position(told, 'PLACE --channel')}"
    if own is not None and Holder.PERSON in lowest:
        yield f"{question.person} moves theirs on: {_position(told, 'PLACE')}"
    if position.holder is Holder.CHANNEL and own is not None and own > position.last_page:
        yield f"In private {question.person} reads as far as they have read: /ask QUESTION --private"


def _position(told: VerdictOn, place: str) -> str:
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
