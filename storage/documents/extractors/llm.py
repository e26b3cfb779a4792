"""What extractors that ask a model have in common: the form of what it gives, and the proof of it.

A model is not believed: each thing that it gives has a quote, which has to stand in the piece it was shown, and every
name, number and day has to be on the page. What is not is dropped, and the extraction's record says so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.domain.corpus import Document, Span
from core.domain.extracts import ExtractType, Found, Piece, SaidOfPiece, Unproved
from core.text.words import shorten
from storage.documents.texts.quotes import Quotable

# Below what rules find: those read what is written by a form, a model what it takes a sentence for.
CONFIDENCE = 0.5
# Kinds whose text is data, or was written by Footnote.
NO_PROSE = frozenset({"csv", "spreadsheet", "openapi", "kept"})
_SHOWN = 80  # characters of a quote in a sentence about it


class Said(BaseModel):
    """One thing as a model gives it. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    quote: str = Field(description="The words that say so, copied from the text letter by letter: a sentence or less.")


SaidT = TypeVar("SaidT", bound=Said)


class Proved(Generic[SaidT]):
    """A thing that was said, where its quote stands, and the text it was shown in."""

    def __init__(self, said: SaidT, piece: Piece, text: Quotable, place: Span) -> None:
        self.said = said
        self.page_number = piece.page_number
        self.span = Span(piece.span.start + place.start, piece.span.start + place.end)
        self.quote = place.of(piece.text)
        self._text = text

    def is_shown(self, words: str) -> bool:
        """Whether words stand anywhere in the piece."""
        return self._text.holds(words)

    @property
    def place(self) -> dict[str, object]:
        """As items inside of an extract give it (extract_data.Place)."""
        return {"page_number": self.page_number, "span": (self.span.start, self.span.end)}

    def found(self, kind: ExtractType, data: BaseModel) -> Found:
        """An extract that stands where the quote does."""
        return Found(
            type=kind, page_number=self.page_number, span=self.span, data=data.model_dump(), confidence=CONFIDENCE
        )

    def unproved(self, reason: str) -> Unproved:
        return Unproved(page_number=self.page_number, reason=f"{reason} ({_short(self.said.quote)})")


def prove(said: Sequence[SaidOfPiece], form: type[SaidT]) -> Iterator[Proved[SaidT] | Unproved]:
    """Each thing that fits the form and whose quote is there, in the order of pieces; and why others are left out.

    The same quote given twice stands for its first and its second place, where there are two.
    """
    for each in said:
        text, taken = Quotable(each.piece.text), dict[str, int]()
        for item in each.said:
            fitting = _validated(item, form)
            if isinstance(fitting, str):
                yield Unproved(page_number=each.piece.page_number, reason=fitting)
                continue
            place = text.find(fitting.quote, start=taken.get(fitting.quote, 0)) or text.find(fitting.quote)
            if place is None:
                reason = f"its quote is not on page {each.piece.page_number}: {_short(fitting.quote)}"
                yield Unproved(page_number=each.piece.page_number, reason=reason)
                continue
            taken[fitting.quote] = place.end
            yield Proved(fitting, each.piece, text, place)


def split(found: Iterable[Proved[SaidT] | Unproved]) -> tuple[list[Proved[SaidT]], list[Unproved]]:
    """What was proved, in text order, and what was not."""
    proved: list[Proved[SaidT]] = []
    unproved: list[Unproved] = []
    for item in found:
        if isinstance(item, Unproved):
            unproved.append(item)
        else:
            proved.append(item)
    return sorted(proved, key=lambda item: (item.page_number, item.span)), unproved


class OfProse:
    """An extractor that is asked about every piece of prose."""

    def reads(self, document: Document) -> bool:
        return is_prose(document)

    def wants(self, text: str) -> bool:
        return True


def is_prose(document: Document) -> bool:
    return document.kind not in NO_PROSE


def _validated(item: Mapping[str, object], form: type[SaidT]) -> SaidT | str:
    try:
        return form.model_validate(item)
    except ValidationError as error:
        first = error.errors()[0]
        return f"it does not fit the form: {'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"


def _short(quote: str) -> str:
    return repr(shorten(quote, _SHOWN))
