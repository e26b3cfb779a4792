"""Words, names in lists, durations and search tokens."""

import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.notation import join_names, split_names, took
from core.text.words import code_spans, collapse, content_words, count_tokens, shorten, tokens, words


def test_collapse_leaves_single_spaces_only() -> None:
    assert collapse(" a\n\tb\u00a0 c ") == "a b c"


def test_words_keep_the_points_and_commas_inside_numbers() -> None:
    assert words("Costs 1,250.50 today, isn't it?") == ["costs", "1,250.50", "today", "isn't", "it"]


def test_content_words_leave_function_words_out() -> None:
    assert content_words("What is the name of the ferry?") == {"name", "ferry"}


@given(st.lists(st.text().map(collapse).filter(lambda name: name and not {"“", "”"} & set(name))))
def test_names_in_one_line_are_read_as_they_were_written(names: list[str]) -> None:
    assert split_names(join_names(names)) == names


def test_names_that_mean_something_else_are_quoted() -> None:
    assert join_names(["none", "All", "allotments"]) == '"none", "All", allotments'


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("handbook, wiki", ["handbook", "wiki"]),
        (" handbook ,,“minutes, 2026” ", ["handbook", "minutes, 2026"]),
        ('"minutes, 2026', ["minutes, 2026"]),
        ('the "old" wiki', ['the "old" wiki']),
        (' , ""', []),
        ("", []),
    ],
)
def test_names_stand_between_commas_and_in_quotes(line: str, names: list[str]) -> None:
    assert split_names(line) == names


def test_code_is_found_fenced_unclosed_and_inline() -> None:
    text = "a `b` c\n```\nd\n```\ne ```f"

    assert [span.of(text) for span in code_spans(text)] == ["`b`", "```\nd\n```", "```f"]


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [("one two", 7, "one two"), ("one two three", 9, "one two…"), ("onetwothree", 5, "onet…"), ("a\nb", 5, "a b")],
)
def test_shorten_cuts_at_a_word(text: str, limit: int, short: str) -> None:
    assert shorten(text, limit) == short


@given(st.text(), st.integers(1, 40))
def test_shortened_text_is_one_line_within_its_limit(text: str, limit: int) -> None:
    short = shorten(text, limit)

    assert len(short) <= limit
    assert collapse(short) == short


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [
        (0.4, "0 ms"),
        (999.4, "999 ms"),
        (999.6, "1.0 s"),
        (4_399, "4.4 s"),
        (59_949, "59.9 s"),
        (59_960, "1 min 0 s"),
        (125_400, "2 min 5 s"),
    ],
)
def test_durations_are_told_as_people_read_them(milliseconds: float, said: str) -> None:
    assert took(milliseconds) == said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The runners were running", ["runner", "run"]),
        ("naïve CAFÉ", ["naiv", "cafe"]),
        ("1,000 gp or 1000 gp", ["1000", "gp", "1000", "gp"]),
        ("pi is 3.14, not 3.", ["pi", "3.14", "3"]),
        ("roll 1d6 in v1.2", ["roll", "1d6", "v1", "2"]),
        ("2019-01-14", ["2019", "01", "14"]),
        ("foo_bar.baz", ["foo", "bar", "baz"]),
        ("the captain's hat", ["captain", "hat"]),
        ("ﬁle ＡＢＣ", ["file", "abc"]),  # ligature and full-width letters
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),  # vowel signs stay with their letters
        ("東京本社", ["東京", "京本", "本社"]),
        ("茶", ["茶"]),
        ("第2回 meeting", ["第", "2", "回", "meet"]),
        ("ประเทศ", ["ปร", "ระ", "ะเ", "เท", "ทศ"]),
        ("x" * 61, []),
        ("what is it", []),
        ("?!", []),
    ],
)
def test_tokens_are_stems_numbers_and_pairs_of_characters(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@given(st.text())
def test_a_text_finds_itself_by_the_same_tokens_however_it_is_encoded(text: str) -> None:
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(unicodedata.normalize("NFC", text))


@given(st.text() | st.text(alphabet="Ferry ferries 東京 1,000"))
def test_counted_tokens_are_the_tokens(text: str) -> None:
    assert count_tokens(text) == Counter(tokens(text))
