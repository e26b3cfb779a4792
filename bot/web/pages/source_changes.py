"""What became of a cited passage since its answer, for the source viewer."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.web.links import SourceLink
from core.answering.answers.quote_location import moved
from core.domain.answer import Citation
from core.domain.corpus import Page, Span
from core.features.staleness.changes import Piece, change_of
from core.work.conversations import Conversations


@dataclass(frozen=True, slots=True, kw_only=True)
class SinceAnswer:
    """`pieces` are empty where the passage only moved, or stands where it did."""

    page_number: int  # the page to show
    span: Span | None  # what to mark there; None where nothing on the pages is like the passage
    pieces: tuple[Piece, ...] = ()
    was_on: int  # the page that it stood on


async def cited_by(link: SourceLink, conversations: Conversations) -> Citation | None:
    """The footnote that a link was made for, from its thread's history; None where that does not have it any more."""
    conversation = await conversations.find(link.thread)
    if conversation is None:
        return None
    _, messages = await conversations.show(conversation.id, link.thread.workspace)
    return next(
        (
            citation
            for message in messages
            for citation in message.citations
            if citation.document_id == link.document_id
            and link.is_of(citation.revision)
            and (citation.page_number, citation.span) == (link.page_number, link.span)
        ),
        None,
    )


def since_answer(citation: Citation, pages: Sequence[Page]) -> SinceAnswer:
    """Where the passage is now among the pages that may be read, or what it has become; there is at least one page."""
    now = moved(citation, pages)
    if now is not None:
        return SinceAnswer(page_number=now.page_number, span=now.span, was_on=citation.page_number)
    change = change_of(citation.quote, {page.number: page.text for page in pages}, citation.page_number)
    nearest = min((page.number for page in pages), key=lambda number: abs(number - citation.page_number))
    return SinceAnswer(
        page_number=change.page_number or nearest,
        span=change.span,
        pieces=change.pieces,
        was_on=citation.page_number,
    )
