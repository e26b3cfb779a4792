"""Replies are put together the same however they are cut and numbered."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.replies import Usage
from storage.models.openai_compatible.replies import ReplyBuilder, ThoughtFilter, to_usage

TEXTS = st.text(alphabet="ab <>/think\n", max_size=40)


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted({min(place, len(text)) for place in places})
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def filtered(pieces: list[str]) -> str:
    thoughts = ThoughtFilter()
    return "".join([*map(thoughts.feed, pieces), thoughts.flush()])


@given(TEXTS, st.lists(st.integers(0, 40)))
def test_text_without_thoughts_comes_through_in_any_pieces(text: str, places: list[int]) -> None:
    if not text.lstrip().startswith(("<think>", "<thinking>")):
        assert filtered(cut(text, places)) == text


@given(st.sampled_from(["think", "thinking"]), TEXTS, TEXTS, st.lists(st.integers(0, 90)))
def test_thoughts_at_the_beginning_never_do(tag: str, thought: str, text: str, places: list[int]) -> None:
    if "</think" not in thought:
        assert filtered(cut(f" <{tag}>{thought}</{tag}>\n{text}", places)) == text.lstrip()


def test_thoughts_without_an_end_are_no_text() -> None:
    assert filtered(["<think>the gate", " opens"]) == ""


def call_deltas(calls: list[dict[str, str]], style: str, places: list[int]) -> list[Any]:
    deltas = []
    for number, arguments in enumerate(calls):
        for place, piece in enumerate(cut(json.dumps(arguments), places)):
            index = {"good": number, "zero": 0, "none": None}[style]
            call_id = f"call_{number}" if place == 0 else None
            name = "search" if place == 0 else None
            function = SimpleNamespace(name=name, arguments=piece)
            deltas.append(SimpleNamespace(index=index, id=call_id, function=function, model_extra=None))
    return deltas


@given(
    st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5), min_size=1, max_size=2), min_size=1, max_size=4),
    st.sampled_from(["good", "zero", "none"]),
    st.lists(st.integers(0, 30), max_size=3),
)
def test_calls_come_out_as_they_were_made(calls: list[dict[str, str]], style: str, places: list[int]) -> None:
    reply = ReplyBuilder()
    for delta in call_deltas(calls, style, places):
        choice = SimpleNamespace(finish_reason=None, delta=SimpleNamespace(tool_calls=[delta], content=None))
        reply.add(SimpleNamespace(choices=[choice]))
    response = reply.to_response(model="m", estimated_input=1)
    assert [call.arguments for call in response.tool_invocations] == calls


@given(st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3)))
def test_chunks_of_odd_shapes_are_ignored_or_one_of_pythons_errors(value: Any) -> None:
    for chunk in (value, SimpleNamespace(choices=value), SimpleNamespace(choices=[SimpleNamespace(delta=value)])):
        reply = ReplyBuilder()
        try:
            said = reply.add(chunk)
        except (ValueError, LookupError, AttributeError, TypeError):
            continue  # what the connection takes for a broken reply
        assert said == ""
        good = SimpleNamespace(finish_reason=None, delta=SimpleNamespace(content="The gate opens."))
        assert reply.add(SimpleNamespace(choices=[good])) == "The gate opens."


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}, Usage(input_tokens=9, output_tokens=2)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 31}, Usage(input_tokens=9, output_tokens=22)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}, Usage(input_tokens=9, cache_read_tokens=4)),
        (
            {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 99, "cache_write_tokens": 3}},
            Usage(input_tokens=9, cache_read_tokens=9, cache_write_tokens=3),
        ),
        ({"prompt_tokens": None, "completion_tokens": "2"}, Usage()),
    ],
)
def test_tokens_are_read_wherever_servers_put_them(usage: dict[str, Any], expected: Usage) -> None:
    assert to_usage(SimpleNamespace(**usage)) == expected
