"""Endpoints of documentation in the many styles that people write it in."""

from pathlib import Path
from typing import Any

import pytest

from core.domain.extracts import ExtractorInput, Found
from storage.documents.apis.openapi_spec import Spec
from storage.documents.extractors.api_specs import ApiSpecsExtractor
from storage.documents.readers.openapi import build_pages
from storage.documents.texts.structured import read_yaml
from tests.builders import build_document
from tests.unit.storage.documents.extractors.meeting_reading import to_input
from tests.unit.storage.documents.extractors.notes import build_note, to_page


def extract(given: ExtractorInput) -> Found | None:
    found = list(ApiSpecsExtractor().extract(given))
    assert len(found) <= 1
    return found[0] if found else None


def endpoints(text: str) -> list[str]:
    """The endpoints of a note: "GET /boats"."""
    found = extract(build_note(text))
    return [f"{item['method']} {item['path']}" for item in dict[str, Any](found.data)["endpoints"]] if found else []


def data(text: str) -> dict[str, Any]:
    found = extract(build_note(text))
    assert found is not None
    return dict(found.data)


STYLES: dict[str, tuple[str, list[str]]] = {
    "heading with a percent sign": (
        "## Get Boat % GET /boats/{boat.id#DOCS_BOAT/boat-object}\n\nReturns a boat.\n",
        ["GET /boats/{boat.id}"],
    ),
    "heading that is the endpoint": (
        "### `POST` /boats\n\nAdds a boat.\n\n### DELETE /boats/{id}\n",
        ["POST /boats", "DELETE /boats/{id}"],
    ),
    "heading with a bold method": ("#### **PUT** `/piers/:pier_id/boats/:id`\n", ["PUT /piers/:pier_id/boats/:id"]),
    "element with links and escapes": (
        '## Moor\n<Route method="PATCH">/boats/[\\{boat.id\\}](/docs/boats#boat)/mooring</Route>\n',
        ["PATCH /boats/{boat.id}/mooring"],
    ),
    "element with a path attribute": ('<Endpoint method="get" path="/tides/{port}" />\n', ["GET /tides/{port}"]),
    "table of method and path": (
        "| Method | Path | Description |\n|:--|--|--|\n| GET | /boats | All boats |\n| `post` | `/boats` | Add one |\n",
        ["GET /boats", "POST /boats"],
    ),
    "table of path and methods": (
        "| Endpoint | Purpose | HTTP method |\n|---|---|---|\n| `/boats/<int:id>` | One | GET, DELETE |\n",
        ["GET /boats/<int:id>", "DELETE /boats/<int:id>"],
    ),
    "table with both in one cell": (
        "| Endpoint | Description |\n|---|---|\n| `GET /piers` | List |\n| **POST** /piers | Add |\n",
        ["GET /piers", "POST /piers"],
    ),
    "table of resources by method": (
        "| Resource | GET | POST | DELETE |\n|---|---|---|---|\n"
        "| /boats | List | Add | - |\n| /boats/7 | Show | Error | Sink |\n",
        ["GET /boats", "POST /boats", "DELETE /boats/7", "GET /boats/7"],
    ),
    "table with a link to each": (
        "| Verb | URI |\n|---|---|\n| GET | [/crews/{id}](#crews) |\n",
        ["GET /crews/{id}"],
    ),
    "list": (
        "- `GET /boats` - lists boats\n- **DELETE** `/boats/{id}`: removes one\n"
        "* [PUT] /boats/{id}.\n1. PATCH: /boats/{id}\n",
        ["GET /boats", "DELETE /boats/{id}", "PUT /boats/{id}", "PATCH /boats/{id}"],
    ),
    "list with the method behind": (
        "- `/boats` (GET, POST)\n- /piers [DELETE]\n",
        ["GET /boats", "POST /boats", "DELETE /piers"],
    ),
    "labels": (
        "## Log in\n\n**URL** : `/api/login/`\n\n**Method** : `POST`\n\n**Auth required** : NO\n",
        ["POST /api/login/"],
    ),
    "labels the other way": (
        "## Log out\n\nMethod: DELETE\nEndpoint: /session\n\n## Who\n\nHTTP method: GET\nPath: /me\n",
        ["DELETE /session", "GET /me"],
    ),
    "labels above their values": (
        "## Moor\n\n* **URL**\n\n  /boats/:id/mooring\n\n* **Method:**\n\n  `PUT` | `PATCH`\n\n"
        "## Sink\n\n#### Method\n\nDELETE\n\n#### URI\n\n/boats/:id\n",
        ["PUT /boats/:id/mooring", "PATCH /boats/:id/mooring", "DELETE /boats/:id"],
    ),
    "table without outer pipes": (
        "Path | Method | What\n--- | --- | ---\n/boats | GET | All\n/boats | POST | One\n",
        ["GET /boats", "POST /boats"],
    ),
    "table with tabs": ("Method\tURL\nDELETE\t/boats/{id}\nput\t/boats\n", ["DELETE /boats/{id}", "PUT /boats"]),
    "indented code": ("## Add a boat\n\n    POST /boats\n\n### Input\n", ["POST /boats"]),
    "curl without a scheme": (
        "```\ncurl -i -X GET \\\n  'localhost:8080/api/boats?id=1'\ncurl -T a.txt files.ferry.example/boats\n```\n",
        ["GET /api/boats", "PUT /boats"],
    ),
    "request lines in code": (
        "```http\nGET /boats/{id}?full=1 HTTP/1.1\nHost: ferry.example\n```\n\n```\nPOST https://ferry.example/v2/boats\n```\n",
        ["GET /boats/{id}", "POST /v2/boats"],
    ),
    "blueprint": (
        "# Group Boats\n\n## Boats [/boats{?page}]\n\n### List boats [GET]\n\nText.\n\n### Add a boat [POST]\n\n"
        "## Boat [/boats/{id}]\n\n### Remove [DELETE]\n\n### Moor [PUT /boats/{id}/mooring]\n",
        ["GET /boats", "POST /boats", "DELETE /boats/{id}", "PUT /boats/{id}/mooring"],
    ),
    "heading of the method above the path": (
        "### GET\n\n`/boats/{id}`\n\nOne.\n\n### HEAD\n\n/boats\n",
        ["GET /boats/{id}", "HEAD /boats"],
    ),
    "directives": (".. http:get:: /boats/(int:id)\n\n   One boat.\n", ["GET /boats/(int:id)"]),
    "prose": (
        "To moor a boat, send a `POST` to `/moorings`, or call PUT /moorings/{id} later.\n",
        ["POST /moorings", "PUT /moorings/{id}"],
    ),
    "table of labels": (
        "| Method URL | https://ferry.example/api/boats.moor |\n|---|---|\n| Preferred HTTP method | POST |\n",
        ["POST /api/boats.moor"],
    ),
    "folded summary": (
        "<summary><code>GET</code> <code><b>/boats/{id}</b></code> <code>(one boat)</code></summary>\n",
        ["GET /boats/{id}"],
    ),
    "no-break spaces": ("GET&nbsp;/boats<br>POST\xa0/boats\n", ["GET /boats", "POST /boats"]),
    "curl": (
        "```sh\ncurl https://ferry.example/boats\ncurl -d name=x \\\n  -H 'A: b' https://ferry.example/boats\n"
        "curl -X DELETE \"$BASE/boats/{id}\"\ncurl -I '{{host}}/tides?x=1'\n```\n",
        ["GET /boats", "POST /boats", "DELETE /boats/{id}", "HEAD /tides"],
    ),
    "calls of clients": (
        "```python\nrequests.get('https://ferry.example/boats')\nclient.post(f\"{base_url}/boats\", json={})\n```\n",
        ["GET /boats", "POST /boats"],
    ),
    "routes of a server": ("```js\nrouter.patch('/boats/:id', moor)\n```\n", ["PATCH /boats/:id"]),
    "markup left in the text": ("<span class='verb'>POST</span> <code>/boats</code>\n", ["POST /boats"]),
}


