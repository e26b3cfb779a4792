"""The form of a model's findings, and their proof.

A model is not believed: each finding has a quote that must be in its piece, and every name, number and day must be on
the page. Any other finding is dropped and counted in the extraction's record.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.domain.corpus import Document
from core.domain.extracts import (
    Data,
    Extract,
    ExtractorInput,
    ExtractType,
    Found,
    Piece,
    SaidOfPiece,
    Unproved,
)
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
DataT = TypeVar("DataT", bound=Data)


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
    def place(self) -> dict[str, Any]:
        """As items inside of an extract give it (core.domain.extracts.Place)."""
        return {"page_number": self.page_number, "span": (self.span.start, self.span.end)}

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


class ProseExtractor(ABC, Generic[FindingT, DataT]):
    """An extractor that a model answers with items of `item`, from which `choose` builds extracts of one type."""

    name: str
    version = 1
    finds: ExtractType
    schema: type[DataT]
    item: type[FindingT]
    asks: str
    left_out = NO_PROSE  # kinds of documents

    @property
    def types(self) -> frozenset[ExtractType]:
        return frozenset({self.finds})

    def reads(self, document: Document) -> bool:
        return document.kind not in self.left_out

    def wants(self, text: str) -> bool:
        return True

    def find(
        self, said: Sequence[SaidOfPiece], given: ExtractorInput, known: Sequence[Extract]
    ) -> Iterator[Found | Unproved]:
        proved: list[ProvedFinding[FindingT]] = []
        for item in prove(said, self.item):
            if isinstance(item, Unproved):
                yield item
            else:
                proved.append(item)
        same = [extract for extract in known if extract.type is self.finds]
        yield from self.choose(
            sorted(proved, key=lambda item: (item.page_number, item.span)),
            [(extract.page_number, self.schema.model_validate(extract.data)) for extract in same],
            given.document,
        )

    @abstractmethod
    def choose(
        self, proved: Sequence[ProvedFinding[FindingT]], known: Sequence[tuple[int, DataT]], document: Document
    ) -> Iterator[Found | Unproved]:
        """Yield the extracts of `proved`, which is in text order, without `known` (page number, data), and faults."""

    def found(self, page_number: int, span: Span, data: DataT) -> Found:
        return Found(type=self.finds, page_number=page_number, span=span, data=data.model_dump(), confidence=CONFIDENCE)


def _validated(item: Mapping[str, object], form: type[FindingT]) -> FindingT | str:
    try:
        return form.model_validate(item)
    except ValidationError as error:
        first = error.errors()[0]
        return f"it does not match the schema: {'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"


def _short(quote: str) -> str:
    return repr(shorten(quote, _SHOWN))
