"""Outlines of bullets: properties, headings in bullets, ids of blocks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from storage.documents.readers.markdown_vault import (
    block_ids,
    block_references,
    is_outline,
    list_of_names,
    read_headings,
    read_properties,
)

ID = "60a77d63-f73f-4cd4-9e65-8c4e30cbc752"
inline = MarkdownIt("commonmark").parseInline


def test_properties_stand_at_the_front_alone() -> None:
    assert read_properties("Type:: [[Feature]]\nempty::\nalias:: a, b\n\n- x\n  late:: no") == {
        "type": "[[Feature]]",
        "empty": "",
        "alias": "a, b",
    }
    assert read_properties("std::vector is\n") == {}
    assert read_properties("- a:: b") == {}


@pytest.mark.parametrize(
    ("value", "names"),
    [("Page, Pages", ("Page", "Pages")), ("[[Two, words]], one", ("Two, words", "one")), ("", ()), ("a, a,", ("a",))],
)
def test_names_of_a_property_are_split_at_commas_outside_of_links(value: str, names: tuple[str, ...]) -> None:
    assert list_of_names(value) == names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n\t- b\n", True),
        ("type:: x\n\n- a", True),
        ("Prose.\n\n- a", False),
        ("# Title\n- a", False),
        ("a:: b", False),
    ],
)
def test_an_outline_has_nothing_but_bullets_at_its_margin(text: str, expected: bool) -> None:
    assert is_outline(text) is expected


def test_headings_in_bullets_with_the_places_of_their_lines() -> None:
    text = "- ## Usage of *boats*\n\t- ### Deep\n\t- # not code\n\t- ```\n\t  - # code\n\t  ```\n- #tag\n"
    assert [(heading.level, heading.title, heading.start) for heading in read_headings(text, inline)] == [
        (2, "Usage of boats", 0),
        (3, "Deep", text.index("\t- ### Deep")),
        (1, "not code", text.index("\t- # not")),
    ]


def test_ids_name_the_bullet_they_stand_under() -> None:
    text = f"- one\n- two\n  id:: {ID}\n\t- three\n"
    assert list(block_ids(text)) == [(ID, text.index("- two"))]


def test_references_to_blocks_are_listed_once() -> None:
    text = f"See (({ID})) and {{{{embed (({ID}))}}}} and ((not one))."
    assert block_references(text) == (f"(({ID}))",)


@given(st.text(alphabet="-# \t\n:ab`*id" + ID[:3], max_size=80))
def test_any_text_has_headings_and_ids_inside_of_it(text: str) -> None:
    for heading in read_headings(text, inline):
        assert heading.start == 0 or text[heading.start - 1] == "\n"
    assert all(0 <= place < len(text) for _, place in block_ids(text))
    assert isinstance(is_outline(text), bool)
