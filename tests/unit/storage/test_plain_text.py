import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.text import has_words, indexed_text, plain
from tests.unit.storage.search_builders import build_entry


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Title #1", "Title #1"),
        ("**bold** _em_ snake_case __dunder__", "bold em snake_case dunder"),
        ("[label](http://x.org/a_b 'tip')", "label"),
        ("![alt](pic.png)", "alt"),
        ("[[note]] and [[note#part|that part]]", "note and that part"),
        ("@UUID[JournalEntry.x]{The Keep}", "The Keep"),
        ("> quoted\n> - item\n- [x] done", "quoted item done"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a b 1 2"),
        ("one\n\n---\n\ntwo", "one two"),
        ("<p>para</p><!-- hidden -->", "para"),
        ("`code` 5 \\* 3", "code 5 3"),
        ("said so.[^1]", "said so."),
        ("a < b and c > d", "a < b and c > d"),
        ("- 5 degrees", "5 degrees"),
        ("-5 degrees, 2-3 days, $5", "-5 degrees, 2-3 days, $5"),
        ("", ""),
    ],
)
def test_plain_text_keeps_words_and_drops_marks(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(st.text(alphabet="[](){}|<>!-_*#`~\\ \nab@^:"))
def test_plain_text_never_gets_longer_and_has_single_spaces(text: str) -> None:
    stripped = plain(text)

    assert len(stripped) <= max(len(text), 1)
    assert "  " not in stripped
    assert stripped == stripped.strip()


@pytest.mark.parametrize("pattern", ["[ ", "<a ", "[[", "|-", "- - ", "_", "<!--", "](", "@a[", "> "])
@pytest.mark.timeout(20)
def test_plain_text_of_hostile_repeats_takes_no_unbounded_time(pattern: str) -> None:
    assert "  " not in plain(pattern * 20_000)


@pytest.mark.parametrize(("text", "expected"), [("a", True), ("7", True), ("語", True), ("?!", False), ("_", False)])
def test_words_are_letters_and_digits(text: str, expected: bool) -> None:
    assert has_words(text) is expected


def test_title_and_headings_stand_before_the_text_without_its_marks() -> None:
    entry = build_entry("**Gold** is [heavy](x.md).", title="Guide", heading_path=("Ores", "Rare"))

    assert indexed_text(entry) == "Guide Ores > Rare Gold is heavy."