@pytest.mark.parametrize(("text", "expected"), STYLES.values(), ids=STYLES)
def test_endpoints_are_found_however_they_are_written(text: str, expected: list[str]) -> None:
    assert sorted(endpoints(text)) == sorted(expected)


@pytest.mark.parametrize(
    "text",
    [
        "Get the boat and post the letter / delete it.\n",
        "POST or GET are methods; PUT / PATCH differ.\n",
        'The log says 10.0.0.7 - "GET /index.html HTTP/1.1" 200 512.\n',
        "See docs/GET/started and /usr/local/bin.\n",
        "| Method | Type |\n|---|---|\n| moor | rope |\n",
        "OPTIONS: see below. HEAD of the harbour: Ann.\n",
        "| GET | POST |\n|---|---|\n| yes | no |\n",
        "```\n# a comment\ncurl --help\ncurl --request LIST http://ferry.example/v1/boats\n```\n",
        "Either /etc or /var: DELETED files go there.\n",
    ],
)
def test_what_only_sounds_like_an_endpoint_is_none(text: str) -> None:
    assert endpoints(text) == []


def test_an_endpoint_is_told_once_and_where_it_is_described() -> None:
    text = "Call GET /boats/{id} first.\n\n## One boat\n\n### GET /boats/{id}\n\n```\nGET /boats/7\ncurl https://f.example/v1/boats/8\n```\n"
    given = build_note(text)
    found = extract(given)
    assert found is not None
    (endpoint,) = dict[str, Any](found.data)["endpoints"]
    page = given.pages[endpoint["page_number"] - 1]
    assert page.text[slice(*endpoint["span"])] == "### GET /boats/{id}"
    assert (found.page_number, found.span.start) == (endpoint["page_number"], endpoint["span"][0])


