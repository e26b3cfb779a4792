import pytest
from hypothesis import given, settings

from bot.slackbot.rendering.blocks import MAX_FALLBACK, fallback, unmarked
from tests.unit.bot.markdown_texts import ZERO_WIDTH, any_texts
from tests.unit.bot.slackbot.shown import faults_of_fallback


@settings(deadline=None)
@given(any_texts, any_texts)
def test_whatever_it_is_made_of_it_is_escaped_short_and_harmless(text: str, below: str) -> None:
    assert faults_of_fallback(fallback(text, below)) == []
    assert faults_of_fallback(fallback(text * 20, below * 20)) == []


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# Title\n**bold** and `code`", "Title\nbold and code"),
        ("[[1]](https://a.example) [a \\[b\\]](https://a.example)", "[1] a [b]"),
        ("```python\nx = 1\n```\nafter", "x = 1\nafter"),
        ("1 \\< 2 \\* 3", "1 < 2 * 3"),
    ],
)
def test_markdown_reads_without_its_signs(markdown: str, expected: str) -> None:
    assert unmarked(markdown) == expected


def test_signs_that_slack_reads_are_escaped() -> None:
    assert fallback("1 < 2 & <!here>").replace(ZERO_WIDTH, "") == "1 &lt; 2 &amp; &lt;!here&gt;"


def test_nothing_is_an_ellipsis() -> None:
    assert fallback(" ") == "…"


def test_a_long_text_is_cut_before_what_stands_below_it() -> None:
    text = fallback("ü" * 5_000, "Sources")
    assert text.endswith("ü…\n\nSources")
    assert MAX_FALLBACK - 4 < len(text.encode()) <= MAX_FALLBACK


def test_what_stands_below_takes_a_third_at_most() -> None:
    text = fallback("words", "x" * 5_000)
    assert text.startswith("words\n\nxxx")
    assert len(text) < MAX_FALLBACK / 3 + 10
