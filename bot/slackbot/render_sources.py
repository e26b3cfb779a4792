"""The sources block: number, page, title, heading path and the beginning of the quote of every footnote. Pure.

Names: `source_entry`, `source_heading`, `footnote`, `Entry`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.presentation.answer_text import source_path, source_quote, source_title
from bot.slackbot.blocks import FLAVOUR, Element, Row, link, text
from core.domain.answer import Citation


@dataclass(frozen=True, slots=True)
class Entry:
    """A footnote in the list of sources."""

    number: int
    rows: tuple[Row, ...]

    @property
    def size(self) -> int:
        return sum(row.size for row in self.rows)


def source_entry(citation: Citation, address: str | None, *, is_repeated: bool) -> Entry:
    """A footnote's entry: with its quote, or, where a part before had it, its heading alone."""
    mark = text(f"[{citation.number}] ", bold=True)
    if is_repeated:
        heading = Row((mark, link(source_title(citation), address), text(" (quoted above)")))
        return Entry(citation.number, (heading,))
    heading = Row((mark, *source_heading(citation, address)))
    quote = source_quote(citation)
    quoted = (Row((text(f"“{quote}”"),), is_quoted=True),) if quote else ()
    return Entry(citation.number, (heading, *quoted))


def footnote(addresses: Mapping[int, str | None], number: int) -> str | None:
    """A number in the text, linked where its source can be opened; None for what is no footnote."""
    if number not in addresses:
        return None
    address = addresses[number]
    return FLAVOUR.link(f"[{number}]", address) if address else f"[{number}]"


def source_heading(citation: Citation, address: str | None) -> tuple[Element | None, ...]:
    """`Page 5 of “Guide” > Chapter > Section`, its first words a link."""
    path = source_path(citation)
    return (link(source_title(citation), address), text(f" > {path}") if path else None)
