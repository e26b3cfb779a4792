import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.presentation.markdown.characters import clean, clip, columns, safe_cut, units


@pytest.mark.parametrize(("text", "expected"), [("abc", 3), ("שלום", 4), ("🙂", 2), ("e\u0301", 2), ("", 0)])
def test_length_is_counted_as_clients_count(text: str, expected: int) -> None:
    assert units(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\x00b\x1bc\x7f", "abc"),
        ("pay \u202etxt.exe", "pay txt.exe"),
        ("half \ud83d sign", "half \ufffd sign"),
        ("tab\there", "tab\there"),
    ],
)
def test_what_hides_or_breaks_a_text_is_taken_out(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("abcdef", 3, 3),
        ("abc", 3, 3),
        ("abe\u0301f", 3, 2),  # not between a letter and its accent
        ("ab👍🏽", 4, 2),  # not between a hand and its colour
        ("a👩\u200d👧b", 5, 1),  # not inside a family
        ("🇩🇪🇫🇷", 6, 2),  # not inside a flag
        ("a\\*b", 2, 1),  # not behind the backslash that escapes
        ("a\\\\b", 3, 3),
        ("e" + "\u0301" * 200, 100, 100),  # a heap of marks is cut all the same
    ],
)
def test_a_cut_keeps_whole_what_people_see_as_one_sign(text: str, limit: int, expected: int) -> None:
    assert safe_cut(text, limit) == expected


@given(st.text(min_size=1), st.integers(2, 50))
def test_a_cut_makes_progress_and_stays_within_the_limit(text: str, limit: int) -> None:
    place = safe_cut(text, limit)
    assert 1 <= place <= len(text)
    assert units(text[:place]) <= limit


@given(st.text(), st.integers(3, 50))
def test_a_clipped_text_is_one_short_line(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    assert units(clipped) <= limit
    assert "\n" not in clipped


def test_a_text_that_fits_is_only_put_on_one_line() -> None:
    assert clip("  two\n words ", 20) == "two words"
    assert clip("two words more", 10) == "two words…"


@pytest.mark.parametrize(("text", "expected"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("🙂", 2)])
def test_width_in_columns(text: str, expected: int) -> None:
    assert columns(text) == expected
