"""The form of a model's findings, and their proof.

A model is not believed: each finding has a quote that must be in its piece, and every name, number and day must be on
the page. Any other finding is dropped and counted in the extraction's record.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.domain.corpus import Document
from core.domain.extracts import ExtractType, Found, Piece, SaidOfPiece, Unproved
from core.domain.passages import Span
from core.text.words import shorten
from storage.documents.texts.quotes import Quotable

# Below the confidence of rules, which read forms; a model interprets sentences.
CONFIDENCE = 0.5
# Kinds whose text is data, or was written by Footnote.
NO_PROSE = frozenset({"csv", "spreadsheet", "openapi", "kept"})
_SHOWN = 80  # characters of a quote in a sentence about it


class ModelFinding(BaseModel):
    """One thing as a model gives it. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    quote: str = Field(description="The words that say so, copied from the text letter by letter: a sentence or less.")


FindingT = TypeVar("FindingT", bound=ModelFinding)


class ProvedFinding(Generic[FindingT]):
    """A finding with the place of its quote, and the text of its piece."""

    def __init__(self, said: FindingT, piece: Piece, text: Quotable, place: Span) -> None:
        self.said = said
        self.page_number = piece.page_number
        self.span = Span(piece.span.start + place.start, piece.span.start + place.end)
        self.quote = place.of(piece.text)
        self._text = text

    def is_shown(self, words: str) -> bool:
        """Return whether the piece holds the words."""
        return self._text.holds(words)

    @property
    def place(self) -> dict[str, object]:
        """As items inside of an extract give it (extract_data.Place)."""
        return {"page_number": self.page_number, "span": (self.span.start, self.span.end)}

    def found(self, kind: ExtractType, data: BaseModel) -> Found:
        """Return an extract at the place of the quote."""
        return Found(
            type=kind, page_number=self.page_number, span=self.span, data=data.model_dump(), confidence=CONFIDENCE
        )

    def unproved(self, reason: str) -> Unproved:
        return Unproved(page_number=self.page_number, reason=f"{reason} ({_short(self.said.quote)})")


def prove(said: Sequence[SaidOfPiece], form: type[FindingT]) -> Iterator[ProvedFinding[FindingT] | Unproved]:
    """Yield each finding of the right form with a quote in its piece, in the pieces' order, and the other ones' faults.

    A repeated quote gets its first and its second place, if there are two.
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
            yield ProvedFinding(fitting, each.piece, text, place)


def split(found: Iterable[ProvedFinding[FindingT] | Unproved]) -> tuple[list[ProvedFinding[FindingT]], list[Unproved]]:
    """Return the proved findings in text order, and the unproved ones."""
    proved: list[ProvedFinding[FindingT]] = []
    unproved: list[Unproved] = []
    for item in found:
        if isinstance(item, Unproved):
            unproved.append(item)
        else:
            proved.append(item)
    return sorted(proved, key=lambda item: (item.page_number, item.span)), unproved


class ProseExtractor:
    """An extractor that is asked about every piece of prose."""

    def reads(self, document: Document) -> bool:
        return is_prose(document)

    def wants(self, text: str) -> bool:
        return True


def is_prose(document: Document) -> bool:
    return document.kind not in NO_PROSE


def _validated(item: Mapping[str, object], form: type[FindingT]) -> FindingT | str:
    try:
        return form.model_validate(item)
    except ValidationError as error:
        first = error.errors()[0]
        return f"it does not match the schema: {'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"


def _short(quote: str) -> str:
    return repr(shorten(quote, _SHOWN))
