"""What a refusal teaches of a server."""

import pytest

from storage.models.openai_compatible.messages import Dialect

TOO_NEW = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
SENT = {"max_tokens": 9, "stream_options": {}, "tool_choice": "required", "response_format": {}}


@pytest.mark.parametrize(
    ("refusal", "changed"),
    [
        (TOO_NEW, {"length_key": "max_completion_tokens"}),
        ("stream_options: Extra inputs are not permitted", {"stream_usage": False}),
        ("tool_choice 'required' is not supported", {"forced_choice": False}),
        ("json_schema.strict: unknown field", {"strict_schema": False}),
        ("messages.2.reasoning_content: Extra inputs are not permitted", {"thoughts": False}),
    ],
)
def test_a_parameter_that_is_not_known_is_unlearned(refusal: str, changed: dict[str, object]) -> None:
    dialect = Dialect(length_key="max_tokens")
    assert dialect.learn(refusal, SENT)
    before = Dialect(length_key="max_tokens")
    differ = {name: getattr(dialect, name) for name in changed if getattr(dialect, name) != getattr(before, name)}
    assert differ == changed


@pytest.mark.parametrize(
    "refusal", ["max_tokens is too large: 9000, at most 4096", "messages: wrong", "the model is not supported"]
)
def test_what_is_no_parameters_fault_teaches_nothing(refusal: str) -> None:
    assert not Dialect(length_key="max_tokens").learn(refusal, SENT)


def test_requests_side_by_side_learn_a_thing_once() -> None:
    dialect = Dialect(length_key="max_tokens")
    assert dialect.learn(TOO_NEW, {"max_tokens": 9}) and dialect.learn(TOO_NEW, {"max_tokens": 9})
    assert dialect.length_key == "max_completion_tokens"


def test_where_neither_bound_is_known_none_is_sent() -> None:
    dialect = Dialect(length_key="max_tokens")
    assert dialect.learn("unknown: max_tokens", {"max_tokens": 9})
    assert dialect.learn("unknown: max_completion_tokens", {"max_completion_tokens": 9})
    assert dialect.length_key is None
    assert not dialect.learn("unknown: max_tokens", {})
