"""Claims without support are marked; what is no claim is left alone."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.grounding import UNSUPPORTED_MARK, UNSUPPORTED_NOTE, ground, is_backed, only_says_not_found

BEHIND = {1: ["The ferry carried 148,310 passengers in 2025."], 2: ["Ann has the spare key."]}


def test_a_claim_with_a_footnote_is_supported() -> None:
    result = ground("The ferry carried 148,310 passengers.[1] Ann has the key. [2]", BEHIND)

    assert (result.unsupported, result.text) == ((), "The ferry carried 148,310 passengers.[1] Ann has the key. [2]")


def test_a_claim_without_a_footnote_is_marked_in_text_and_span() -> None:
    result = ground("Ann has the key.[2] Bob lost another one yesterday.", BEHIND)

    assert result.text == f"Ann has the key.[2] Bob lost another one yesterday. [?]\n\n{UNSUPPORTED_NOTE}"
    assert [span.of(result.text) for span in result.unsupported] == ["Bob lost another one yesterday."]


def test_a_sentence_that_stands_word_for_word_in_a_cited_passage_needs_no_footnote_of_its_own() -> None:
    behind = {1: ["Ann has the **spare** [key](keys.md). Bob lost another one yesterday."]}

    assert ground("Ann has the spare key. Bob lost another one yesterday.[1]", behind).unsupported == ()
    assert ground("Ann lost the spare key. Bob lost another one yesterday.[1]", behind).unsupported != ()


def test_a_number_that_the_passage_does_not_have_is_marked_in_spite_of_its_footnote() -> None:
    for text in ("The ferry carried 150,000 passengers.[1]", "Ann has 12 spare keys.[2]"):
        result = ground(text, BEHIND)

        assert [span.of(result.text) for span in result.unsupported] == [text]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The ferry carried 148310 passengers in 2025.[1]", ""),  # thousands separators do not matter
        ("In 2031 the ferry carried passengers.[1]", "What about 2031?"),  # the question named it
        ("There are 3 ferries there now.[1]", ""),  # a single digit says too little
    ],
)
def test_numbers_that_are_not_held_against_a_claim(text: str, question: str) -> None:
    assert ground(text, BEHIND, question).unsupported == ()


@pytest.mark.parametrize(
    "text",
    [
        "What else would you like to know about ferries?",
        "Here is what the minutes say about the ferry:",
        "# Ferries of the northern harbour",
        "| --- | --- |",
        "Yes, indeed.",
        "I could not find the director's salary in the documents.",
        "The documents do not say who owns the northern ferry.",
        "There is no mention of a northern ferry company.",
        "```\nferry carried many passengers north\n```",
    ],
)
def test_what_is_no_claim_is_left_alone(text: str) -> None:
    result = ground(text, BEHIND)

    assert (result.text, result.unsupported) == (text, ())


def test_list_items_are_claims_of_their_own() -> None:
    result = ground("- Ann has the spare key [2]\n- Bob has another spare key\n", BEHIND)

    assert [span.of(result.text) for span in result.unsupported] == ["- Bob has another spare key"]


def test_a_footnote_to_nothing_supports_no_number() -> None:
    assert len(ground("It was built in 1974 by them.[7]", BEHIND).unsupported) == 1


@given(
    st.lists(
        st.sampled_from(["Ann has keys. ", "Bob lost three keys.[2] ", "In 1999 all keys vanished.[1]\n", "Why? "])
    )
)
def test_spans_point_at_the_marked_sentences(parts: list[str]) -> None:
    result = ground("".join(parts), BEHIND)

    assert result.text.count(f" {UNSUPPORTED_MARK}") == len(result.unsupported)
    for span in result.unsupported:
        assert result.text[span.end :].startswith(f" {UNSUPPORTED_MARK}")
        assert span.of(result.text).strip() == span.of(result.text) != ""


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("I found nothing in the documents that answers this. Shall I look elsewhere?", True),
        ("The documents do not say who owns it.", True),
        ("Paris.", False),
        ("I found nothing about it. It is in Paris.", False),
        ("Is it?", False),
        ("", False),
    ],
)
def test_a_text_that_only_says_not_found_is_told_from_one_that_answers(text: str, only: bool) -> None:
    assert only_says_not_found(text) is only


@pytest.mark.parametrize(
    ("text", "backed", "backed_where_none_is_needed"),
    [
        ("Ann has the spare key.[2]", True, True),
        ("The ferry carried 148310 passengers.[2, 1]", True, True),
        ("The ferry carried 148,310 passengers.[2]", False, False),  # the number stands behind another footnote
        ("Ann has 12 keys.[2]", False, False),
        ("Ann has the spare key.", False, False),
        ("Here it is.", False, True),
        ("The documents do not say when it was built.", False, True),
        ("", False, True),
    ],
)
def test_a_statement_as_a_whole_stands_on_its_footnotes_or_says_nothing(
    text: str, backed: bool, backed_where_none_is_needed: bool
) -> None:
    assert is_backed(text, BEHIND) is backed
    assert is_backed(text, BEHIND, needs_footnote=False) is backed_where_none_is_needed


TABLE = "| Ferry | Passengers carried | Year sold |\n|---|:-:|---|\n| North | 148,310 [1] | 2025 [1] |\n"


def test_the_head_of_a_table_is_no_claim() -> None:
    assert ground(TABLE, BEHIND).text == TABLE
    assert (
        ground(
            "Ferry | Passengers carried | Year sold\n--- | --- | ---\nNorth | many [1] | 2025 [1]\n", BEHIND
        ).unsupported
        == ()
    )


def test_a_row_without_support_keeps_its_cells() -> None:
    row = "| South | 99,000 passengers | 2031 |"
    result = ground(f"{TABLE}{row}\n| East | 2025 [1] | |\n", BEHIND)

    assert f"{row[:-2]} {UNSUPPORTED_MARK} |\n| East | 2025 [1] | |\n" in result.text
    assert [span.of(result.text) for span in result.unsupported] == [row[:-2]]


@pytest.mark.parametrize("row", [".", " ", "|", "- ", "|-", " \t"])
def test_a_model_that_says_one_thing_without_an_end_stops_nobody(row: str) -> None:
    said = "\n".join(f"{begin}{row * 50_000}x" for begin in ("The cost rose", "a|b\n", "a|b\n|-"))
    started = time.process_time()
    assert ground(said, {}).unsupported
    assert time.process_time() - started < 2.0
