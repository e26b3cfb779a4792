"""A quote is lost exactly when its document does not have it any more, word for word."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.answers.passages import lost_quotes, moved, place_of
from core.domain.features import Fate, LiveTexts, LostQuote
from core.domain.passages import Span
from tests.builders import build_citation, build_document, build_pages

QUOTE = "under the mat"
SENTENCES = st.sampled_from([QUOTE, "under  the mat", "Under the mat", "The key", ". ", "the mat under ", "\n", ""])
PAGES = st.lists(st.lists(SENTENCES, max_size=6).map("".join), max_size=4)


@given(PAGES, st.integers(1, 5), st.integers(0, 60))
def test_a_quote_is_lost_exactly_when_no_page_has_it(pages: list[str], page: int, start: int) -> None:
    citation = build_citation(page_number=page, span=Span(start, start + len(QUOTE)), quote=QUOTE)
    live = LiveTexts(revision="r2", texts=dict(enumerate(pages, start=1)))
    is_there = any(QUOTE in text for text in pages)

    assert lost_quotes([citation], live) == (() if is_there else (LostQuote(number=1, fate=Fate.CHANGED),))
    found = place_of(citation, live.texts)
    assert (found is not None) == is_there
    if found is not None:
        number, span = found
        text = live.texts[number]
        assert span.of(text) == QUOTE
        assert QUOTE not in live.texts.get(page, "") or number == page  # its own page before others
        places = [place for place in range(len(text)) if text.startswith(QUOTE, place)]
        assert min(abs(place - start) for place in places) == abs(span.start - start)


def test_all_quotes_of_a_document_that_is_out_are_gone() -> None:
    found = lost_quotes([build_citation(number=2), build_citation(number=1)], None)
    assert [(quote.number, quote.fate) for quote in found] == [(1, Fate.GONE), (2, Fate.GONE)]


def test_what_was_cited_of_the_very_revision_is_not_looked_for() -> None:
    live = LiveTexts(revision="r1", texts={})
    assert lost_quotes([build_citation(revision="r1")], live) == ()
    assert lost_quotes([build_citation(revision="r0")], live) != ()


@pytest.mark.parametrize(
    ("texts", "place"),
    [
        (["It lies under the mat."], (1, 8)),
        (["Nothing.", "A key, under the mat"], (2, 7)),
        (["under the mat, or under the mat?", ""], (1, 0)),
    ],
)
def test_a_quote_that_moved_is_cited_where_it_stands_now(texts: list[str], place: tuple[int, int]) -> None:
    pages = build_pages(build_document(revision="r2"), *texts)
    found = moved(build_citation(page_number=1, span=Span(3, 16), quote=QUOTE, passage_id="old"), pages)
    assert found is not None
    assert (found.page_number, found.span.start) == place
    page = pages[found.page_number - 1]
    assert (found.page_id, found.revision, found.passage_id) == (page.id, "r2", "")
    assert found.span.of(page.text) == found.quote == QUOTE


def test_a_quote_in_its_place_is_the_same_footnote_and_a_lost_one_none() -> None:
    page = build_pages(build_document(), "It lies under the mat.")[0]
    citation = build_citation(page_id=page.id, span=Span(8, 21), quote=QUOTE)
    assert moved(citation, [page]) is citation
    assert moved(replace(citation, quote="in the shed"), [page]) is None
    assert moved(replace(citation, quote=""), [page]) is None
