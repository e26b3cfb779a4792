from hypothesis import given
from hypothesis import strategies as st

from storage.index.engine import SparseVector
from storage.index.index import weigh_passage, weigh_query


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
