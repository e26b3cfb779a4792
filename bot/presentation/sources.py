"""The documents that an answer cites, each once, as its line of sources names them on every platform. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath

from bot.presentation.markdown import clip
from core.domain.answer import Citation
from core.domain.channels import is_said
from core.text.words import collapse

MOST_NAMED = 5  # documents; the others are counted
NAME_LENGTH = 80  # units of a title, and of a place
_PAGED = (".pdf", ".docx", ".doc", ".odt", ".pptx", ".odp")  # their pages are printed ones
_BETWEEN = " · "
_LEAST_RUN = 3  # numbers that are written as a range


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A cited document. `place` is "" if its footnotes are on more than one."""

    title: str
    place: str
    notes: tuple[Citation, ...]  # by number

    @property
    def name(self) -> str:
        """Return `The season of 2025, p. 3` or `Fleet › How many may board`, at most twice NAME_LENGTH long."""
        title, place = clip(self.title, NAME_LENGTH) or "a document", clip(self.place, NAME_LENGTH)
        if not place:
            return title
        return f"{title}, {place}" if place.startswith("p. ") else f"{title} › {place}"

    @property
    def marks(self) -> str:
        """Return `[2] [3]`, or `[2]–[9]` for a row of numbers."""
        numbers = [citation.number for citation in self.notes]
        runs = [[pair[1] for pair in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
        return " ".join(
            f"[{run[0]}]–[{run[-1]}]" if len(run) >= _LEAST_RUN else " ".join(f"[{one}]" for one in run) for run in runs
        )


def sources_of(citations: Sequence[Citation]) -> list[Source]:
    """Return the cited documents in the order of their first footnote."""
    documents: dict[str, list[Citation]] = {}
    for citation in citations:
        documents.setdefault(citation.document_id, []).append(citation)
    return [
        Source(
            title=title_of(cited[0]),
            place=place_of(cited[0]) if len({place_of(item) for item in cited}) == 1 else "",
            notes=tuple(cited),
        )
        for cited in documents.values()
    ]


def sources_line(citations: Sequence[Citation], show: Callable[[Source], str]) -> str:
    """Return the documents on one line, five at most; "" without a footnote. `show` returns one of them."""
    sources = sources_of(citations)
    more = len(sources) - MOST_NAMED
    shown = [show(source) for source in sources[:MOST_NAMED]]
    return _BETWEEN.join([*shown, *([f"and {more} more"] if more > 0 else [])])


def place_of(citation: Citation) -> str:
    """Return a place as its document names it: "p. 3" if it has printed pages, else the nearest heading or sheet."""
    if PurePosixPath(citation.document.lower()).suffix in _PAGED:
        return f"p. {citation.page_number}"
    path = [] if is_said(citation.document) else list(citation.heading_path)
    return collapse(path[-1]) if path and path != [title_of(citation)] else ""


def title_of(citation: Citation) -> str:
    """Return the title of a cited document; of a message in a channel, who said it where and when."""
    if is_said(citation.document):
        return collapse(citation.heading_path[-1])
    return collapse(citation.document_title) or PurePosixPath(citation.document).name
