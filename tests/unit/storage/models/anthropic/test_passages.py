"""Passages cut into blocks map back to the page exactly."""

import itertools
import logging
from dataclasses import replace
from typing import Any

import pytest
from anthropic.types import CitationPageLocation, CitationsSearchResultLocation
from hypothesis import given
from hypothesis import strategies as st

from core.domain.chat import ChatRequest, ToolInvocation
from core.domain.passages import Passage, Span
from storage.models.anthropic.messages import (
    block_spans,
    passages_shown,
    source_of,
    to_citations,
    to_params,
    to_search_result,
)
from tests.anthropic_server.passages import PAGE, calls, found, numbered, passage, results, user


@st.composite
def passages(draw: st.DrawFn) -> Passage:
    """Any text with any ordered sentence spans inside, as foreign chunkers may give them."""
    text = draw(st.text(alphabet="ab. \n", max_size=60))
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, len(text)))
    bounds = sorted(draw(st.lists(st.integers(start, end), max_size=10)))
    sentences = tuple(Span(a, b) for a, b in zip(bounds[::2], bounds[1::2], strict=False))
    made = passage(text, start=start, end=end)
    return Passage(**{**{f: getattr(made, f) for f in made.__slots__}, "sentences": sentences})


def location(item: Passage, first: int, end: int, **overrides: Any) -> CitationsSearchResultLocation:
    spans = block_spans(item)
    fields = {
        "type": "search_result_location",
        "source": source_of(item),
        "title": "t",
        "cited_text": "".join(text_of(item, span) for span in spans[first:end]),
        "search_result_index": 0,
        "start_block_index": first,
        "end_block_index": end,
    }
    return CitationsSearchResultLocation.model_validate({**fields, **overrides})


def text_of(item: Passage, span: Span) -> str:
    return item.text[span.start - item.span.start : span.end - item.span.start]


@given(passages())
def test_blocks_touch_are_never_blank_and_joined_are_the_passage(item: Passage) -> None:
    spans = block_spans(item)
    assert all(one.end == two.start for one, two in itertools.pairwise(spans))
    assert all(text_of(item, span).strip() for span in spans)
    assert "".join(text_of(item, span) for span in spans).strip() == item.text.strip()
    assert bool(spans) == bool(item.text.strip())


@given(passages(), st.data())
def test_a_citation_of_any_blocks_is_their_text_in_the_page_without_white_space_behind(
    item: Passage, data: st.DataObject
) -> None:
    spans = block_spans(item)
    if not spans:
        return
    first = data.draw(st.integers(0, len(spans) - 1))
    end = data.draw(st.integers(first + 1, len(spans)))
    (claim,) = to_citations(location(item, first, end), {source_of(item): [item]})
    assert item.span.contains(claim.span)
    assert text_of(item, claim.span) == "".join(text_of(item, span) for span in spans[first:end]).rstrip()


def test_each_sentence_is_a_block_and_a_heading_before_them_is_one_too() -> None:
    block = to_search_result([numbered(passage())])
    assert [part["text"] for part in block["content"]] == [
        "# Rules\n\n",
        "The gate opens at nine. ",
        "It closes at five.\n\n",
        "Nobody enters  after dark! ",
        "Ask Ann.",
    ]
    assert block["source"] == "footnote://passage/p1"
    assert block["title"] == "The Castle > Rules, p. 3"
    assert block["citations"] == {"enabled": True}


def test_a_passage_without_sentences_is_one_block() -> None:
    assert block_spans(passage("no full stop here")) == (Span(0, 17),)


def test_a_blank_passage_is_not_sent() -> None:
    assert passages_shown([results(found("t", passage(" \n ")))]) == {}


def test_white_space_lost_between_blocks_is_given_back_from_the_page() -> None:
    lost = "The gate opens at nine.It closes at five."
    shown = passages_shown([results(found("t", passage()))])
    (claim,) = to_citations(location(passage(), 1, 3, cited_text=lost), shown)
    assert claim.cited_text == "The gate opens at nine. It closes at five."
    assert claim.span.of(PAGE) == claim.cited_text


def test_words_that_differ_are_handed_on_as_given_for_the_proof_to_refuse() -> None:
    other = location(passage(), 1, 2, cited_text="The gate opens at ten.")
    (claim,) = to_citations(other, {source_of(passage()): [passage()]})
    assert claim.cited_text == "The gate opens at ten."


@pytest.mark.parametrize(("first", "end"), [(0, 6), (2, 2), (3, 1), (-1, 1)])
def test_blocks_that_were_not_sent_are_not_cited(first: int, end: int) -> None:
    assert to_citations(location(passage(), first, end), {source_of(passage()): [passage()]}) == ()


def test_other_kinds_of_citations_are_left_out_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    other = CitationPageLocation(
        type="page_location", cited_text="x", document_index=0, start_page_number=1, end_page_number=2
    )
    with caplog.at_level(logging.WARNING):
        assert to_citations(other, {}) == ()
    assert "page_location" in caplog.text


def test_neighbours_under_the_same_headings_share_a_search_result_and_are_cited_apart() -> None:
    one = replace(passage("The gate opens at nine.", passage_id="p1"), ordinal=1)
    other = replace(passage("It closes at five.", passage_id="p2"), ordinal=2)
    elsewhere = replace(passage("Ask Ann.", passage_id="p3"), ordinal=3, heading_path=("Other",))
    shown = passages_shown([results(found("t", one, other, elsewhere))])
    assert [source.rpartition("/")[2] for source in shown] == ["p1", "p3"]
    both = location(one, 0, 1, cited_text="The gate opens at nine.It closes at five.", end_block_index=2)
    assert [(claim.passage_id, claim.cited_text) for claim in to_citations(both, shown)] == [
        ("p1", "The gate opens at nine."),
        ("p2", "It closes at five."),
    ]


def test_a_passage_is_sent_where_it_is_shown_first_and_named_where_it_is_found_again() -> None:
    first, second = results(found("t1", passage())), results(found("t2", passage(), passage("New.", passage_id="p2")))
    asked = [calls(ToolInvocation(id=name, name="search", arguments={})) for name in ("t1", "t2")]
    request = ChatRequest(system="", messages=(user("When?"), asked[0], first, asked[1], second))
    turns = to_params(request, model="m", max_tokens=1)["messages"]
    kinds = [[part["type"] for part in turn["content"][0]["content"]] for turn in turns[2::2]]  # type: ignore[index]
    assert kinds == [["search_result"], ["search_result", "text"]]
    assert turns[4]["content"][0]["content"][1]["text"] == "Found as well, and shown above: The Castle, p. 3"  # type: ignore[index]
