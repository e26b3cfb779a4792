"""Pages cut into pieces that a model reads at once, where possible between paragraphs. Pure."""

from collections.abc import Iterable, Iterator

from core.domain.corpus import Page, Span
from core.domain.extracts import Piece

# Characters: some 3,000 tokens, so that what is asked for of it fits into one answer.
MAX_PIECE = 12_000
# Letters of a piece that can say anything.
MIN_LETTERS = 30
_BREAKS = ("\n\n", "\n", ". ", " ")


def to_pieces(pages: Iterable[Page]) -> Iterator[Piece]:
    """Pieces in text order; they lie side by side, and those that say nothing are left out."""
    for page in pages:
        for span in _cut(page.text):
            text = span.of(page.text)
            if sum(map(str.isalpha, text)) >= MIN_LETTERS:
                yield Piece(page_number=page.number, span=span, text=text)


def _cut(text: str) -> Iterator[Span]:
    start = 0
    while start < len(text):
        end = min(start + MAX_PIECE, len(text))
        if end < len(text):
            # In the last half of it, so that no piece is tiny.
            breaks = (text.rfind(mark, start + MAX_PIECE // 2, end) + len(mark) for mark in _BREAKS if mark in text)
            end = next((place for place in breaks if place > start + MAX_PIECE // 2), end)
        yield Span(start, end)
        start = end
