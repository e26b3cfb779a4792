import pytest

from core.answering.tools.query_journal import is_named, named_spans
from core.domain.corpus import Heading, Page
from core.domain.passages import Span


@pytest.mark.parametrize(
    ("title", "request_text"),
    [
        ("Chapter 2: The Sunken Hall", "summarise chapter 2"),
        ("Chapter Two", "summarise chapter 2"),
        ("Chapter II", "what happens in Chapter two?"),
        ("2. The Sunken Hall", "summarise chapter 2"),
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
        ("Chapter 2", "summarise part 2"),
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


def test_a_named_section_ends_where_its_equal_or_a_higher_one_begins():
    headings = (
        Heading(level=1, title="Hall", start=0),
        Heading(level=2, title="Treasure", start=10),
        Heading(level=3, title="Gems", start=20),
        Heading(level=2, title="Traps", start=30),
        Heading(level=1, title="Cellar", start=40),
    )
    text = "x" * 50
    assert named_spans(page(text, *headings), "the treasure") == [Span(10, 30)]
    assert named_spans(page(text, *headings), "the hall") == [Span(0, 40)]
    assert named_spans(page(text, *headings), "the cellar") == [Span(40, 50)]
    assert named_spans(page(text, *headings), "the attic") == []


def test_equal_headings_are_both_named_each_at_its_own_place():
    headings = (
        Heading(level=2, title="Treasure", start=0),
        Heading(level=2, title="Traps", start=5),
        Heading(level=2, title="Treasure", start=10),
    )
    assert named_spans(page("x" * 20, *headings), "all treasure") == [Span(0, 5), Span(10, 20)]


def test_a_page_is_named_whole_by_its_title_or_by_a_heading_above_it():
    assert named_spans(page("text", title="Cellar"), "the cellar") == [Span(0, 4)]
    assert named_spans(page("text", heading_path=("Chapter 2",)), "chapter 2") == [Span(0, 4)]
