"""Reading positions: "5", "chapter 9", "my-book.epub=in part II, chapter 3", "end" -> the last readable page.

An unclear position raises an error, because ignoring it would show spoilers. named_places.py reads the places.
"""

from collections.abc import Mapping

from core.access.positions.named_places import find_position, is_end, nearest
from core.domain.corpus import Document, SearchScope
from core.domain.service import TO_THE_END
from core.errors import BadInput
from core.ports import CorpusRepository
from core.text.words import collapse

LONGEST = 300  # characters of a place; of more, looking for all days it names in all titles takes minutes


def split_position(text: str) -> tuple[str | None, str]:
    """Split "[DOCUMENT=]place" into (document name or None, place)."""
    name, sign, place = text.rpartition("=")
    if not collapse(place):
        raise BadInput(f"The reading position {text!r} names no place: write a page number or a chapter's name.")
    return (collapse(name) or None) if sign else None, collapse(place)


async def positions_for(
    place: str,
    document: Document | None,
    corpus: CorpusRepository,
    scope: SearchScope,
    shown: SearchScope | None = None,
) -> dict[str, int]:
    """Return document id -> last readable page number, for "N or chapter name"; 0 if not even the first page is read.

    With a document: only of that one. Without: a chapter's name applies to every document with such a chapter; a bare
    page number needs a document. The place is looked up in `scope`, to the end; suggestions come only from `shown`.
    Raises BadInput if nothing fits.
    """
    if len(place) > LONGEST:
        raise BadInput(
            f"A reading position of {len(place):,} characters can't be understood: write a page number or a chapter's "
            "name."
        )
    if is_end(place):
        return {}
    if document is not None:
        return {document.id: await last_page(place, document, corpus, scope, shown)}
    if place.isdigit():
        raise BadInput(f"Page {place} of which document? Write the position as DOCUMENT={place}.")
    found: dict[str, int] = {}
    for candidate in await corpus.list_readable(scope):
        if candidate.pages > 1:
            last = find_position(place, await corpus.list_pages(candidate.id, scope))
            if last is not None:
                found[candidate.id] = last
    if not found:
        raise BadInput(f"No document has a chapter {place!r}: write the position as DOCUMENT=page number.")
    return found


async def last_page(
    place: str, document: Document, corpus: CorpusRepository, scope: SearchScope, shown: SearchScope | None = None
) -> int:
    """Return the last readable page of one document, for a place before its end."""
    last = find_position(place, await corpus.list_pages(document.id, scope))
    if last is not None:
        return last
    near = nearest(place, await corpus.list_pages(document.id, shown)) if shown is not None else []
    hint = f" Did you mean {' or '.join(repr(title) for title in near)}?" if near else ""
    raise BadInput(
        f"{document.title!r} has no chapter or page {place!r}: write the number of a page, a chapter, or “end”.{hint}"
    )


def lowest(*positions: Mapping[str, int]) -> dict[str, int]:
    """Return the lowest position for each document in any of these."""
    found: dict[str, int] = {}
    for document_id, last in (item for each in positions for item in each.items()):
        found[document_id] = min(last, found.get(document_id, last))
    return found


def describe_position(document: Document, last: int | None, at: str, *, is_channel: bool = False) -> str:
    """Describe a new position; `at` is the heading of its last page."""
    who = "this channel" if is_channel else "you"
    if last is None:
        return f"{who.capitalize()} no longer {'has' if is_channel else 'have'} a position in “{document.title}”."
    if last == TO_THE_END:
        return f"{who.capitalize()} may see all of “{document.title}”."
    if last == 0:
        return f"From now on {who} will see nothing of “{document.title}”: its first page is not read yet."
    where = f"page {last} ({at})" if at else f"page {last}"
    return f"From now on {who} will see nothing of “{document.title}” beyond {where}."
