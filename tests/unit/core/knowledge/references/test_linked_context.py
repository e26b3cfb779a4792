import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.answer import NumberedPassage
from core.domain.corpus import SourcedPassage
from core.knowledge.references.linked_context import (
    BYTES_PER_TOKEN,
    MOST_PAGES,
    OPENED,
    Offer,
    passages_of,
    share,
    to_turns,
)
from core.knowledge.references.sections import find_section
from tests.builders import build_document, build_pages, build_passages
from tests.unit.core.library_builder import Shelf


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

    assert texts(share([long, short], 40)) == ["x" * 40] * 3 + ["y" * 40]
    assert texts(share([long, short], 10)) == ["x" * 40]
    assert share([long, short], 0) == []
    assert share([], 100) == []


@given(
    documents=st.lists(st.lists(st.integers(1, 60), max_size=6), max_size=6),
    budget=st.integers(0, 60),
)
def test_what_is_shared_fits_and_has_no_holes(documents: list[list[int]], budget: int) -> None:
    shown = [build_shown(f"{place}.md", *("x" * size for size in sizes)) for place, sizes in enumerate(documents)]
    kept = share(shown, budget)

    assert sum(len(item.passage.text) for item in kept) <= budget * BYTES_PER_TOKEN
    for passages in shown:
        own = [item for item in kept if item.document.path == passages[0].document.path] if passages else []
        assert own == passages[: len(own)]


@pytest.mark.parametrize("count", [0, 2])
def test_an_offer_is_a_round_of_calls_in_the_history(count: int) -> None:
    shown = build_shown("a.md", "One.", "Two.")[:count]
    numbered = [NumberedPassage(number=place, source=item) for place, item in enumerate(shown, 1)]
    asked, told = to_turns(Offer(text="- [[a]] is a.md", links=("[[a]]",), passages=tuple(shown)), numbered)

    assert [(call.name, call.arguments) for call in asked.tool_invocations] == [(OPENED, {"documents": ["[[a]]"]})]
    assert told.tool_results[0].invocation_id == asked.tool_invocations[0].id
    assert (told.tool_results[0].text, len(told.tool_results[0].passages)) == ("- [[a]] is a.md", count)
