"""JSON and YAML of strangers: values, or one sentence."""

import pytest

from core.errors import ReadError
from storage.documents.texts.structured import read_json, read_yaml


def test_yaml_scalars_stay_strings_and_nulls_are_none() -> None:
    text = "a: 2024-13-45\nb: null\nc: 'null'\nd: [1, yes]\ne:\n"
    assert read_yaml(text) == {"a": "2024-13-45", "b": None, "c": "null", "d": ["1", "yes"], "e": None}


def test_an_alias_is_the_value_of_its_anchor() -> None:
    assert read_yaml("a: &x {b: c}\nd: *x\ne: &y f\ng: *y") == {"a": {"b": "c"}, "d": {"b": "c"}, "e": "f", "g": "f"}


def test_only_the_first_document_of_a_stream_is_read() -> None:
    assert read_yaml("a: 1\n---\nb: 2") == {"a": "1"}


def test_keys_that_are_no_strings_are_left_out() -> None:
    assert read_yaml("? [a, b]\n: c\nd: e") == {"d": "e"}


@pytest.mark.parametrize("text", ["a: [", "a: 'b", "\tx: 1", "a: *nobody", "a: \x01"])
def test_broken_yaml_says_what_is_wrong(text: str) -> None:
    with pytest.raises(ReadError, match="broken YAML"):
        read_yaml(text)


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "a: " + "{b: " * 300])
def test_deep_yaml_ends_in_a_sentence(text: str) -> None:
    with pytest.raises(ReadError, match="nested too deeply"):
        read_yaml(text)


def test_aliases_that_repeat_each_other_do_not_blow_up() -> None:
    levels = "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9))
    with pytest.raises(ReadError, match="too large: its aliases stand for more"):
        read_yaml("a: &a [x, x, x, x, x, x, x, x, x]\n" + levels)


def test_broken_json_names_the_place() -> None:
    with pytest.raises(ReadError, match=r"broken JSON: .* at line 2, column 1"):
        read_json('{"a":\n]}')


def test_json_that_ends_early_is_called_cut_off() -> None:
    with pytest.raises(ReadError, match="it may be cut off"):
        read_json('{"a": [1, ')


def test_deep_json_ends_in_a_sentence() -> None:
    with pytest.raises(ReadError, match="nested too deeply"):
        read_json("[" * 100_000)


def test_a_number_of_too_many_digits_is_a_reason() -> None:
    with pytest.raises(ReadError, match="broken JSON"):
        read_json("9" * 5_000)
