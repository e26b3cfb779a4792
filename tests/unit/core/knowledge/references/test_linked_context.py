"""Linked documents: sections, budgets and the round of calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.chat import NumberedPassage
from core.domain.corpus import Heading, Page, SourcedPassage
from core.knowledge.references.linked_context import (
    BYTES_PER_TOKEN,
    MOST_PAGES,
    OPENED,
    LinkedContext,
    PagePart,
    find_section,
    fit_to_budget,
    near_headings,
    passages_of,
    to_turns,
)
from tests.builders import build_document, build_pages, build_passages
from tests.unit.core.library_builder import Shelf

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


def parts_of(parts: list[PagePart]) -> list[str]:
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
    found = parts_of(find_section(PAGES, heading))

    assert len(found) == len(beginnings)
    assert all(text.startswith(beginning) for text, beginning in zip(found, beginnings, strict=True))


def test_a_section_ends_where_the_next_of_its_level_begins() -> None:
    assert parts_of(find_section(PAGES, "Spare key")) == ["### Spare key\n\nWith Ben.\n\n#### Ben\n\nHe rows."]


def test_a_block_is_found_by_its_id() -> None:
    page = build_page("One.\n\nTwo. ^b2", anchors=(("b2", 6),))

    assert [part.span.start for part in find_section([page], "^b2")] == [6]
    assert find_section([page], "^other") == []


def test_near_headings_are_proposed_best_first() -> None:
    assert near_headings(PAGES, "Spare keys")[0] == "Spare key"
    assert near_headings(PAGES, "zzzz") == ()
    assert near_headings([], "Keys") == ()


def build_shown(path: str, *texts: str) -> list[SourcedPassage]:
    document = build_document(path)
    passages = build_passages(build_pages(document, *texts))
    return [SourcedPassage(passage=passage, document=document, page_title="") for passage in passages]


def texts(passages: list[SourcedPassage]) -> list[str]:
    return [item.passage.text for item in passages]


async def test_without_a_heading_a_document_is_offered_from_its_beginning() -> None:
    shelf = Shelf()
    document = await shelf.add("book.md", *(f"Page {number}." for number in range(1, 10)))

    assert texts(await passages_of(document, (), shelf.corpus, shelf.scope())) == [
        f"Page {number}." for number in range(1, MOST_PAGES + 1)
    ]


async def test_with_a_heading_it_is_the_section_alone() -> None:
    shelf = Shelf()
    document = await shelf.add("house.md", "# Keys\n\nUnder the mat.\n\n## Spare\n\nWith Ben.", "# Garden\n\nA shed.")
    pages = await shelf.corpus.list_pages(document.id, shelf.scope())
    found = await passages_of(document, find_section(pages, "Spare"), shelf.corpus, shelf.scope())

    assert texts(found) == ["## Spare", "With Ben."]


async def test_nothing_beyond_a_position_is_offered() -> None:
    shelf = Shelf()
    document = await shelf.add("book.md", "One.", "Two.", "Three.")
    scope = shelf.scope(**{document.id: 2})

    assert texts(await passages_of(document, (), shelf.corpus, scope)) == ["One.", "Two."]


def test_documents_share_the_room_in_turns() -> None:
    long, short = build_shown("a.md", *["x" * 40] * 5), build_shown("b.md", "y" * 40)

    assert texts(fit_to_budget([long, short], 40)) == ["x" * 40] * 3 + ["y" * 40]
    assert texts(fit_to_budget([long, short], 10)) == ["x" * 40]
    assert fit_to_budget([long, short], 0) == []
    assert fit_to_budget([], 100) == []


@given(
    documents=st.lists(st.lists(st.integers(1, 60), max_size=6), max_size=6),
    budget=st.integers(0, 60),
)
def test_what_is_shared_fits_and_has_no_holes(documents: list[list[int]], budget: int) -> None:
    shown = [build_shown(f"{place}.md", *("x" * size for size in sizes)) for place, sizes in enumerate(documents)]
    kept = fit_to_budget(shown, budget)

    assert sum(len(item.passage.text) for item in kept) <= budget * BYTES_PER_TOKEN
    for passages in shown:
        own = [item for item in kept if item.document.path == passages[0].document.path] if passages else []
        assert own == passages[: len(own)]


@pytest.mark.parametrize("count", [0, 2])
def test_an_offer_is_a_round_of_calls_in_the_history(count: int) -> None:
    shown = build_shown("a.md", "One.", "Two.")[:count]
    numbered = [NumberedPassage(number=place, source=item) for place, item in enumerate(shown, 1)]
    asked, told = to_turns(LinkedContext(text="- [[a]] is a.md", links=("[[a]]",), passages=tuple(shown)), numbered)

    assert [(call.name, call.arguments) for call in asked.tool_invocations] == [(OPENED, {"documents": ["[[a]]"]})]
    assert told.tool_results[0].invocation_id == asked.tool_invocations[0].id
    assert (told.tool_results[0].text, len(told.tool_results[0].passages)) == ("- [[a]] is a.md", count)
