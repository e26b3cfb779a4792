"""The description names the routes that are there, its references lead somewhere, its limits are those of the code."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp.test_utils import TestClient

from bot.web.api.bodies import MAX_BODY_BYTES, ChatBody, TitleBody
from bot.web.api.routes import OPENAPI_FILE, ROUTES
from core.work.questions import MAX_QUESTION_CHARACTERS

RAW: dict[str, Any] = json.loads(OPENAPI_FILE.read_text(encoding="utf-8"))


def test_it_describes_the_routes_that_are_there_and_no_others() -> None:
    described = {(method.upper(), path) for path, item in RAW["paths"].items() for method in item}

    assert described == {(route.method, route.path) for route in ROUTES}


def test_every_reference_leads_somewhere() -> None:
    def references(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            if "$ref" in value:
                yield value["$ref"]
            for item in value.values():
                yield from references(item)
        if isinstance(value, list):
            for item in value:
                yield from references(item)

    found = set(references(RAW))
    for reference in found:
        target: Any = RAW
        for part in reference.removeprefix("#/").split("/"):
            target = target[part]
    assert len(found) > 20


@pytest.mark.parametrize(("name", "model"), [("ChatRequest", ChatBody), ("TitleRequest", TitleBody)])
def test_bodies_have_the_fields_that_are_read(name: str, model: type) -> None:
    schema = RAW["components"]["schemas"][name]

    assert set(schema["properties"]) == set(model.model_fields)
    assert set(schema["required"]) == {field for field, info in model.model_fields.items() if info.is_required()}
    assert schema["additionalProperties"] is False


def test_limits_are_those_of_the_code() -> None:
    assert RAW["components"]["schemas"]["ChatRequest"]["properties"]["message"]["maxLength"] == MAX_QUESTION_CHARACTERS
    assert f"{MAX_BODY_BYTES // 1024} KiB" in RAW["components"]["responses"]["413"]["description"]


async def test_it_is_served_as_it_is_kept(client: TestClient) -> None:
    response = await client.get("/api/openapi.json")

    assert response.content_type == "application/json"
    assert await response.json() == RAW
