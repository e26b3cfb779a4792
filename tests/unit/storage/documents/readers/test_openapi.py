"""API descriptions: what a client has to know of a service, as text that people read."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.domain.corpus import ParsedDocument, ParsedPage
from core.errors import ReadError
from storage.documents.base import HEAD_BYTES, build_readers, find_reader
from storage.documents.readers.openapi import MAX_FIELDS, OpenApiReader

FERRY = """
openapi: 3.1.0
info: {title: Ferry API, version: '2.1', description: Times and fares.}
servers:
  - url: https://ferry.example/{version}
    variables: {version: {default: v2, enum: [v1, v2]}}
security: [{key: []}]
tags: [{name: sailings, description: Where boats go.}]
paths:
  /sailings/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: integer, format: int32}}
    get:
      tags: [sailings]
      operationId: getSailing
      summary: One sailing
      parameters:
        - $ref: '#/components/parameters/lang'
      responses:
        '200':
          description: The sailing
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Sailing'}
        '404': {$ref: '#/components/responses/missing'}
    put:
      deprecated: true
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/Sailing'}, example: {deck: upper}}}
      callbacks:
        sailed: {'{$request.body#/url}': {post: {summary: It left}}}
      responses: {default: {description: Whatever}}
webhooks:
  delayed: {post: {summary: A boat is late, responses: {'200': {description: Heard}}}}
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
  parameters:
    lang: {name: lang, in: query, description: Language of names, schema: {type: string, enum: [en, fr], default: en}}
  responses:
    missing: {description: No such sailing}
  schemas:
    Sailing:
      required: [deck]
      properties:
        deck: {type: integer, description: Which deck, minimum: 1}
        harbour: {$ref: '#/components/schemas/Harbour'}
        next: {$ref: '#/components/schemas/Sailing'}
    Harbour:
      allOf:
        - {properties: {name: {type: string}}}
        - {properties: {piers: {type: array, items: {properties: {number: {type: string}}}}}}
