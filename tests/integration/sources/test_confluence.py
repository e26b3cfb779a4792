"""Spaces of Confluence: pages by their versions, listed whole each time."""

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from core.domain.sources import ConfluenceOrigin, WebBounds
from core.errors import SourceUnavailable
from core.ports.documents import Fetched
from storage.sources.confluence import ConfluenceFetcher
from tests.integration.sources.site import Page, Site

BOUNDS = WebBounds(allow_private=True, pause_seconds=0)


class ConfluenceServer:
    """Holds the pages of one space, MILL, and lists two at a time."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.pages: dict[str, dict[str, Any]] = {}
        self.unlisted: set[str] = set()
        site.on("/wiki/rest/api/content", self._list)

    def set_page(self, page_id: str, title: str, storage: str, version: int = 1, above: Iterable[str] = ()) -> None:
        self.pages[page_id] = {
            "id": page_id,
            "title": title,
            "version": {"number": version},
            "ancestors": [{"id": id, "title": self.pages.get(id, {}).get("title", id)} for id in above],
            "restrictions": _restrictions(),
            "_links": {"webui": f"/spaces/MILL/pages/{page_id}"},
        }

        async def body(request: web.Request) -> web.Response:
            return web.json_response({**self.pages[page_id], "body": {"storage": {"value": storage}}})

        self.site.on(f"/wiki/rest/api/content/{page_id}", body)

    def restrict(self, page_id: str, users: Iterable[str] = (), groups: Iterable[str] = ()) -> None:
        """Let only these view a page, and those below it."""
        self.pages[page_id]["restrictions"] = _restrictions(users, groups)

    async def _list(self, request: web.Request) -> web.Response:
        if request.query["spaceKey"] != "MILL":
            return web.Response(status=404)
        start = int(request.query["start"])
        pages = [page for id, page in self.pages.items() if id not in self.unlisted]
        found = pages[start : start + 2]
        links = {"next": "/rest/api/content?x"} if start + 2 < len(pages) else {}
        return web.json_response({"results": found, "_links": links})


def _restrictions(users: Iterable[str] = (), groups: Iterable[str] = ()) -> dict[str, Any]:
    """Return the part of a page that says who may view it, as Confluence writes it."""
    named = {
        "user": [{"type": "known", "username": name, "accountId": f"acc-{name}"} for name in users],
        "group": [{"type": "group", "name": name} for name in groups],
    }
    restrictions = {kind: {"results": found, "start": 0, "limit": 200} for kind, found in named.items()}
    return {"read": {"operation": "read", "restrictions": restrictions}}


@pytest.fixture
def confluence(site: Site) -> ConfluenceServer:
    server = ConfluenceServer(site)
    server.set_page("1", "Home", "<p>The mill.</p>")
    server.set_page("2", "Flood plan", "<p>Close the gate.</p>", above=["1"])
    server.set_page("3", "Flood plan", "<p>An older one.</p>", above=["1", "Archive: 2019/20"])
    return server


def told(done: int, total: int | None, name: str) -> None:
    """Progress that nobody looks at."""


async def fetch(
    site: Site, mirror: Path, *spaces: str, user: str | None = None, token: str | None = "t0ken"
) -> Fetched:
    origin = ConfluenceOrigin(url=f"{site.url}/wiki", spaces=spaces or ("MILL",), user=user, bounds=BOUNDS)
    return await ConfluenceFetcher(origin, token).fetch(mirror, told)


async def test_pages_come_in_their_tree_with_their_addresses(
    site: Site, confluence: ConfluenceServer, tmp_path: Path
) -> None:
    done = await fetch(site, tmp_path)

    assert done.links == {
        "MILL/Home-1.html": f"{site.url}/wiki/spaces/MILL/pages/1",
        "MILL/Home/Flood plan-2.html": f"{site.url}/wiki/spaces/MILL/pages/2",
        "MILL/Home/Archive- 2019-20/Flood plan-3.html": f"{site.url}/wiki/spaces/MILL/pages/3",
    }
    assert "Close the gate." in (done.root / "MILL/Home/Flood plan-2.html").read_text()
    assert site.heads[0]["Authorization"] == "Bearer t0ken"


async def test_a_user_and_an_api_token_sign_in_as_atlassian_wants(
    site: Site, confluence: ConfluenceServer, tmp_path: Path
) -> None:
    await fetch(site, tmp_path, user="ann@example.org")

    scheme, _, pair = site.heads[0]["Authorization"].partition(" ")
    assert (scheme, base64.b64decode(pair)) == ("Basic", b"ann@example.org:t0ken")


async def test_only_new_versions_are_asked_for_and_gone_pages_go(
    site: Site, confluence: ConfluenceServer, tmp_path: Path
) -> None:
    await fetch(site, tmp_path)
    confluence.set_page("2", "Flood plan", "<p>Open the gate.</p>", version=2, above=["1"])
    del confluence.pages["3"]
    site.asked.clear()
    done = await fetch(site, tmp_path)

    assert (done.changed, done.removed) == (1, 1)
    assert [path.split("?")[0] for path in site.asked][1:] == ["/wiki/rest/api/content/2"]
    assert not (done.root / "MILL/Home/Archive- 2019-20/Flood plan-3.html").exists()


async def test_a_page_that_fails_stays_with_a_warning(site: Site, confluence: ConfluenceServer, tmp_path: Path) -> None:
    await fetch(site, tmp_path)
    confluence.set_page("2", "Flood plan", "", version=2, above=["1"])
    site.pages["/wiki/rest/api/content/2"] = Page(status=500)
    done = await fetch(site, tmp_path)

    assert "Close the gate." in (done.root / "MILL/Home/Flood plan-2.html").read_text()
    assert "answered 500 for the page 'Flood plan'" in done.warnings[0]


@pytest.mark.parametrize(
    ("page", "token", "reason"),
    [
        (Page(status=401), "t0ken", "check the token"),
        (Page(status=401), None, "CONFLUENCE_TOKEN"),
        (Page(status=404), "t0ken", "may not see it"),
        (Page("<html>Sign in</html>"), "t0ken", "did not answer with JSON"),
        (Page('{"message": "hello"}'), "t0ken", "did not answer with JSON"),
        (Page("[]"), "t0ken", "did not answer with JSON"),
        (Page('{"results": [{"id": 1}]}'), "t0ken", "lists no pages"),
    ],
)
async def test_a_space_that_cannot_be_listed_loses_nothing(
    site: Site, confluence: ConfluenceServer, tmp_path: Path, page: Page, token: str | None, reason: str
) -> None:
    done = await fetch(site, tmp_path)
    site.pages["/wiki/rest/api/content"] = page
    with pytest.raises(SourceUnavailable, match=reason):
        await fetch(site, tmp_path, token=token)

    assert all((done.root / path).exists() for path in done.links)


async def test_one_space_that_is_not_there_fails_the_source(
    site: Site, confluence: ConfluenceServer, tmp_path: Path
) -> None:
    with pytest.raises(SourceUnavailable, match="space 'GONE'"):
        await fetch(site, tmp_path, "MILL", "GONE")
