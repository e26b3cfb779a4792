"""The sources block: number, page, title, heading path and the beginning of the quote of every footnote. Pure."""

from collections.abc import Callable

from core.domain.answer import Citation

SourceLink = Callable[[Citation], str | None]  # where a footnote leads; None: nowhere that can be clicked
