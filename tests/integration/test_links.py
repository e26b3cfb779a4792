"""Links that people add, from a website on this machine: what is fetched, and what is refused."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.errors import SourceUnavailable
from core.ports.documents import WebFile
from storage.sources.web_pages import fetch_link

PAGE = "<title>Ferries</title><h1>Ferries</h1><p>At noon.</p>"
MOST_BYTES = 10_000


@pytest.fixture
async def site() -> AsyncIterator[str]:
    async def page(request: web.Request) -> web.Response:
        return web.Response(text=PAGE, content_type="text/html")

    async def robots(request: web.Request) -> web.Response:
        return web.Response(text="User-agent: *\nDisallow: /hidden")

    async def moved(request: web.Request) -> web.Response:
        raise web.HTTPFound("/hidden")

    async def film(request: web.Request) -> web.Response:
        return web.Response(body=b"x", content_type="video/mp4")

    async def large(request: web.Request) -> web.Response:
        return web.Response(text="x" * (MOST_BYTES + 1))

    app = web.Application()
    for path, handler in {
        "/robots.txt": robots,
        "/ferries": page,
        "/hidden": page,
        "/moved": moved,
        "/film": film,
        "/large.txt": large,
    }.items():
        app.router.add_get(path, handler)
    async with TestServer(app) as server:
        yield str(server.make_url("/")).rstrip("/")


async def fetch(url: str) -> WebFile:
    return await fetch_link(url, MOST_BYTES, allowed=lambda address: True)


async def test_a_page_gets_a_readable_name_with_its_kind(site: str) -> None:
    found = await fetch(f"{site}/ferries")
    assert found.content == PAGE.encode()
    assert found.name.startswith("127.0.0.1")
    assert "/ferries" in found.name
    assert found.name.endswith(".html")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/hidden", "forbids reading it. Save the page, and add the file"),
        ("/moved", "which robots.txt forbids reading"),
        ("/gone", "the server answered 404. Check the address"),
        ("/film", "video/mp4 can't be read. Save it in another format, and add the file"),
        ("/large.txt", "is larger than"),
    ],
)
async def test_a_refusal_says_why(site: str, path: str, reason: str) -> None:
    with pytest.raises(SourceUnavailable, match=reason):
        await fetch(f"{site}{path}")


async def test_addresses_of_the_own_network_are_not_read(site: str) -> None:
    sentence = "is an address of your own network, which is not read. Save the page, and add the file"
    with pytest.raises(SourceUnavailable, match=f"{sentence}$"):
        await fetch_link(f"{site}/ferries", MOST_BYTES)
