"""The book of Project Gutenberg stands between its marks."""

import pytest

from core.domain.corpus import Heading
from storage.documents.books.chapters import book_span, without_licence

BOOK = "THE FERRY\n\nCHAPTER I\n\nIt rained.\n"


@pytest.mark.parametrize(
    ("header", "footer"),
    [
        ("*** START OF THE PROJECT GUTENBERG EBOOK THE FERRY ***\n", "*** END OF THE PROJECT GUTENBERG EBOOK"),
        ("***START OF THE PROJECT GUTENBERG EBOOK THE\nFERRY***\n", "***END OF THE PROJECT GUTENBERG EBOOK THE\n"),
        ("*** START OF THIS PROJECT GUTENBERG EBOOK X ***\n", "End of the Project Gutenberg EBook of X, by Y\n"),
        ("*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n", "End of Project Gutenberg's X\n"),
    ],
)
def test_marks_of_all_times_are_known(header: str, footer: str) -> None:
    text = f"The Project Gutenberg eBook, X\n\n{header}\n\n{BOOK}\n{footer} and the licence"
    assert book_span(text).of(text).strip() == BOOK.strip()


def test_credits_after_the_start_are_left_out() -> None:
    text = (
        "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nE-text prepared by Ann and\nBo\n\n"
        f"Note: Project Gutenberg also has pictures.\n\n{BOOK}"
    )
    assert book_span(text).of(text).strip() == BOOK.strip()


@pytest.mark.parametrize("text", [BOOK, "We started at the end of the project.", "*** START ***\n\nAll.\n"])
def test_other_texts_are_whole(text: str) -> None:
    assert book_span(text).of(text) == text


def test_a_file_that_is_nothing_but_marks_stays() -> None:
    text = "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n*** END OF THE PROJECT GUTENBERG EBOOK X ***\n"
    assert book_span(text).of(text) == text


def test_headings_and_anchors_move_with_the_book() -> None:
    start = "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n"
    text = f"Header\n{start}{BOOK}*** END OF THE PROJECT GUTENBERG EBOOK X ***\nLicence"
    places = [text.index(word) for word in ("Header", "CHAPTER I", "Licence")]
    headings = [Heading(level=1, title="x", start=place) for place in places]
    cut, kept, anchors = without_licence(text, headings, [("a", place) for place in places])
    assert cut.strip() == BOOK.strip()
    assert [cut[heading.start :][:9] for heading in kept] == ["CHAPTER I"]
    assert [cut[place:][:9] for _, place in anchors] == ["CHAPTER I"]
