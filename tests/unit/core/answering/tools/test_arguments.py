"""The arguments of a tool: as models are told of them, and as they are checked."""

import pytest
from pydantic import Field

from core.answering.tools.base import Arguments
from core.answering.tools.toolbox import to_parameters, validate
from core.errors import ToolRetry


class KnotArguments(Arguments):
    name: str
    turns: int | None = Field(default=None, ge=1)


def test_models_are_told_of_a_plain_object_without_null() -> None:
    parameters = to_parameters(KnotArguments)
    assert parameters["required"] == ["name"]
    assert parameters["additionalProperties"] is False
    assert parameters["properties"] == {"name": {"type": "string"}, "turns": {"minimum": 1, "type": "integer"}}


@pytest.mark.parametrize("turns", [None, "", "  "])
def test_null_and_blank_text_stand_for_an_argument_that_is_not_given(turns: object) -> None:
    assert validate("tie", KnotArguments, {"name": "bowline", "turns": turns}) == KnotArguments(name="bowline")


def test_all_that_is_wrong_is_told_at_once_with_what_the_tool_takes() -> None:
    with pytest.raises(ToolRetry) as raised:
        validate("tie", KnotArguments, {"turns": 0, "rope": "hemp"})
    said = str(raised.value)
    assert said.startswith("tie could not run: ")
    assert all(part in said for part in ("'name' is missing", "unknown argument 'rope'", "'turns': "))
    assert said.endswith("It takes name, turns.")
