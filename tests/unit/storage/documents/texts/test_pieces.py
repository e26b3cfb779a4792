"""Pages are cut into pieces that hold all of their text, where it can be between paragraphs."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.domain.corpus import Page
from core.domain.passages import Span
from storage.documents.texts.quotes import MAX_PIECE, MIN_LETTERS, to_pieces
from tests.builders import build_document, build_pages

PARAGRAPH = "The ferry sails at seven, and the mate rings the bell. " * 20


def pages(*texts: str) -> Sequence[Page]:
    return build_pages(build_document("ferry.md"), *texts)


def test_a_short_page_is_one_piece_and_one_without_words_none() -> None:
    [piece] = to_pieces(pages(PARAGRAPH, "1234 | 5678 | 90"))
    assert (piece.page_number, piece.text, piece.span) == (1, PARAGRAPH, Span(0, len(PARAGRAPH)))


def test_a_long_page_is_cut_between_paragraphs() -> None:
    text = "\n\n".join([PARAGRAPH] * 30)
    pieces = list(to_pieces(pages(text)))
    assert len(pieces) == 3 and all(len(piece.text) <= MAX_PIECE for piece in pieces)
    assert all(piece.text.startswith("The ferry") for piece in pieces)


@given(st.lists(st.sampled_from(["a" * 700, PARAGRAPH, "\n\n", "\n", ". ", "日本" * 900]), min_size=1, max_size=40))
def test_pieces_lie_side_by_side_and_leave_out_what_has_no_words(parts: list[str]) -> None:
    text = "".join(parts)
    if not text.strip():
        return
    letters = sum(map(str.isalpha, text))
    pieces = list(to_pieces(pages(text)))
    assert [piece.span.of(text) for piece in pieces] == [piece.text for piece in pieces]
    assert all(one.span.end <= other.span.start for one, other in pairwise(pieces))
    assert all(len(piece.text) <= MAX_PIECE for piece in pieces)
    left_out = letters - sum(map(str.isalpha, "".join(piece.text for piece in pieces)))
    assert left_out < MIN_LETTERS * (len(text) // (MAX_PIECE // 2) + 1)


def test_the_same_text_has_the_same_key_wherever_it_stands() -> None:
    first, second = to_pieces(pages(PARAGRAPH, PARAGRAPH))
    assert first.key == second.key and first != second
    assert first.key != next(iter(to_pieces(pages(PARAGRAPH + "!")))).key