def test_a_part_of_a_path_that_is_described_is_no_example_of_a_parameter() -> None:
    text = "- GET /boats/{id}\n- GET /boats/latest\n"
    assert endpoints(text) == ["GET /boats/{id}", "GET /boats/latest"]


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("## Add a boat\n\n`POST /boats`\n", "Add a boat"),
        ("## Get Boat % GET /boats/{id}\n", "Get Boat"),
        ("- `GET /boats` - Lists all boats\n", "Lists all boats"),
        ("| Method | Path | Description |\n|---|---|---|\n| GET | /boats | Lists **all** boats |\n", "Lists all boats"),
        ("## Sink\n\n| Method | Path |\n|---|---|\n| DELETE | /boats/{id} |\n", "Sink"),
        ("## Endpoints\n\n`POST /boats`\n", ""),
        ("### Moor [PUT /boats/{id}/mooring]\n", "Moor"),
    ],
)
def test_the_summary_is_what_is_said_beside_the_endpoint(text: str, summary: str) -> None:
    assert data(text)["endpoints"][0]["summary"] == summary


@pytest.mark.parametrize(
    ("text", "base_url", "path"),
    [
        ("Base URL: https://api.ferry.example/v1/\n\nGET /boats\n", "https://api.ferry.example/v1", "/boats"),
        (
            "## Base URL\n\n```\nhttps://api.ferry.example\n```\n\n## Boats\n\nGET /boats\n",
            "https://api.ferry.example",
            "/boats",
        ),
        (
            "All paths are relative to `https://api.ferry.example/v1`.\n\n- GET https://api.ferry.example/v1/boats\n",
            "https://api.ferry.example/v1",
            "/boats",
        ),
        ("- GET https://api.ferry.example/v1/boats\n", "https://api.ferry.example", "/v1/boats"),
        ("- GET https://a.example/boats\n- GET https://b.example/boats/x\n", None, "/boats"),
        ("See https://ferry.example for more.\n\nGET /boats\n", None, "/boats"),
    ],
)
def test_the_base_url_is_what_is_stated_or_what_all_addresses_share(text: str, base_url: str | None, path: str) -> None:
    found = data(text)
    assert (found["base_url"], found["endpoints"][0]["path"]) == (base_url, path)


@pytest.mark.parametrize(
    ("text", "auth"),
    [
        ("Send an API key in the `X-API-Key` header.", "API key"),
        ("## Authentication\n\nWe use OAuth 2.0. Or pass a bearer token.", "OAuth 2.0, bearer token"),
        ("```\ncurl -H 'Authorization: Bearer x' https://f.example/a\n```", "bearer token"),
        ("All requests are authenticated with HTTP Basic auth.", "HTTP Basic"),
        ("This API does not require authentication with a token or API key.", None),
        ("Returned by the OAuth2 flow.", None),
        ("The bearer of good news.", None),
    ],
)
def test_how_callers_prove_who_they_are(text: str, auth: str | None) -> None:
    assert data(f"{text}\n\n## Boats\n\nGET /boats\n")["auth_method"] == auth


