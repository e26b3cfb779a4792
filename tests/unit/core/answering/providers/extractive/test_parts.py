"""Questions of several parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.providers.extractive.parts import MOST_PARTS, parts_of


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who oils the clock, and when does it strike?", ["Who oils the clock?", "when does it strike?"]),
        ("What is the fare? And who sets it?", ["What is the fare?", "who sets it?"]),
        ("Was kostet die Fähre und wann fährt sie?", ["Was kostet die Fähre?", "wann fährt sie?"]),
        ("What is a pier; how deep is it; who owns it?", ["What is a pier?", "how deep is it?", "who owns it?"]),
        ("When and where does the council meet?", ["When and where does the council meet?"]),
        ("What has to be oiled and who does it?", ["What has to be oiled?", "who does it?"]),
        ("What is the fare and by when is it due?", ["What is the fare?", "by when is it due?"]),
        ("Who is it and who are they?", ["Who is it and who are they?"]),
        ("thanks, and when is it due?", ["thanks, and when is it due?"]),
        ("Who are Ann and Ben?", ["Who are Ann and Ben?"]),
        (
            "Which was higher: the fare of May or the toll of June?",
            ["the fare of May?", "the toll of June?"],
        ),
        ("Who holds the key? And what's the toll of Voss?", ["Who holds the key?", "what's the toll of Voss?"]),
        (
            "What's the name of the mate, and the fare of the ferry?",
            ["What's the name of the mate?", "What's the fare of the ferry?"],
        ),
        ("What's the name of the mate, and the captain?", ["What's the name of the mate, and the captain?"]),
        ("What are the name and the fare of the ferry?", ["What are the name and the fare of the ferry?"]),
        ("difference between a reef and a shoal", ["What is a reef?", "What is a shoal?"]),
        (
            "What is the difference between what he said and did?",
            ["What is the difference between what he said and did?"],
        ),
    ],
)
def test_parts_have_an_interrogative_of_their_own(question: str, parts: list[str]) -> None:
    assert parts_of(question) == parts


@given(st.text(alphabet="what is and who? ,;", max_size=60))
def test_no_part_is_lost_or_empty(question: str) -> None:
    parts = parts_of(question)
    assert 1 <= len(parts) <= MOST_PARTS
    assert len(parts) == 1 or all(part.strip("? ") for part in parts)
