"""Financial figures in prose, found by a model; their values are read from the text itself."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from pydantic import Field

from core.domain.corpus import Document
from core.domain.extracts import Extract, ExtractorInput, ExtractType, Figure, Financial, Found, SaidOfPiece, Unproved
from core.domain.passages import Span
from storage.documents.extractors.llm import CONFIDENCE, ModelFinding, ProvedFinding, is_prose, prove, split
from storage.documents.tables.accounts import read_amount
from storage.documents.texts.quotes import is_within, plain_quote

_MAY_HOLD = re.compile(r"[$€£¥₹%]|\b(?:USD|EUR|GBP|JPY|CHF|million|billion|revenue|income|profit|cost|budget)\b", re.I)


class FigureFinding(ModelFinding):
    metric: str = Field(description="What is measured, as the text names it: revenue, net income ...")
    amount: str = Field(description="The number as written, with its currency, its sign and words such as million.")
    period: str = Field(default="", description="When, as written: 2024, Q1 2024 ...; empty where it is not said.")


class ModelFinancialExtractor:
    """One extract a page, of figures that rules did not find on it."""

    name = "model_financial"
    version = 1
    types = frozenset({ExtractType.FINANCIAL})
    item = FigureFinding
    asks = "Each financial figure of an organisation that a sentence gives: what is measured, how much, when."

    def reads(self, document: Document) -> bool:
        return is_prose(document) and document.kind not in ("epub", "foundry")

    def wants(self, text: str) -> bool:
        return any(map(str.isdigit, text)) and _MAY_HOLD.search(text) is not None

    def find(
        self, said: Sequence[SaidOfPiece], given: ExtractorInput, known: Sequence[Extract]
    ) -> Iterator[Found | Unproved]:
        proved, unproved = split(prove(said, FigureFinding))
        yield from unproved
        taken = [
            (row.page_number, row.span, row.value)
            for extract in known
            if extract.type is ExtractType.FINANCIAL
            for row in Financial.model_validate(extract.data).rows
        ]
        figures = []
        for item in proved:
            figure = _to_figure(item)
            if isinstance(figure, Unproved):
                yield figure
            elif not any(_same(figure, *place) for place in taken):
                taken.append((figure.page_number, figure.span, figure.value))
                figures.append(figure)
        for page_number, on_page in groupby(figures, key=lambda figure: figure.page_number):
            yield _to_found(page_number, list(on_page))


def _to_figure(item: ProvedFinding[FigureFinding]) -> Figure | Unproved:
    said = item.said
    if not is_within(said.amount, item.quote):
        return item.unproved(f"the amount {said.amount!r} is not in the quote")
    if not item.is_shown(said.metric):
        return item.unproved(f"the metric {said.metric!r} is not on the page")
    amount = read_amount(plain_quote(said.amount))
    if amount is None:
        return item.unproved(f"{said.amount!r} is not one number")
    return Figure(
        page_number=item.page_number,
        span=(item.span.start, item.span.end),
        period=said.period if item.is_shown(said.period) else None,
        metric=said.metric[:2_000],
        value=amount.value,
        unit=amount.unit,
        text=said.amount,
    )


def _same(figure: Figure, page_number: int, span: tuple[int, int], value: float) -> bool:
    """Return whether a number is the same one, at an overlapping place."""
    near = figure.page_number == page_number and figure.span[0] < span[1] and span[0] < figure.span[1]
    return near and figure.value == value


def _to_found(page_number: int, figures: Sequence[Figure]) -> Found:
    return Found(
        type=ExtractType.FINANCIAL,
        page_number=page_number,
        span=Span(min(each.span[0] for each in figures), max(each.span[1] for each in figures)),
        data=Financial(rows=tuple(figures)).model_dump(),
        confidence=CONFIDENCE,
    )