SPEC = """openapi: 3.1.0
info: {title: Ferry API}
servers: [{url: 'https://api.ferry.example/v1', description: live}]
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: x-key}
    basic: {type: http, scheme: basic}
paths:
  /boats:
    get: {summary: All boats, responses: {}}
    post: {responses: {}}
  '/boats/{id}':
    delete: {summary: Sink, description: 'Like POST /sinkings', responses: {}}
webhooks:
  moored: {post: {responses: {}}}
"""


def test_an_openapi_description_gives_its_operations_and_not_its_webhooks() -> None:
    pages = build_pages(Spec(read_yaml(SPEC)), "Ferry API")
    given = ExtractorInput(
        document=build_document("ferry.yaml", kind="openapi", title="Ferry API"),
        pages=tuple(to_page(page, number) for number, page in enumerate(pages, 1)),
    )
    found = extract(given)
    assert found is not None
    told = [
        (item["method"], item["path"], item["summary"], item["page_number"])
        for item in dict[str, Any](found.data)["endpoints"]
    ]
    assert told == [("GET", "/boats", "All boats", 2), ("POST", "/boats", "", 3), ("DELETE", "/boats/{id}", "Sink", 4)]
    assert found.confidence == 1
    assert found.data["base_url"] == "https://api.ferry.example/v1"
    assert found.data["auth_method"] == "key (apiKey), basic (http basic)"
    assert found.data["service_name"] == "Ferry API"


def test_a_mention_in_prose_is_less_sure_than_a_table() -> None:
    mention = extract(build_note("You may call PUT /moorings/{id} later.\n"))
    row = extract(build_note("| Method | Path |\n|---|---|\n| PUT | /moorings/{id} |\n"))
    assert mention is not None
    assert row is not None
    assert mention.confidence < row.confidence


def test_spreadsheets_are_not_looked_at() -> None:
    assert not ApiSpecsExtractor().reads(build_document("a.csv", kind="csv"))


@pytest.mark.parametrize(
    "line",
    [
        "curl -sSL https://get.boats.example/install.sh | sh",
        "curl https://get.boats.example/setup | sudo bash",
        "curl -O https://get.boats.example/boats.tar.gz",
    ],
)
def test_fetching_a_program_is_no_endpoint(line: str) -> None:
    call = "curl -X POST https://boats.example/v1/boats"
    assert endpoints(f"# Boats API\n\n```sh\n{line}\n{call}\n```\n") == ["POST /v1/boats"]


@pytest.mark.parametrize(
    "said",
    [
        "All paths are below `https://boats.example/v3`.",
        "Requests are sent to https://boats.example/v3.",
        "The service listens on ``https://boats.example/v3``.",
        "Server: `https://boats.example/v3`",
        "Every endpoint starts with https://boats.example/v3",
    ],
)
def test_where_a_service_is_may_be_told_in_a_sentence(said: str) -> None:
    assert data(f"# Boats\n\n{said}\n\n### GET /boats\n")["base_url"] == "https://boats.example/v3"


def test_directives_of_restructured_text_name_endpoints(tmp_path: Path) -> None:
    text = "Boats\n=====\n\n.. http:get:: /boats/(int:id)\n\n   One boat.\n\n.. http:post:: /boats\n\n   Adds one.\n"
    found = extract(to_input("boats.rst", text, tmp_path))
    assert found is not None
    assert [f"{item['method']} {item['path']}" for item in dict[str, Any](found.data)["endpoints"]] == [
        "GET /boats/(int:id)",
        "POST /boats",
    ]


def test_an_example_that_writes_the_base_out_is_the_endpoint_stated() -> None:
    example = "```http\nPOST /v3/boats HTTP/1.1\n```"
    text = f"# Boats\n\nServer: https://boats.example/v3\n\n- `POST /boats` - adds one\n\n{example}\n"
    assert endpoints(text) == ["POST /boats"]


def test_a_path_with_two_methods_is_no_use_of_a_path_with_a_parameter() -> None:
    text = (
        "## Settings\n\n- `GET /settings/{name}`\n- `PUT /settings/{name}`\n- `GET /boats/{id}`\n\n"
        "Send GET /settings/theme to read the theme, and PUT /settings/theme to change it. GET /boats/7 is one boat.\n"
    )
    assert endpoints(text) == [
        "GET /settings/{name}",
        "PUT /settings/{name}",
        "GET /boats/{id}",
        "GET /settings/theme",
        "PUT /settings/theme",
    ]
