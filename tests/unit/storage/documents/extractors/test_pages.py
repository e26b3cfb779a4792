"""Summaries and topics of pages."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.documents.extractors.pages import MAX_SUMMARY, MAX_TOPICS, PagesExtractor, find_topics
from tests.unit.storage.documents.extractors.notes import build_note

SAID = "The ferry sails from the old pier at seven every morning, and comes back in the evening."


def summary(text: str) -> Any:
    (found,) = PagesExtractor().extract(build_note(text))
    return found.data["summary"]


@pytest.mark.parametrize(
    "text",
    [
        f"# Ferry\n\n{SAID}\n\nMore of it.",
        f"import {{Note}} from './note.jsx'\n\n<Note>\n\n{SAID}",
        f"![boat](boat.png)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n{SAID}",
        f"```\ncode that says nothing of what the page is about, at length\n```\n{SAID}",
        f"Date: 4 March\nOwner: Ann\n\n{SAID}",
        f"- [one](a.md)\n- [two](b.md)\n\n{SAID}",
        f"Here are the words that come before all of the items of a list:\n\n- one\n\n{SAID}",
        "The **ferry** sails from the [old pier](pier.md) at `seven` every morning, and comes\nback in the evening.",
    ],
)
def test_the_summary_is_the_first_paragraph_that_says_something(text: str) -> None:
    assert summary(text) == SAID


def test_a_long_paragraph_gives_its_first_whole_sentences() -> None:
    assert summary(f"{SAID} {SAID} {SAID} {SAID} {SAID}") == f"{SAID} {SAID} {SAID}"


def test_a_page_without_prose_tells_its_columns_or_its_items() -> None:
    assert summary("| Pier | Fare |\n|---|---|\n| Old | 4 |\n") == "A table of 1 row: pier, fare"
    assert summary("Pier\tFare\nOld\t4\nNew\t5\n") == "A table of 2 rows: pier, fare"
    assert summary("- Old pier\n- [New pier](new.md)\n") == "Old pier; New pier"
    assert summary("# Ferry\n") == "Ferry"


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="ab .\n#-|*`[]()<>é日:", min_size=1, max_size=900))
def test_a_summary_is_never_longer_than_it_may_be(text: str) -> None:
    for found in PagesExtractor().extract(build_note(text)):
        assert len(str(found.data["summary"])) <= MAX_SUMMARY


def test_topics_are_the_phrases_that_are_said_most() -> None:
    prose = [
        "The tide table is by the pier.",
        "Ask at the pier for the tide table.",
        "A tide table costs four.",
        "It rained on Sunday.",
    ] * 12
    topics = find_topics(prose, ())
    assert topics[0] == "tide table"
    assert "pier" in topics
    assert not {"tide", "table", "ask"} & set(topics)


def test_what_stands_in_a_heading_counts_more() -> None:
    assert find_topics(["A crane lifts boats.", "Cranes lift boats."], ("Crane rules",))[0] == "Crane rules"


def test_a_plural_is_no_topic_of_its_own() -> None:
    assert find_topics(["Boats and a boat.", "The boat’s rope."], ()).count("Boats") == 1
    assert "boat" not in find_topics(["Boats and a boat."], ())


@given(prose=st.lists(st.text(max_size=60), max_size=20), titles=st.lists(st.text(max_size=20), max_size=4))
def test_topics_are_few_and_no_part_of_each_other(prose: list[str], titles: list[str]) -> None:
    topics = find_topics(prose, titles)
    assert len(topics) <= MAX_TOPICS
    assert len({topic.lower() for topic in topics}) == len(topics)
    assert topics == find_topics(prose, titles)
