"""The sources block: number, page, title, heading path and the beginning of the quote of every footnote. Pure.

Names: `source_entry`, `source_heading`, `footnote`, `pack_items`, `pages_of`, `PLAIN`.
"""

from collections.abc import Iterable, Mapping, Sequence

from bot.presentation import answer_text
from bot.presentation.answer_text import source_path, source_quote, source_title
from bot.presentation.rendering import Flavour, units
from core.domain.answer import Citation

PLAIN = Flavour()


def source_entry(citation: Citation, address: str | None, *, is_repeated: bool) -> str:
    """A footnote's entry: with its quote and an empty line, or, where a part before had it, its heading alone."""
    mark = f"**\\[{citation.number}\\]** "
    if is_repeated:
        return f"{mark}{PLAIN.linked(source_title(citation), address)} (quoted above)"
    quote = source_quote(citation)
    return f"{mark}{source_heading(citation, address)}" + (f"\n> “{PLAIN.plain(quote)}”\n" if quote else "")


def source_heading(citation: Citation, address: str | None) -> str:
    """`Page 5 of “Guide” > Chapter > Section`, its first words a link."""
    path = source_path(citation)
    where = PLAIN.linked(source_title(citation), address)
    return f"{where} > {PLAIN.plain(path)}" if path else where


def footnote(addresses: Mapping[int, str | None], number: int) -> str | None:
    """A number in the text, linked where its source can be opened; None for what is no footnote."""
    if number not in addresses:
        return None
    address = addresses[number]
    return f"[[{number}]]({address})" if address else f"[{number}]"


def pack_items(entries: Iterable[str], first: int, limit: int) -> list[list[str]]:
    """Entries in order, in lists of at most `limit` units with a line end each; the first list has `first`."""
    return answer_text.pack_items(entries, lambda entry: units(entry) + 1, first, limit)


def pages_of(lists: Sequence[Sequence[str]]) -> list[str]:
    """Each list as one text; those in which nothing stands are left out."""
    return [text for entries in lists if (text := "\n".join(entries).strip("\n"))]
