"""Pages cut into pieces for a model, and the model's quotes found in them. Pure."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from core.domain.corpus import Page
from core.domain.extracts import Piece
from core.domain.passages import Span

# Characters: some 3,000 tokens, so that the findings of a piece fit into one answer.
MAX_PIECE = 12_000
# Letters of a piece that can say anything.
MIN_LETTERS = 30
_BREAKS = ("\n\n", "\n", ". ", " ")


def to_pieces(pages: Iterable[Page]) -> Iterator[Piece]:
    """Yield adjacent pieces in text order, except pieces with hardly any letters."""
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


# Characters; longer is no statement but a passage.
MAX_QUOTE = 1_200
_DROPPED = frozenset("*_`~|\"'“”„‘’«»\u00ad\u200b\ufeff")


class Quotable:
    """A text in which quotes are looked up."""

    def __init__(self, text: str) -> None:
        self._plain, self._places = _plain(text)

    def find(self, quote: str, *, start: int = 0) -> Span | None:
        """Return the first span from `start` on, of whole words only; None if it isn't found or holds no word."""
        wanted = plain_quote(quote)
        if not any(map(str.isalnum, wanted)) or len(quote) > MAX_QUOTE:
            return None
        for place in _places(wanted, self._plain):
            if self._places[place] >= start:
                return Span(self._places[place], self._places[place + len(wanted) - 1] + 1)
        return None

    def holds(self, words: str) -> bool:
        """Return whether the text holds the words, ignoring case."""
        wanted = plain_quote(words).casefold()
        return bool(wanted) and next(_places(wanted, self._plain.casefold()), None) is not None


def plain_quote(text: str) -> str:
    """Return a text in the form that quotes are compared in."""
    return _plain(text)[0]


def is_within(words: str, quote: str) -> bool:
    """Return whether a quote holds the words, letter by letter."""
    wanted = plain_quote(words)
    return bool(wanted) and next(_places(wanted, plain_quote(quote)), None) is not None


def _places(wanted: str, text: str) -> Iterator[int]:
    """Yield the positions of some words in a text, of whole words only."""
    place = text.find(wanted)
    while place >= 0:
        if _between(text, place) and _between(text, place + len(wanted)):
            yield place
        place = text.find(wanted, place + 1)


def _between(text: str, place: int) -> bool:
    before, after = text[place - 1 : place], text[place : place + 1]
    return not (before.isalnum() and after.isalnum() and (before.isascii() or after.isascii()))


@lru_cache(maxsize=32)
def _plain(text: str) -> tuple[str, tuple[int, ...]]:
    """Return letters and single spaces, and the position of each in the text."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        if letter in _DROPPED:
            continue
        if letter.isspace():
            letter = " "
            if not letters or letters[-1] == " ":
                continue
        letters.append(letter)
        places.append(place)
    while letters and letters[-1] == " ":
        letters.pop()
        places.pop()
    return "".join(letters), tuple(places)
