"""A text with headings to pages."""

from hypothesis import given
from hypothesis import strategies as st

from core.domain.corpus import Heading, ParsedPage
from storage.documents.texts.sections import split_sections


def pages_of(text: str) -> tuple[ParsedPage, ...]:
    """Pages of a text whose headings are lines of 1 to 3 `#` and a title."""
    headings = []
    place = 0
    for line in text.split("\n"):
        level = len(line) - len(line.lstrip("#"))
        if level:
            headings.append(Heading(level=level, title=line[level:].strip(), start=place))
        place += len(line) + 1
    return split_sections(text, headings)


def titles(text: str) -> list[str]:
    return [page.title for page in pages_of(text)]


def test_a_text_without_headings_is_one_page() -> None:
    assert pages_of("one\n\ntwo\n") == (ParsedPage(title="", text="one\n\ntwo"),)


def test_a_single_h1_is_split_at_its_h2s() -> None:
    pages = pages_of("#A\nintro\n##B\nb\n###C\nc\n##B\nagain")
    assert [(page.title, page.heading_path) for page in pages] == [("A", ()), ("B", ("A",)), ("B", ("A",))]
    assert [page.text for page in pages] == ["#A\nintro", "##B\nb\n###C\nc", "##B\nagain"]


def test_several_h1s_are_a_page_each() -> None:
    assert titles("#A\na\n##B\nb\n#C\nc") == ["A", "C"]


def test_a_title_over_two_lines_is_one_h1() -> None:
    assert titles("#The Great\n\n#Flood\nintro\n##B\nb\n##C\nc") == ["Flood", "B", "C"]
    assert titles("#The Great\n#Flood\nintro\n##B\nb\n#C\nc") == ["Flood", "C"]


def test_text_before_the_first_heading_is_a_page_of_its_own() -> None:
    assert titles("before\n##A\na\n##B\nb") == ["", "A", "B"]


def test_deeper_headings_alone_do_not_split() -> None:
    assert titles("###A\na\n###B\nb") == [""]


def test_a_bare_heading_goes_with_the_section_after_it() -> None:
    pages = pages_of("#A\n\n##B\nb\n##C\nc\n##D")
    assert [page.text for page in pages] == ["#A\n\n##B\nb", "##C\nc\n##D"]
    assert [page.heading_path for page in pages] == [(), ("A",)]
    assert [heading.title for heading in pages[0].headings] == ["A", "B"]


def test_nothing_but_headings_is_one_page() -> None:
    assert [page.text for page in pages_of("#A\n##B\n##C")] == ["#A\n##B\n##C"]


def test_places_are_those_of_the_page() -> None:
    text = "##A\na\n\n\n##B\n\nb ^id"
    headings = [Heading(level=2, title="A", start=0), Heading(level=2, title="B", start=8)]
    page = split_sections(text, headings, [("id", 13)])[1]
    assert page.text[page.headings[0].start :].startswith("##B")
    assert page.anchors == (("id", 5),)


@given(st.lists(st.sampled_from(["#A", "##B", "###C", "text", "", "  ", "==="]), max_size=12))
def test_pages_together_hold_all_of_the_text(lines: list[str]) -> None:
    text = "\n".join(lines)
    pages = pages_of(text)
    assert "".join("".join(page.text.split()) for page in pages) == "".join(text.split())
    assert all(page.text.strip() and page.text in text for page in pages)
