"""Taking a typed line apart into options."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.answer import QueryType
from core.errors import BadInput
from core.work.commands import Option, OptionKind, Question, parse
from tests.unit.core.answering.test_service import message

OPTIONS = (
    Option(name="question", help="what"),
    Option(name="document", help="which"),
    Option(name="private", help="for you", kind=OptionKind.FLAG),
)


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        ("", {}),
        ("  where is it? ", {"question": "where is it?"}),
        ("where? --document a.md", {"question": "where?", "document": "a.md"}),
        ('--document "my house.md" where?', {"question": "where?", "document": "my house.md"}),
        ("where? --document=“my house.md”", {"question": "where?", "document": "my house.md"}),
        ("where? --private", {"question": "where?", "private": "true"}),
        ("--private is this seen?", {"question": "is this seen?", "private": "true"}),
        ("what does --force do?", {"question": "what does --force do?"}),
        ("a--document b", {"question": "a--document b"}),
        ("--document a.md", {"document": "a.md"}),
        ("what is --question x", {"question": "what is --question x"}),
    ],
)
def test_a_line_is_the_first_option_and_what_is_named_with_dashes(typed: str, options: dict[str, str]) -> None:
    assert parse(OPTIONS, typed) == options


def test_an_option_without_its_value_is_one_clear_error() -> None:
    with pytest.raises(BadInput, match="--document needs a value"):
        parse(OPTIONS, "where? --document")


@given(st.text().filter(lambda text: "--" not in text))
def test_a_line_without_dashes_is_kept_word_for_word(text: str) -> None:
    assert parse(OPTIONS, text).get("question", "") == text.strip()


@given(st.text())
def test_no_line_makes_it_stumble(text: str) -> None:
    try:
        found = parse(OPTIONS, text)
    except BadInput:
        found = {}
    assert set(found) <= {"question", "document", "private"}


def test_a_question_goes_onto_a_message_and_leaves_its_keys() -> None:
    incoming = message("/summary House", thread="t7")
    asked = Question(text="Summarise “House”.", query_type=QueryType.SUMMARY, document="House", private=True).on(
        incoming
    )

    assert (asked.text, asked.query_type, asked.document, asked.private) == (
        "Summarise “House”.",
        QueryType.SUMMARY,
        "House",
        True,
    )
    assert (asked.event_key, asked.address, asked.author) == (incoming.event_key, incoming.address, "ada")
