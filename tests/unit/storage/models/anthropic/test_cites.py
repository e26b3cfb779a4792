"""Inline cite tags go, everything else stays, however the text is cut into pieces."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.models.anthropic.messages import InlineCiteFilter

FRAGMENTS = ["<", ">", "/", "cite", "<cite", ' index="0-1"', "</cite>", "ns:", " ", "a", "<b>", "\n", "<cite index=1>"]


def clean(*pieces: str) -> str:
    tags = InlineCiteFilter()
    return "".join(tags.feed(piece) for piece in pieces) + tags.flush()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('It opens <cite index="0-1">at nine</cite>.', "It opens at nine."),
        ("<ns:cite index='3'>Nine</ns:cite>", "Nine"),
        ("<cite index=1>a<cite index=2>b</cite></cite>", "ab"),
        ("HTML has <cite>titles</cite> too.", "HTML has <cite>titles</cite> too."),
        ("An </cite> alone and 1 < 2.", "An </cite> alone and 1 < 2."),
        ("Cut in a tag <cite index=", "Cut in a tag <cite index="),
        ("<citeindex=1>", "<citeindex=1>"),
    ],
)
def test_only_the_models_own_tags_are_taken_out(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join), st.lists(st.integers(0, 80), max_size=6))
def test_pieces_give_the_same_as_the_whole(text: str, cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in itertools.pairwise(bounds)]
    assert clean(*pieces) == clean(text)


@given(st.text(alphabet=st.characters(exclude_characters="<")))
def test_text_without_tags_is_untouched(text: str) -> None:
    assert clean(text) == text


def test_a_lone_bracket_holds_back_no_page() -> None:
    tags = InlineCiteFilter()
    assert tags.feed("<cite " + "x" * 300).startswith("<cite x")
