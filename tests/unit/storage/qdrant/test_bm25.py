import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.qdrant.bm25 import SparseVector, has_words, plain, weigh_passage, weigh_query


@given(st.text())
def test_weights_are_sorted_unique_and_positive(text: str) -> None:
    for weighed in (weigh_passage(text), weigh_query(text)):
        assert list(weighed.indices) == sorted(set(weighed.indices))
        assert len(weighed.indices) == len(weighed.values)
        assert all(value > 0 for value in weighed.values)
        assert all(0 <= index < 2**32 for index in weighed.indices)


def test_a_query_weighs_each_word_once() -> None:
    assert weigh_query("gold, gold and more gold").values == (1.0,)


def test_a_text_of_stop_words_has_no_weights() -> None:
    assert weigh_query("what is it") == SparseVector()
    assert weigh_passage("") == SparseVector()


def test_repeats_count_for_less_and_less() -> None:
    once, twice, thrice = (weigh_passage("gold " * n).values[0] for n in (1, 2, 3))

    assert once < twice < thrice
    assert twice - once > thrice - twice


def test_a_word_weighs_less_in_a_longer_passage() -> None:
    short = dict(zip(weigh_passage("gold").indices, weigh_passage("gold").values, strict=True))
    long = weigh_passage("gold " + " ".join(f"word{n}" for n in range(300)))
    index = weigh_query("gold").indices[0]

    assert dict(zip(long.indices, long.values, strict=True))[index] < short[index]


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
