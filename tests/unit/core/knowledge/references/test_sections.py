import pytest

from core.domain.corpus import Heading, Page
from core.knowledge.references.sections import PagePart, find_section, near_headings

KEYS = "# Keys\n\nUnder the mat.\n\n### Spare key\n\nWith Ben.\n\n#### Ben\n\nHe rows.\n\n### Lost keys\n\nAsk."
BOAT = "# The boat\n\nIt is red.\n\n### Spare key\n\nIn the bow."


def build_page(
    text: str,
    number: int = 1,
    *,
    path: tuple[str, ...] = (),
    title: str | None = None,
    anchors: tuple[tuple[str, int], ...] = (),
) -> Page:
    headings, start = [], 0
    for line in text.split("\n"):
        if line.startswith("#"):
            marks = line.split(" ")[0]
            headings.append(Heading(level=len(marks), title=line[len(marks) + 1 :], start=start))
        start += len(line) + 1
    title = title if title is not None else headings[0].title if headings else ""
    return Page(
        id=f"p{number}",
        document_id="d",
        revision="r",
        number=number,
        title=title,
        text=text,
        headings=tuple(headings),
        heading_path=path,
        anchors=anchors,
    )


PAGES = [build_page(KEYS), build_page(BOAT, 2), build_page("Oars.", 3, path=("The boat",), title="Oars")]


def texts(parts: list[PagePart]) -> list[str]:
    return [part.span.of(part.page.text).strip() for part in parts]


@pytest.mark.parametrize(
    ("heading", "beginnings"),
    [
        ("Keys", ["# Keys"]),
        ("keys", ["# Keys"]),
        ("Spare key", ["### Spare key\n\nWith Ben."]),  # the first one
        ("spare-key", ["### Spare key\n\nWith Ben."]),
        ("The boat#Spare key", ["### Spare key\n\nIn the bow."]),
        ("Keys#Ben", ["#### Ben"]),
        ("Keys#Spare key#Ben", ["#### Ben"]),
        ("Boat#Ben", []),
        ("Oars", ["Oars."]),
        ("The boat", ["# The boat", "Oars."]),  # with the pages that stand below it
        ("Nothing", []),
        ("#", []),
        ("", []),
    ],
)
def test_a_heading_names_the_text_below_it(heading: str, beginnings: list[str]) -> None:
    found = texts(find_section(PAGES, heading))

    assert len(found) == len(beginnings)
    assert all(text.startswith(beginning) for text, beginning in zip(found, beginnings, strict=True))


def test_a_section_ends_where_the_next_of_its_level_begins() -> None:
    assert texts(find_section(PAGES, "Spare key")) == ["### Spare key\n\nWith Ben.\n\n#### Ben\n\nHe rows."]


def test_a_block_is_found_by_its_id() -> None:
    page = build_page("One.\n\nTwo. ^b2", anchors=(("b2", 6),))

    assert [part.span.start for part in find_section([page], "^b2")] == [6]
    assert find_section([page], "^other") == []


def test_near_headings_are_proposed_best_first() -> None:
    assert near_headings(PAGES, "Spare keys")[0] == "Spare key"
    assert near_headings(PAGES, "zzzz") == ()
    assert near_headings([], "Keys") == ()
