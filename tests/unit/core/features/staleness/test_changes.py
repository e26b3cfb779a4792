"""What became of a quote, as a diff: its pieces are the quote and the text of the page, whole and in order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.features.staleness.changes import MOST_CHARACTERS, Kept, Piece, change_of, diff

WORDS = st.lists(st.sampled_from(["key", "mat", "the", "under", "96", ".", ",", " ", "\n", "中", "é"]), max_size=30)
TEXTS = WORDS.map(" ".join)


def side(pieces: tuple[Piece, ...], left_out: Kept) -> list[str]:
    return "".join(piece.text for piece in pieces if piece.kept is not left_out).split()


@given(TEXTS, TEXTS)
def test_without_what_is_new_it_is_the_quote_and_without_what_is_old_the_text(then: str, now: str) -> None:
    pieces = diff(then, now)
    assert side(pieces, Kept.NOW) == then.split()
    assert "".join(piece.text for piece in pieces if piece.kept is not Kept.THEN) == now
    assert all(piece.text for piece in pieces)


@given(TEXTS, st.dictionaries(st.integers(1, 4), TEXTS, max_size=4), st.integers(1, 5))
def test_a_change_is_of_a_place_on_one_of_the_pages(quote: str, texts: dict[int, str], near: int) -> None:
    change = change_of(quote, texts, near)
    assert side(change.pieces, Kept.NOW) == quote.split()
    if change.page_number is None or change.span is None:
        assert change.page_number is None and change.span is None
        assert all(piece.kept is Kept.THEN for piece in change.pieces)
    else:
        now = "".join(piece.text for piece in change.pieces if piece.kept is not Kept.THEN)
        assert now == change.span.of(texts[change.page_number]) == now.strip()


@pytest.mark.parametrize(
    ("texts", "near", "expected"),
    [
        ({1: "Intro. The ferry sails at ten. Bye."}, 1, (1, "The ferry sails at ten.")),
        ({1: "Other words.", 2: "The ferry sails at ten."}, 1, (2, "The ferry sails at ten.")),
        ({1: "The ferry sails at ten.", 3: "The ferry sails at nine today."}, 3, (3, "The ferry sails at nine today.")),
        ({1: "The ferry sails. At nine sharp."}, 1, (1, "The ferry sails. At nine sharp.")),
    ],
)
def test_the_piece_most_like_the_quote_is_found_near_its_place_first(
    texts: dict[int, str], near: int, expected: tuple[int, str]
) -> None:
    change = change_of("The ferry sails at nine.", texts, near)
    assert change.page_number is not None and change.span is not None
    assert (change.page_number, change.span.of(texts[change.page_number])) == expected


def test_a_very_long_quote_is_compared_up_to_a_bound() -> None:
    change = change_of("word " * 5_000, {1: "other " * 5_000}, 1)
    assert len("".join(piece.text for piece in change.pieces)) == MOST_CHARACTERS
