from types import SimpleNamespace

import pytest

from bot.presentation.action_names import (
    MAX_ACTION_NAME,
    PATTERN,
    ActionName,
    Verb,
    find_part,
    read_action_name,
    to_action_name,
)

POST, ANSWER = "b" * 32, "a" * 32


@pytest.mark.parametrize("verb", Verb)
@pytest.mark.parametrize(("n", "post", "part"), [(None, None, None), (0, None, None), (24, "x" * 36, 9_999)])
def test_a_name_is_read_back_and_never_too_long(verb: Verb, n: int | None, post: str | None, part: int | None) -> None:
    name = ActionName(verb=verb, id="c" * 36, n=n, post_id=post, part=part)
    text = to_action_name(name)
    assert read_action_name(text) == name
    assert len(text) <= MAX_ACTION_NAME
    assert PATTERN.fullmatch(text)


@pytest.mark.parametrize("wrong", ["", "a b", "a:b", "a" * 37, "ü"])
def test_an_id_that_would_not_be_read_back_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="isn't a name for a button"):
        to_action_name(ActionName(verb=Verb.UP, id=wrong))


@pytest.mark.parametrize("text", ["", "up", "fn:up", "fn:fly:abc", "fn:up:abc:x", "xfn:up:abc", "fn:up:abc@b"])
def test_names_of_others_are_not_ours(text: str) -> None:
    assert read_action_name(text) is None


def test_the_mark_is_found_in_what_the_api_returns_and_in_objects_of_the_library() -> None:
    custom_id = f"fn:how:{ANSWER}@{POST}.3"
    button = {"type": 2, "custom_id": custom_id}
    assert find_part([{"type": 10, "content": "x"}, {"type": 1, "components": [button]}]) == (POST, 3)
    assert find_part([{"type": 9, "components": [], "accessory": button}]) == (POST, 3)
    row = SimpleNamespace(children=[SimpleNamespace(custom_id=custom_id)])
    assert find_part([SimpleNamespace(content="x"), row]) == (POST, 3)


def test_messages_without_a_mark_are_no_parts() -> None:
    assert find_part([]) is None
    assert find_part([{"type": 1, "components": [{"type": 2, "custom_id": f"fn:up:{ANSWER}"}]}]) is None
    assert find_part([{"type": 1, "components": [{"type": 2, "custom_id": "poll:1"}]}]) is None
