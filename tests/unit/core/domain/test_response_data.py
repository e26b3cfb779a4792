import pytest
from pydantic import ValidationError

from core.domain.response_data import RESPONSE_TYPES, GeneralData, response_schema

TYPES = pytest.mark.parametrize("response_type", RESPONSE_TYPES)


@TYPES
def test_a_schema_is_plain_closed_and_asks_for_every_field(response_type):
    open_parts = [response_schema(response_type)]
    while open_parts:
        part = open_parts.pop()
        assert set(part) <= {"type", "description", "items", "properties", "required", "additionalProperties"}
        if part["type"] == "object":
            assert part["required"] == list(part["properties"]) and part["additionalProperties"] is False
            open_parts += part["properties"].values()
        elif part["type"] == "array":
            open_parts.append(part["items"])
        else:
            assert part["type"] == "string"


@TYPES
def test_every_type_has_a_summary_its_sources_and_its_gaps(response_type):
    assert {"summary", "data_sources", "data_gaps"} < set(response_schema(response_type)["properties"])
    read = RESPONSE_TYPES[response_type].model.model_validate({"summary": "Two\n lines."})
    assert read.summary == "Two lines."


def test_lengths_and_unknown_fields_are_refused():
    for wrong in ({"summary": "x" * 1_201}, {"summary": "x", "points": ["y"] * 61}, {"summary": "x", "price": "3"}):
        with pytest.raises(ValidationError):
            GeneralData.model_validate(wrong)
