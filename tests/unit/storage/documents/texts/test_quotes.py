"""Quotes that a model gave are found as they stand in the page, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.passages import Span
from storage.documents.texts.quotes import MAX_QUOTE, Quotable, is_within, plain_quote

TEXT = "The **pier** is\nclosed in May. | Fares | stay |\n“It's late,” said Ann. The start of art."


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ("The pier is closed in May.", "The **pier** is\nclosed in May."),
        ("Fares | stay", "Fares | stay"),
        ('"It\'s late," said Ann', "It's late,” said Ann"),
        ("art", "art"),  # not the end of "start"
        ("  closed   in ", "closed in"),
    ],
)
def test_white_space_and_marks_are_left_out_of_account(quote: str, stands: str) -> None:
    found = Quotable(TEXT).find(quote)
    assert found is not None and found.of(TEXT).split() == stands.split()


@pytest.mark.parametrize(
    "quote",
    ["the pier", "The pier is open", "closed May", "tar", "", "**", "x" * (MAX_QUOTE + 1)],
)
def test_what_does_not_stand_there_is_not_found(quote: str) -> None:
    assert Quotable(TEXT).find(quote) is None


def test_a_quote_that_stands_twice_is_found_from_where_one_asks() -> None:
    text = "It is so. It is so."
    assert Quotable(text).find("It is so.") == Span(0, 9)
    assert Quotable(text).find("It is so.", start=3) == Span(10, 19)


def test_words_are_held_in_any_letters_and_whole() -> None:
    text = Quotable("Ask Carla Núñez about the gate.")
    assert text.holds("carla núñez") and text.holds("GATE")
    assert not text.holds("Carl") and not text.holds("") and not text.holds("Ben")
    assert is_within("the gate", "about the gate.") and not is_within("The gate", "about the gate.")


@given(text=st.text(max_size=80), data=st.data())
def test_what_is_found_is_the_texts_own(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : start + data.draw(st.integers(0, 30))]
    found = Quotable(text).find(quote)
    if found is not None:
        assert plain_quote(found.of(text)) == plain_quote(quote)
