from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.slackbot.rendering.drafts import DRAFT_LENGTH, draft_text
from tests.unit.bot.markdown_texts import ZERO_WIDTH, any_texts
from tests.unit.bot.slackbot.shown import harm_in_text

# What could become something else with the next letter.
_UNSURE = [
    "[",
    "1",
    "2",
    "]",
    ",",
    ";",
    " ",
    "\n",
    "\t",
    "\r",
    ".",
    "a",
    "bc",
    "(",
    "&",
    "lt;",
    "@",
    "<",
    ":",
    "/",
    "\\",
]
unsure_texts = st.lists(st.sampled_from(_UNSURE), max_size=40).map("".join)


@settings(deadline=None)
@given(st.one_of(any_texts, unsure_texts), st.data())
def test_what_was_given_of_a_draft_is_never_taken_back(text: str, data: st.DataObject) -> None:
    short, long = sorted(data.draw(st.integers(0, len(text))) for _ in range(2))
    assert draft_text(text[:long]).startswith(draft_text(text[:short]))


@settings(deadline=None)
@given(unsure_texts)
def test_not_at_any_letter(text: str) -> None:
    shown = [draft_text(text[:end]) for end in range(len(text) + 1)]
    assert all(later.startswith(before) for before, later in pairwise(shown))


@settings(deadline=None)
@given(st.one_of(any_texts, unsure_texts))
def test_whatever_is_drafted_nothing_in_it_does_harm(text: str) -> None:
    assert harm_in_text(draft_text(f"{text} ")) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("Under", ""),
        ("Under the", "Under"),
        ("Under the mat [1", "Under the mat"),
        ("Under the mat [1].", "Under the mat"),
        ("Under the mat [1]. ", "Under the mat."),
        ("Under the mat [1, 2", "Under the mat"),
        ("Under the mat [1][2] and [3]; so ", "Under the mat and¦; so"),
        ("A list [of words] goes ", "A list [of words] goes"),
        ("- one\n- two\n", "- one\n- two"),
        ("mail ada@evil.example ", "mail ada@¦evil.¦example"),
        ("<!channel> @[1]here &lt;b ", "<¦!channel> @¦¦here &¦lt;b"),
        ("[a](https://evil.example) http:[1]//x ", "[a]¦(https:¦//evil.¦example) http:¦//x"),
    ],
)
def test_a_draft_is_given_up_to_what_is_sure(text: str, expected: str) -> None:
    assert draft_text(text).replace(ZERO_WIDTH, "¦") == expected


def test_of_a_long_draft_the_beginning_is_given_and_then_no_more() -> None:
    text = "word " * DRAFT_LENGTH
    draft = draft_text(text)
    assert draft.endswith("\n\nMore is being written.")
    assert draft_text(text + text) == draft
