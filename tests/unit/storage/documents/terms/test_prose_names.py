"""Names that prose gives, each with its place in the page."""

import pytest

from storage.documents.markup.marked_text import MarkedText
from storage.documents.terms.prose_names import ProseName, names_in_prose
from tests.unit.storage.documents.extractors.notes import build_note


def named(text: str) -> list[ProseName]:
    (page,) = build_note(text).pages
    found = list(names_in_prose(MarkedText(page)))
    assert all(item.name.split()[0] in page.text[item.span.start : item.span.end] for item in found)
    return found


@pytest.mark.parametrize(
    ("text", "name", "kind", "alias"),
    [
        ("We saw Captain Ahab's ship.\n", "Captain Ahab", "person", ""),
        ("There: Ann Lee (@annlee).\n", "Ann Lee", "person", "@annlee"),
        ("Ann Lee <ann at rope.example> wrote.\n", "Ann Lee", "person", ""),
        ("The Open Rope Foundation pays.\n", "Open Rope Foundation", "organisation", ""),
        ("She is at the University of the Sea.\n", "University of the Sea", "organisation", ""),
        ("It is near Mount St. Elmo.\n", "Mount St. Elmo", "place", ""),
    ],
)
def test_a_name_is_known_by_what_stands_with_it(text: str, name: str, kind: str, alias: str) -> None:
    assert [(item.name, item.kind, item.alias) for item in named(text)] == [(name, kind, alias)]


def test_an_and_parts_two_organisations_but_no_name_of_one() -> None:
    names = [item.name for item in named("Rope Foundation and Tar Institute met; Tar and Rope Foundation did not.\n")]
    assert names == ["Rope Foundation", "Tar Institute", "Tar and Rope Foundation"]


@pytest.mark.parametrize("text", ["Chapter Island\n", "```\nCaptain Ahab\n```\n", "the river and the bay\n"])
def test_numberings_code_and_common_words_are_no_names(text: str) -> None:
    assert named(text) == []
