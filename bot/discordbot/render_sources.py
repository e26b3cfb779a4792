"""The sources block: number, page, title, heading path and the beginning of the quote of every footnote. Pure.

Names: `SourceLink`, `source_entry`, `source_title`, `also_looked_at`, `fill`.
"""

from collections.abc import Callable, Iterable, Sequence

from bot.rendering import Flavour, clip, units
from core.domain.answer import Answer, Citation, Reference

SourceLink = Callable[[Citation], str | None]  # where a footnote leads; None: nowhere that can be clicked

# Units. Whatever they hold, heading, path and quote of one entry fit well into one message.
TITLE_LENGTH = 100
PATH_LENGTH = 160
QUOTE_LENGTH = 220
LABEL_LENGTH = 80
ALSO_LISTED = 10  # references named one by one
PLAIN = Flavour()


def source_entry(citation: Citation, address: str | None, *, is_repeated: bool) -> str:
    """A footnote's entry: with its quote and an empty line, or, where a part before had it, its heading alone."""
    mark = f"**\\[{citation.number}\\]** "
    if is_repeated:
        return f"{mark}{PLAIN.linked(source_title(citation), address)} (quoted above)"
    quote = clip(citation.quote, QUOTE_LENGTH)
    return f"{mark}{source_heading(citation, address)}" + (f"\n> “{PLAIN.plain(quote)}”\n" if quote else "")


def source_heading(citation: Citation, address: str | None) -> str:
    """`Page 5 of “Guide” > Chapter > Section`, its first words a link."""
    title = clip(citation.document_title, TITLE_LENGTH)
    path = [clip(part, TITLE_LENGTH) for part in citation.heading_path]
    path = path[1:] if path[:1] == [title] else path
    where = PLAIN.linked(source_title(citation), address)
    return " > ".join([where, PLAIN.plain(clip(" > ".join(path), PATH_LENGTH))]) if any(path) else where


def source_title(citation: Citation) -> str:
    """Page and title as plain text; a document without a title goes by its file's name."""
    title = clip(citation.document_title, TITLE_LENGTH)
    name = title or clip(citation.document.rsplit("/", 1)[-1], TITLE_LENGTH) or "a document"
    return f"Page {citation.page_number} of “{name}”"


def also_looked_at(answer: Answer) -> str:
    """What was seen besides the cited documents, as one line; "" for nothing."""
    cited = {citation.document for citation in answer.citations}
    others = {ref.label: ref for ref in answer.references if ref.document is None or ref.document not in cited}
    if not others:
        return ""
    named = [_reference(reference) for reference in list(others.values())[:ALSO_LISTED]]
    more = f" and {len(others) - ALSO_LISTED} more" if len(others) > ALSO_LISTED else ""
    return f"Also looked at: {', '.join(named)}{more}"


def fill(entries: Iterable[str], first: int, limit: int) -> list[list[str]]:
    """Entries in order, in lists of at most `limit` units with a line end each; the first list has `first`.

    Only the first list may be empty: where not even one entry fits into it.
    """
    lists: list[list[str]] = [[]]
    room = first
    for entry in entries:
        size = units(entry) + 1
        if size > room:
            lists.append([])
            room = limit
        lists[-1].append(entry)
        room -= size
    return lists


def pages_of(lists: Sequence[Sequence[str]]) -> list[str]:
    """Each list as one text; those in which nothing stands are left out."""
    return [text for entries in lists if (text := "\n".join(entries).strip("\n"))]


def _reference(reference: Reference) -> str:
    label = PLAIN.plain(clip(reference.label, LABEL_LENGTH) or "a document")
    return f"{label} (leads nowhere)" if reference.broken else label
