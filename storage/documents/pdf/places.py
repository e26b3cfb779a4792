"""Where the words of a PDF's page stand in the page's text. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from core.domain.corpus import Span
from storage.documents.pdf.layout import Word
from storage.documents.pdf.page_tables import to_lines

# Characters of text that may stand between two words that follow each other, and more for a word that is no number.
_NEAR = 60
_FAR = 1_500
_LONG = 5


def place_words(words: Sequence[Word], text: str) -> dict[int, Span]:
    """The place of each word, by its order; words that are not found are left out.

    The text has the words in the file's order, or line by line as they are seen: what finds more of them is right.
    """
    as_written = _place(words, text)
    if len(as_written) == len(words):
        return as_written
    as_seen = _place([word for line in to_lines(words) for word in line], text)
    return max(as_written, as_seen, key=len)


def _place(words: Iterable[Word], text: str) -> dict[int, Span]:
    places = {}
    cursor = 0
    for word in words:
        wanted = word.text.replace("\ufffe", "-").replace("\x02", "-")
        start = text.find(wanted, cursor, cursor + _NEAR + len(wanted))
        if start < 0 and len(wanted) >= _LONG:
            start = text.find(wanted, cursor, cursor + _FAR)
        if start >= 0:
            cursor = start + len(wanted)
            places[word.order] = Span(start, cursor)
    return places


def span_of(words: Iterable[Word], places: Mapping[int, Span]) -> Span | None:
    """From the first to the last of the words that have a place."""
    found = [places[word.order] for word in words if word.order in places]
    return Span(min(span.start for span in found), max(span.end for span in found)) if found else None
