"""Where a text that a model gave as a quote stands. Pure, and linear in the text.

What models change when they copy is left out of account: white space, quotation marks, marks of emphasis and of tables.
All else has to be there letter by letter, and what is kept is the page's own text.
"""

from functools import lru_cache

from core.domain.corpus import Span

# Characters; longer is no statement but a passage.
MAX_QUOTE = 1_200
_DROPPED = frozenset("*_`~|\"'“”„‘’«»\u00ad\u200b\ufeff")


class Quotable:
    """A text in which quotes are looked up."""

    def __init__(self, text: str) -> None:
        self._plain, self._places = _plain(text)

    def find(self, quote: str, *, start: int = 0) -> Span | None:
        """Where it stands first, from `start` on and whole words only; None where it does not, or says nothing."""
        wanted = plain_quote(quote)
        if not any(map(str.isalnum, wanted)) or len(quote) > MAX_QUOTE:
            return None
        place = self._plain.find(wanted)
        while place >= 0:
            end = place + len(wanted)
            if self._places[place] >= start and self._is_whole(place, end):
                return Span(self._places[place], self._places[end - 1] + 1)
            place = self._plain.find(wanted, place + 1)
        return None

    def holds(self, words: str) -> bool:
        """Whether words stand in the text, in whichever letters."""
        wanted = plain_quote(words).casefold()
        return bool(wanted) and _is_in(wanted, self._plain.casefold())

    def _is_whole(self, place: int, end: int) -> bool:
        return _between(self._plain, place) and _between(self._plain, end)


def plain_quote(text: str) -> str:
    """A text without what is left out of account, to compare it."""
    return _plain(text)[0]


def is_within(words: str, quote: str) -> bool:
    """Whether words stand in a quote, letter by letter."""
    wanted = plain_quote(words)
    return bool(wanted) and _is_in(wanted, plain_quote(quote))


def _is_in(wanted: str, text: str) -> bool:
    place = text.find(wanted)
    while place >= 0:
        if _between(text, place) and _between(text, place + len(wanted)):
            return True
        place = text.find(wanted, place + 1)
    return False


def _between(text: str, place: int) -> bool:
    """Whether no word goes on there. Writing without spaces has no words to tell apart."""
    before, after = text[place - 1 : place], text[place : place + 1]
    return not (before.isalnum() and after.isalnum() and (before.isascii() or after.isascii()))


@lru_cache(maxsize=32)
def _plain(text: str) -> tuple[str, tuple[int, ...]]:
    """Letters and single spaces, and where each stands in the text."""
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
