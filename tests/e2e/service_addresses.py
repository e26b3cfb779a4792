"""All addresses that a browser or a program can read of a running service, with the ids of its things filled in."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from urllib.parse import quote

import httpx

from tests.entering import SAME_SITE, cookies_of

API = "/api/v1/workspaces/{workspace}"
# Queries of addresses that need some, or show other texts with them.
QUERIES: Mapping[str, Sequence[str]] = {
    f"{API}/search": ("query=lantern&limit=20",),
    f"{API}/facts": ("query=type:action_item", "query=type:table", "query=type:entity"),
    f"{API}/extracts": ("", "type=table"),
    f"{API}/chat/sessions/{{session_id}}/export": ("format=markdown", "format=json", "format=pdf"),
    "/chat/threads/{channel}/{thread}/export": ("format=markdown", "format=json"),
    "/library": ("", "q=lantern"),
    "/library/extracts": ("", "type=action_item"),
    "/library/find": ("name=lantern",),
    "/library/pages/{page}": ("", "part=pane"),
    "/s/{token}": ("", "part=pane"),
}
# Without texts of documents and people, or streams that don't end.
OTHERS = (
    *("/healthz", "/readyz", "/api/openapi.json", "/static/{name}", "/chat/threads/{channel}/{thread}/events"),
    *("/sign-in", "/sign-in/done", "/sign-in/ended", "/enter/{code}", "/setup", "/setup/done", "/c/{channel}"),
)
TEMPLATES = (
    *(f"{API}/{path}" for path in ("search", "documents", "extracts", "facts", "ontology", "graph", "jobs")),
    *(f"{API}/{path}" for path in ("jobs/{job_id}", "pages/{page_id}", "documents/{document_id}/connections")),
    *(f"{API}/chat/{path}" for path in ("messages/{message_id}", "sessions", "sessions/{session_id}")),
    f"{API}/chat/sessions/{{session_id}}/export",
    *("/", "/metrics", "/c/{channel}/{thread}", "/read/{conversation}", "/chat/conversations/{conversation}"),
    *("/chat/home", "/chat/threads/{channel}/{thread}", "/chat/threads/{channel}/{thread}/export", "/inbox"),
    *("/settings", "/library", "/library/extracts", "/library/uploads", "/library/graph", "/library/statistics"),
    *("/library/documents/{document}", "/library/documents/{document}/connections", "/library/find"),
    *("/library/pages/{page}", "/library/pages/{page}/picture", "/jobs", "/jobs/{job}"),
    *("/s/{token}", "/s/{token}/{number}", "/s/{token}/{number}/picture", "/s/{token}/{number}/thumbnail"),
)


class Reader:
    """Requests of the owner to a service at `url`."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(
            base_url=url, cookies=cookies_of(url), headers=SAME_SITE, timeout=120, follow_redirects=True
        )

    def close(self) -> None:
        self._client.close()

    def get(self, address: str) -> httpx.Response:
        return self._client.get(address)

    def post(self, address: str, **options: object) -> httpx.Response:
        return self._client.post(address, **options).raise_for_status()  # type: ignore[arg-type]

    def pictures(self, pages: Sequence[str]) -> list[int]:
        """The status of each page's picture."""
        return [self.get(f"/library/pages/{quote(page, safe='')}/picture").status_code for page in pages]

    def read_all(self, ids: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """The replies by address; `ids` has the values of each name in braces."""
        return {address: self.get(address).text for address in addresses(ids)}


def addresses(ids: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for template in TEMPLATES:
        names = re.findall(r"{(\w+)}", template)
        for values in product(*(ids[name] for name in names)):
            filled = template
            for name, value in zip(names, values, strict=True):
                filled = filled.replace(f"{{{name}}}", quote(value, safe=""))
            yield from (f"{filled}?{query}".rstrip("?") for query in QUERIES.get(template, ("",)))
