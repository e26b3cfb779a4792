import pytest

from core.answering.tools.query_journal import is_named, named_spans, named_titles
from core.domain.corpus import Heading, Page
from core.domain.passages import Span


@pytest.mark.parametrize(
    ("title", "request_text"),
    [
        ("Chapter 2: The Sunken Hall", "summarise chapter 2"),
        ("Chapter Two", "summarise chapter 2"),
        ("Chapter II", "what happens in Chapter two?"),
        ("2. The Sunken Hall", "summarise chapter 2"),
        ("Part 2: The Hall", "summarise chapter 2"),
        ("Chapter Twenty-One", "summarise chapter 21"),
        ("II", "summarise chapter 2"),
        ("II. The Hall", "summarise chapter two"),
        ("Section 1.2", "read section 1.2"),
        ("1984", "what does 1984 say"),
        ("Part 3 - Ashes", "part three please"),
        ("Appendix B", "list the monsters of appendix b"),
        ("The Sunken Hall", "who lives in the sunken hall?"),
        ("Chapter 2: The Sunken Hall", "who lives in the Sunken Hall"),
        ("Treasure", "what treasure is there"),
    ],
)
def test_a_heading_is_named_by_its_words_or_by_its_number(title, request_text):
    assert is_named(title, request_text)


@pytest.mark.parametrize(
    ("title", "request_text"),
    [
        ("Chapter 12: Dusk", "summarise chapter 2"),
        ("Room 1.2", "summarise chapter 2"),
        ("1.2 The Hall", "summarise chapter 1"),
        ("Section 1.2", "summarise section 1"),
        ("Act 2", "summarise chapter 2"),
        ("2", "are there 2 rooms"),
        ("The", "who is the king"),  # nothing but a function word
        ("Hall", "summarise the hallway"),
        ("Sunken Hall", "is the hall sunken"),  # other order
        ("2. The Sunken Hall", "list 2 rooms"),
        ("Chapter of fools", "the chapter of kings"),
        ("", "anything"),
    ],
)
def test_a_heading_is_not_named_by_less(title, request_text):
    assert not is_named(title, request_text)


def page(text: str, *headings: Heading, title: str = "Page", heading_path: tuple[str, ...] = ()) -> Page:
    return Page(
        id="p",
        document_id="d",
        revision="r",
        number=1,
        title=title,
        text=text,
        headings=headings,
        heading_path=heading_path,
    )


def spans(read: Page, request: str) -> list[Span]:
    return named_spans(read, named_titles([read], request))


@pytest.mark.parametrize(
    ("titles", "named"),
    [
        (["Part 2", "Chapter 2", "2. Cellar"], {"Chapter 2"}),
        (["Part 1", "Part 2", "2. Cellar"], {"Part 2"}),
        (["I", "II", "III"], {"II"}),
        (["1. Gate", "2. Hall", "Room 1.2", "2.1 Cellar"], {"2. Hall"}),
        (["Chapter One", "Chapter Two"], {"Chapter Two"}),
        (["Gate", "Room 1.2"], set()),
    ],
)
def test_chapter_2_is_the_title_that_comes_nearest(titles, named):
    assert named_titles([page("text", title=title) for title in titles], "summarise chapter 2") == named


def test_a_bare_number_names_the_outermost_heading_alone():
    inner = Heading(level=2, title="2. Kitchen", start=10)
    outer = [Heading(level=1, title="1. Gate", start=0), inner, Heading(level=1, title="2. Hall", start=20)]
    assert spans(page("x" * 30, *outer, title=""), "chapter 2") == [Span(20, 30)]


def test_a_named_section_ends_where_its_equal_or_a_higher_one_begins():
    headings = (
        Heading(level=1, title="Hall", start=0),
        Heading(level=2, title="Treasure", start=10),
        Heading(level=3, title="Gems", start=20),
        Heading(level=2, title="Traps", start=30),
        Heading(level=1, title="Cellar", start=40),
    )
    text = "x" * 50
    assert spans(page(text, *headings), "the treasure") == [Span(10, 30)]
    assert spans(page(text, *headings), "the hall") == [Span(0, 40)]
    assert spans(page(text, *headings), "the cellar") == [Span(40, 50)]
    assert spans(page(text, *headings), "the attic") == []


def test_equal_headings_are_both_named_each_at_its_own_place():
    headings = (
        Heading(level=2, title="Treasure", start=0),
        Heading(level=2, title="Traps", start=5),
        Heading(level=2, title="Treasure", start=10),
    )
    assert spans(page("x" * 20, *headings), "all treasure") == [Span(0, 5), Span(10, 20)]


def test_a_page_is_named_whole_by_its_title_or_by_a_heading_above_it():
    assert spans(page("text", title="Cellar"), "the cellar") == [Span(0, 4)]
    assert spans(page("text", heading_path=("Chapter 2",)), "chapter 2") == [Span(0, 4)]
