import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.tokens import count_tokens, tokens


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
