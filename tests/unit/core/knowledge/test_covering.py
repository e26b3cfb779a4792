"""Summaries and comparisons of whole documents, without a model."""

import pytest

from core.domain.corpus import Document
from core.knowledge.covering import (
    PairRequest,
    Quoted,
    WholeDocuments,
    find_whole,
    read_pair_request,
    read_summary_request,
)
from tests.builders import build_document
from tests.unit.core.library_builder import Shelf

RULES = (
    "# Purpose\n\nThese rules say how boats are moored in the harbour of Linden.\n\nIt is short.",
    "# Mooring\n\nBoats are moored at the north pier.\n\nA boat that is moored elsewhere is towed to the pier.",
    "# Fares\n\nVersion: 1.2\n\nThe fare for a berth is four crowns a night.\n\nChildren pay nothing.",
    "# References\n\nHarbour law of 1904.",
)
LATER = (
    "# Purpose\n\nThese rules say how boats are moored in the harbour of Linden.\n\nIt is short.",
    "# Mooring\n\nBoats are moored at the north pier.\n\nA boat that is moored elsewhere is fined at once.",
    "# Fares\n\nThe fare for a berth is six crowns a night.\n\nDogs pay half.",
)


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("rules-2024.md", *RULES, title="Harbour rules 2024")
    await shelf.add("rules-2025.md", *LATER, title="Harbour rules 2025")
    return shelf


async def ask(shelf: Shelf, text: str, focus: Document | None = None) -> Quoted | None:
    return await WholeDocuments(shelf.corpus).answer(text, shelf.scope(), focus)


def lines(found: Quoted | None) -> list[str]:
    return [row.text for row in found.rows] if found is not None else []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Summarise the Harbour rules 2024", "the Harbour rules 2024"),
        ("Please sum up rules-2024.md.", "rules-2024.md"),
        ("What is rules-2024 about?", "rules-2024"),
        ("Give me a short overview of the harbour rules", "the harbour rules"),
        ("Summarise what the harbour rules are about", "the harbour rules"),
        ("Summarise “Harbour rules 2024”.", "Harbour rules 2024"),
        ("What is the fare?", None),
        ("Who sums up?", None),
    ],
)
def test_requests_to_sum_up_name_their_document(text: str, name: str | None) -> None:
    assert read_summary_request(text) == name


@pytest.mark.parametrize(
    ("text", "first", "second", "changed"),
    [
        ("Compare A and B", "A", "B", False),
        ("What is the difference between A and B?", "A", "B", False),
        ("How does A differ from B?", "A", "B", False),
        ("A vs. B", "A", "B", False),
        ("What has changed between A and B?", "A", "B", True),
        ("Compare Meetings 77 and 79", "Meeting 77", "Meeting 79", False),
    ],
)
def test_requests_to_compare_name_two_things(text: str, first: str, second: str, changed: bool) -> None:
    assert read_pair_request(text) == PairRequest(first=first, second=second, changed=changed)


async def test_a_summary_has_one_sentence_for_each_section_in_order(shelf: Shelf) -> None:
    found = await ask(shelf, "Summarise the Harbour rules 2024.")

    assert found is not None
    assert found.heading == "“Harbour rules 2024”, section by section"
    assert lines(found) == [
        "**Purpose**: These rules say how boats are moored in the harbour of Linden.",
        "**Mooring**: Boats are moored at the north pier.",
        "**Fares**: The fare for a berth is four crowns a night.",
    ]
    for row in found.rows:
        (source,) = [item for item in found.passages if item.passage.id == row.citation.passage_id]
        assert row.citation.cited_text in source.passage.text


async def test_a_long_book_is_summed_up_by_part(shelf: Shelf) -> None:
    chapters = [
        f"# Chapter {number}\n\nIn chapter {number} the boat sails on to another island." for number in range(60)
    ]
    await shelf.add("voyage.md", *chapters, title="The long voyage")
    found = lines(await ask(shelf, "Summarise The long voyage"))

    assert len(found) == 12
    assert found[0].startswith("**Chapter 0")
    assert "chapter 5" in found[-1]


async def test_a_part_of_a_document_and_an_unknown_one_are_left_to_the_search(shelf: Shelf) -> None:
    assert await ask(shelf, "Summarise the fares of the Harbour rules 2024") is None
    assert await ask(shelf, "Summarise the tax code") is None


async def test_a_number_may_have_zeros_before_it(shelf: Shelf) -> None:
    await shelf.add("rule-0257.md", "# Aim\n\nThis rule says how nets are dried.", title="Drying nets")

    assert lines(await ask(shelf, "Summarise what rule 257 is about.")) == [
        "**Aim**: This rule says how nets are dried."
    ]


async def test_this_document_is_the_one_in_focus(shelf: Shelf) -> None:
    document = next(item for item in await shelf.corpus.list_readable(shelf.scope()) if item.path == "rules-2024.md")

    assert len(lines(await ask(shelf, "Summarise this document", document))) == 3


async def test_two_documents_are_compared_section_by_section(shelf: Shelf) -> None:
    found = await ask(shelf, "Compare Harbour rules 2024 and Harbour rules 2025")

    assert found is not None
    assert [(row.document, row.text) for row in found.rows][-2:] == [
        ("Fares", "**Harbour rules 2024**: The fare for a berth is four crowns a night."),
        ("Fares", "**Harbour rules 2025**: The fare for a berth is six crowns a night."),
    ]


async def test_a_topic_is_compared_in_both_and_the_silent_document_named(shelf: Shelf) -> None:
    both = lines(await ask(shelf, "Compare the fare of Harbour rules 2024 and Harbour rules 2025"))
    assert [line.partition(": ")[2] for line in both] == [
        "The fare for a berth is four crowns a night.",
        "The fare for a berth is six crowns a night.",
    ]
    found = await ask(shelf, "Compare dogs in Harbour rules 2024 and Harbour rules 2025")
    assert found is not None
    assert found.heading.startswith("I found nothing about it in “Harbour rules 2024”. ")


async def test_changes_are_shown_side_by_side(shelf: Shelf) -> None:
    found = await ask(shelf, "What changed between Harbour rules 2024 and Harbour rules 2025?")

    assert found is not None
    assert found.heading == "From “Harbour rules 2024” to “Harbour rules 2025”: 2 changed, 3 removed, 1 added"
    assert lines(found)[:4] == [
        "**Before**: A boat that is moored elsewhere is towed to the pier.",
        "**Now**: A boat that is moored elsewhere is fined at once.",
        "**Removed**: Version: 1.2",
        "**Before**: The fare for a berth is four crowns a night.",
    ]


async def test_a_missing_document_is_named(shelf: Shelf) -> None:
    found = await ask(shelf, "Compare Harbour rules 2024 and Harbour rules 1890")

    assert found is not None
    assert found.heading.startswith("I found no document called “Harbour rules 1890” to compare with.")


@pytest.mark.parametrize(("path", "name"), [("peps/pep-0257.rst", "PEP 257"), ("rfcs/0012-mail.md", "RFC 12")])
def test_a_whole_document_is_named_by_its_number(path: str, name: str) -> None:
    document, other = build_document(path, title="Letters"), build_document("rfcs/0112-post.md", title="Post")
    assert find_whole(name, [document, other]) == document
    assert find_whole(f"{name}3", [document, other]) is None
