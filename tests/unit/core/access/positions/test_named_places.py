"""Places as people name them become the last page that may be read: of two ways to understand, the lower one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.access.positions.named_places import find_position, is_end, nearest
from core.access.positions.places import numbered, places_of, sections_of, to_number
from core.domain.corpus import Heading, Page, PagePlace


def page(
    number: int, title: str = "", *above: str, headings: tuple[tuple[int, str, int], ...] = (), label: str = ""
) -> Page:
    return Page(
        id=f"p{number}",
        document_id="d",
        revision="r",
        number=number,
        title=title,
        text="text",
        heading_path=above,
        headings=tuple(Heading(level=level, title=name, start=start) for level, name, start in headings),
        place=PagePlace(label=label),
    )


NOVEL = [
    page(1, "Chapter 1: The Train", "Part I"),
    page(2, "Chapter 2: The Letter", "Part I"),
    page(3, "Chapter 1: The Bridge", "Part II"),
    page(4, "Chapter Twenty-One: Home", "Part II"),
    page(5, "Notes"),
]
# A PDF: chapters begin inside pages; the first pages have Roman numbers printed on them.
PRINT = [
    page(1, label="i"),
    page(2, label="ii", headings=((1, "Chapter 1", 40),)),
    page(3, "", "Chapter 1", label="1"),
    page(4, "", "Chapter 1", label="2", headings=((1, "Chapter 2", 90), (1, "Chapter 3", 300))),
    page(5, "", "Chapter 3", label="3"),
]
CAMPAIGN = [page(1, "Session 1 (2026-05-03)"), page(2, "Session 2 (2026-05-10)"), page(3, "Session 3 (2026-05-17)")]


@pytest.mark.parametrize(
    ("place", "last"),
    [
        ("chapter 2", 2),
        ("chapter 1", 1),  # of the first part
        ("Part II, chapter 1", 3),
        ("the first chapter of part two", 3),
        ("part I", 2),
        ("in part II", 2),
        ("chapter 21", 4),
        ("chapter twenty-one", 4),
        ("Ch. XXI", 4),
        ("the twenty-first chapter", 4),
        ("The Letter", 2),
        ("the leter", 2),
        ("I'm in the middle of chapter 2", 1),
        ("in chapter 1", 0),
        ("not started", 0),
        ("almost finished chapter 21", 3),
        ("before the end of chapter 2", 1),
        ("up to the end of chapter 2", 2),
        ("read up to chapter 2", 1),
        ("page 3", 3),
        ("before page 3", 2),
        ("3", 3),
        ("6", None),
        ("chapter 9", None),
        ("part II, chapter 2", None),
        ("the bridge of sighs and tears", None),
        ("", None),
    ],
)
def test_chapters_parts_titles_and_pages(place: str, last: int | None) -> None:
    assert find_position(place, NOVEL) == last


@pytest.mark.parametrize(
    ("place", "last"),
    [
        ("chapter 1", 3),  # on page 4 the next one begins
        ("in chapter 1", 1),
        ("chapter 2", 3),  # it begins and ends on page 4, where chapter 3 begins
        ("in chapter 3", 3),
        ("chapter 3", 5),
        ("page ii", 2),
        ("printed page 2", 4),
        ("page 2", 2),  # of the second page and the one on which 2 is printed, the first
        ("page 3", 3),
        ("3", 3),
        ("printed page xii", None),
        ("page 40", None),
    ],
)
def test_printed_pages_and_chapters_that_begin_inside_pages(place: str, last: int | None) -> None:
    assert find_position(place, PRINT) == last


@pytest.mark.parametrize(("place", "last"), [("session 2", 2), ("the session of 10 May", 2), ("2026-05-03", 1)])
def test_sessions_by_number_and_day(place: str, last: int) -> None:
    assert find_position(place, CAMPAIGN) == last


@pytest.mark.parametrize("place", ["end", "The end", "finished", "everything", "I've finished the whole book"])
def test_the_end_of_a_book(place: str) -> None:
    assert is_end(place)


@pytest.mark.parametrize(
    "place", ["", "in the book", "not finished", "chapter 2", "the end of chapter 2", "almost finished"]
)
def test_what_is_not_the_end(place: str) -> None:
    assert not is_end(place)


@given(st.text(max_size=40), st.sampled_from([NOVEL, PRINT, CAMPAIGN]))
def test_whatever_is_said_a_place_is_a_page_of_the_book_or_none(place: str, pages: list[Page]) -> None:
    found = find_position(place, pages)
    assert found is None or 0 <= found <= pages[-1].number


@given(st.integers(1, 3999))
def test_roman_numerals_are_read_as_they_are_written(number: int) -> None:
    signs = ["m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"]
    values = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1]
    written, left = "", number
    for sign, value in zip(signs, values, strict=True):
        written, left = written + sign * (left // value), left % value
    assert to_number(written) == number == to_number(str(number))


@pytest.mark.parametrize("text", ["civil", "ic", "mild", "word", ""])
def test_words_of_roman_letters_are_no_numbers(text: str) -> None:
    assert to_number(text) is None


def test_titles_have_kinds_and_numbers() -> None:
    assert numbered("CHAPTER XIV. The Storm") == ("chapter", 14)
    assert numbered("III") == ("", 3)
    assert numbered("I went home") == ("", None)


def test_pages_know_part_chapter_label_and_session() -> None:
    places = places_of(NOVEL, ["", "x", "", "", ""])
    assert (places[3].part, places[3].chapter, places[3].chapter_title) == (2, 21, "Chapter Twenty-One: Home")
    assert (places[1].label, places[4].part, places[4].chapter) == ("x", None, None)
    assert places_of(CAMPAIGN, [""] * 3)[1].session_date == "2026-05-10"


def test_sections_end_before_the_page_on_which_the_next_begins() -> None:
    found = [(section.title, section.begins, section.whole) for section in sections_of(PRINT)]
    assert found == [("Chapter 1", 1, 2), ("Chapter 2", 3, 2), ("Chapter 3", 3, 4)]


def test_near_titles_are_named() -> None:
    assert nearest("the bridges", NOVEL)[0] == "Chapter 1: The Bridge"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("The Second Act", ("act", 2)),
        ("THIRD BOOK", ("book", 3)),
        ("The Harbourth Act", ("", None)),
        ("The last post", ("", None)),
    ],
)
def test_an_ordinal_may_stand_before_the_kind(title: str, expected: tuple[str, int | None]) -> None:
    assert numbered(title) == expected