"""
SWAGGER: dict[str, Any] = {
    "swagger": "2.0",
    "info": {"title": "Old Ferry"},
    "host": "ferry.example",
    "basePath": "/v1",
    "schemes": ["https", "http"],
    "paths": {
        "/fares": {
            "post": {
                "parameters": [
                    {"name": "class", "in": "query", "type": "string", "required": True},
                    {"name": "fare", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Fare"}},
                ],
                "responses": {"200": {"description": "ok", "schema": {"type": "array", "items": {"type": "number"}}}},
            }
        }
    },
    "definitions": {"Fare": {"type": "object", "properties": {"price": {"type": "number"}}}},
}


def read(text: str, tmp_path: Path, name: str = "api.yaml") -> ParsedDocument:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert isinstance(find_reader(path, path.read_bytes()[:HEAD_BYTES], build_readers()), OpenApiReader)
    return OpenApiReader().read(path, tmp_path)


def page(document: ParsedDocument, title: str) -> ParsedPage:
    return next(item for item in document.pages if item.title == title)


def test_a_service_has_a_page_each_operation_has_one_and_all_schemas_have_one(tmp_path: Path) -> None:
    document = read(FERRY, tmp_path)
    assert document.title == "Ferry API"
    assert [item.title for item in document.pages] == [
        "Ferry API",
        "GET /sailings/{id}",
        "PUT /sailings/{id}",
        "Webhook POST delayed",
        "Schemas",
    ]


def test_the_page_of_the_service_tells_address_keys_and_endpoints(tmp_path: Path) -> None:
    text = read(FERRY, tmp_path).pages[0].text
    assert "- https://ferry.example/{version}\n  - {version}: One of: v1, v2. Default: v2." in text
    assert "- **key**: apiKey, header parameter X-Key" in text
    assert "Used by default: key" in text
    assert "| GET | /sailings/{id} | One sailing |" in text
    endpoints, webhooks = text.index("## Endpoints"), text.index("## Webhooks")
    assert endpoints < text.index("| PUT |") < webhooks < text.index("| POST | delayed |")


def test_an_operation_tells_its_parameters_those_of_its_path_included(tmp_path: Path) -> None:
    get = page(read(FERRY, tmp_path), "GET /sailings/{id}")
    assert get.heading_path == ("sailings",)
    assert get.anchors == (("getSailing", 0),)
    assert "- operationId: getSailing" in get.text
    assert "| id | path | integer (int32) | yes |" in get.text
    assert "| lang | query | string | no | Language of names. One of: en, fr. Default: en. |" in get.text


def test_references_of_responses_and_schemas_are_followed(tmp_path: Path) -> None:
    text = page(read(FERRY, tmp_path), "GET /sailings/{id}").text
    assert "| 200 | The sailing | Sailing |" in text
    assert "| 404 | No such sailing |" in text
    assert "| deck | integer | yes | Which deck. Bounds: at least 1. |" in text
    assert "| harbour.name | string | no |" in text


def test_a_schema_inside_of_itself_ends(tmp_path: Path) -> None:
    text = page(read(FERRY, tmp_path), "Schemas").text
    assert "| next | Sailing | no |" in text
    assert "next.next.next" not in text


def test_bodies_callbacks_and_marks_stand_on_the_page(tmp_path: Path) -> None:
    text = page(read(FERRY, tmp_path), "PUT /sailings/{id}").text
    assert "- Deprecated" in text
    assert "### Request body\n\n- Required\n- application/json: Sailing" in text
    assert '```json\n{\n  "deck": "upper"\n}\n```' in text
    assert "- **sailed**: POST {$request.body#/url}: It left" in text


def test_swagger_2_reads_alike(tmp_path: Path) -> None:
    document = read(json.dumps(SWAGGER), tmp_path, "api.json")
    post = page(document, "POST /fares").text
    assert "- https://ferry.example/v1\n- http://ferry.example/v1" in document.pages[0].text
    assert "| class | query | string | yes |" in post
    assert "- Required\n- Fare\n" in post
    assert "| price | number | no |" in post
    assert "| 200 | ok | array of number |" in post


@pytest.mark.parametrize(
    "reference", ["#/components/schemas/A", "#/nowhere", "other.yaml#/A", "#/components/schemas/%7E1", "#/"]
)
def test_references_in_circles_and_into_nowhere_are_survived(reference: str, tmp_path: Path) -> None:
    paths, schemas = {"/a": {"$ref": reference}}, {"A": {"$ref": reference}}
    text = json.dumps({"openapi": "3.0.0", "paths": paths, "components": {"schemas": schemas}})
    assert read(text, tmp_path).title == "api"


def test_a_schema_of_very_many_fields_is_cut_and_says_so(tmp_path: Path) -> None:
    fields = {f"field{number}": {"$ref": "#/definitions/Big"} for number in range(500)}
    spec = {**SWAGGER, "definitions": {"Big": {"properties": fields}, "Fare": {"$ref": "#/definitions/Big"}}}
    text = page(read(json.dumps(spec), tmp_path, "api.json"), "POST /fares").text
    assert text.count("| field") == MAX_FIELDS
    assert f"More fields than the {MAX_FIELDS} shown here." in text


def test_aliases_that_multiply_are_refused(tmp_path: Path) -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 10))
    with pytest.raises(ReadError, match="aliases"):
        read(f"openapi: 3.0.0\npaths: {{}}\nl0: &l0 [a]\n{levels}", tmp_path)


def test_a_description_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no paths"):
        read("openapi: 3.0.0\ninfo: {title: x}\n", tmp_path)


@pytest.mark.parametrize(
    "text", ["name: openapi\n", '{"a": {"openapi": "3.0.0x"}}', "openapi-tools: 3\n", "- openapi: 3\n"]
)
def test_other_files_that_name_openapi_are_no_descriptions(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    if OpenApiReader().accepts(path, path.read_bytes()):
        with pytest.raises(ReadError):
            OpenApiReader().read(path, tmp_path)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just({"$ref": "#/definitions/Fare"}),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["get", "schema", "items", "allOf", "properties", "in", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_value_in_any_place_gives_pages_or_a_reason(data: st.DataObject, tmp_path: Path) -> None:
    spec = json.loads(json.dumps(SWAGGER))
    place = spec
    while isinstance(place, dict) and place:
        key = data.draw(st.sampled_from(sorted(place)))
        if data.draw(st.booleans()) or not isinstance(place[key], dict):
            place[key] = data.draw(junk)
            break
        place = place[key]
    path = tmp_path / "api.json"
    path.write_text(json.dumps(spec), encoding="utf-8")
    try:
        document = OpenApiReader().read(path, tmp_path)
    except ReadError as error:
        assert str(error)
    else:
        assert all(item.text.strip() for item in document.pages)
