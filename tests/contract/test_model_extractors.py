"""The contract of ModelExtractor: whatever a model says, only what stands in the pages becomes an extract."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.extracts import ExtractorInput, Found, SaidOfPiece, Unproved
from core.ports.documents import ModelExtractor
from storage.documents.extraction.by_rules import to_extracts
from storage.documents.extractors.base import build_extractors, build_model_extractors
from storage.documents.texts.quotes import plain_quote, to_pieces
from tests.contract.test_extractors import API, MINUTES, NOTE, REPORT, build_given, inner_places

TEXT = (
    f"{NOTE}\n{MINUTES}\n{API}\n{REPORT}\nCarla Núñez leads the harbour board. Fares brought in $1.2 million in 2024. "
    "Call GET /piers/{pier.id} to read a pier.\n"
)
# What each finds in TEXT, as a model would say it.
SAID: dict[str, list[dict[str, Any]]] = {
    "model_meetings": [
        {"kind": "decision", "quote": "We agreed to meet monthly."},
        {"kind": "action_item", "quote": "Ben to paint the gate", "owner": "Ben", "description": "paint the gate"},
    ],
    "model_api": [{"quote": "Call GET /piers/{pier.id}", "method": "GET", "path": "/piers/{pier.id}"}],
    "model_financial": [{"quote": "Fares brought in $1.2 million", "metric": "Fares", "amount": "$1.2 million"}],
    "model_entities": [{"quote": "Carla Núñez leads", "name": "Carla Núñez", "kind": "person"}],
    "model_relations": [
        {
            "quote": "Carla Núñez leads the harbour board",
            "source": "Carla Núñez",
            "kind": "leads",
            "target": "harbour board",
        }
    ],
    "model_pages": [
        {"quote": "It sails at seven", "summary": "When the ferry sails.", "topics": ["ferry", "unknown topic"]}
    ],
}

extractors = pytest.mark.parametrize(
    "extractor", build_model_extractors(), ids=[extractor.name for extractor in build_model_extractors()]
)


def find(
    extractor: ModelExtractor, document: ExtractorInput, said: list[dict[str, Any]]
) -> tuple[list[Found], list[Unproved]]:
    """What it makes of the same things said of every piece; the same each time."""
    told = [SaidOfPiece(piece=piece, said=tuple(said)) for piece in to_pieces(document.pages)]
    items = list(extractor.find(told, document, ()))
    assert items == list(extractor.find(told, document, ()))
    return [item for item in items if isinstance(item, Found)], [item for item in items if isinstance(item, Unproved)]


def quoted_by(found: list[Found], document: ExtractorInput) -> set[str]:
    """What stands in the pages where all of it says that it stands; of rows, where each of them does."""
    texts = {page.number: page.text for page in document.pages}
    places = [place for item in found for place in inner_places(item.data)]
    places += [(item.page_number, (item.span.start, item.span.end)) for item in found if "rows" not in item.data]
    return {plain_quote(texts[page_number][start:end]) for page_number, (start, end) in places}


def items_for(extractor: ModelExtractor, text: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Things as a model may say them: fields of the form and others, of the text and not, of right and wrong types."""
    pieces = st.integers(0, len(text)).flatmap(
        lambda start: st.integers(1, 60).map(lambda length: text[start : start + length])
    )
    words = st.one_of(
        pieces, st.sampled_from(["", "GET", "decision", "person", "leads", "2024", "$5"]), st.text(max_size=9)
    )
    values = st.one_of(words, words, words, st.none(), st.booleans(), st.integers(), st.lists(words, max_size=2))
    fields = [*extractor.item.model_fields, "unknown"]
    right = st.sampled_from(SAID[extractor.name])
    made = st.dictionaries(st.sampled_from(fields), values, max_size=6)
    mixed = st.tuples(right, made).map(lambda both: {**both[0], **both[1]})
    return st.lists(st.one_of(right, made, mixed), max_size=5)


def test_all_have_names_of_their_own() -> None:
    names = [*(item.name for item in build_extractors()), *(item.name for item in build_model_extractors())]
    assert len(set(names)) == len(names)
    assert all(
        item.asks and item.version >= 1 and "quote" in item.item.model_fields for item in build_model_extractors()
    )
    assert set(SAID) == {item.name for item in build_model_extractors()}


@extractors
def test_an_extractor_finds_what_it_is_for(extractor: ModelExtractor) -> None:
    document = build_given(TEXT)
    assert any(extractor.wants(piece.text) for piece in to_pieces(document.pages))
    found, _ = find(extractor, document, SAID[extractor.name])
    assert {item.type for item in found} == extractor.types


@extractors
def test_data_and_what_footnote_wrote_is_not_read(extractor: ModelExtractor) -> None:
    read = [kind for kind in ("csv", "openapi", "kept", "markdown") if extractor.reads(build_given("A", kind).document)]
    assert read == ["markdown"]


@extractors
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_whatever_a_model_says_only_what_is_on_the_pages_is_found(
    extractor: ModelExtractor, data: st.DataObject
) -> None:
    document, said = build_given(TEXT), data.draw(items_for(extractor, TEXT))
    found, _ = find(extractor, document, said)
    assert quoted_by(found, document) <= {plain_quote(str(each.get("quote"))) for each in said}
    assert {item.type for item in found} <= extractor.types
    assert all(0 < item.confidence <= 0.5 for item in found)
    assert [(item.page_number, item.span) for item in found] == sorted((item.page_number, item.span) for item in found)
    assert to_extracts(found, extractor, document).error is None


@extractors
def test_the_same_thing_said_of_every_piece_is_found_once(extractor: ModelExtractor) -> None:
    once, _ = find(extractor, build_given(TEXT), SAID[extractor.name])
    twice, _ = find(extractor, build_given(TEXT), SAID[extractor.name] * 2)
    assert twice == once
