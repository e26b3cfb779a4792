"""Requests to other people's servers: their bounds, their manners, and where they never go."""

import asyncio
import gzip
from dataclasses import replace

import httpx
import pytest
from aiohttp import web as server

from core.domain.sources import WebBounds
from core.errors import SourceUnavailable
from storage.sources.web import Web
from tests.integration.sources.site import Page, Site, endless

HERE = WebBounds(allow_private=True, pause_seconds=0)
OUTSIDE = replace(HERE, allow_private=False)


def to_loopback(*names: str) -> "Resolver":
    return Resolver(dict.fromkeys(names, "127.0.0.1"))


class Resolver:
    """Looks names up in a table; what is not in it is an address itself."""

    def __init__(self, table: dict[str, str]) -> None:
        self.table = table

    async def __call__(self, host: str, port: int) -> list[str]:
        return [self.table.get(host, host)]


def open_to_loopback(*names: str) -> Web:
    """A client for which 127.0.0.1 is the internet, under these names, and everything else the own network."""
    return Web(OUTSIDE, allowed=lambda address: address == "127.0.0.1", resolve=to_loopback(*names))


def at(site: Site, name: str, path: str) -> str:
    return site.url.replace("127.0.0.1", name) + path


async def test_redirects_are_followed_to_their_end(site: Site) -> None:
    site.pages = {"/a": Page(status=302, headers={"Location": "/b"}), "/b": Page("there")}
    async with Web(HERE) as web:
        reply = await web.get(f"{site.url}/a")

    assert (reply.url, reply.status, reply.content) == (f"{site.url}/b", 200, b"there")


async def test_redirects_that_never_end_do(site: Site) -> None:
    site.pages = {"/a": Page(status=302, headers={"Location": "/a"})}
    async with Web(HERE) as web:
        with pytest.raises(SourceUnavailable, match="on and on"):
            await web.get(f"{site.url}/a")


@pytest.mark.parametrize(
    "target",
    ["http://10.0.0.7/", "http://169.254.169.254/latest/meta-data", "http://[::1]:80/", "http://inner.example/"],
)
async def test_a_redirect_into_the_own_network_is_not_followed(site: Site, target: str) -> None:
    site.pages = {"/a": Page(status=302, headers={"Location": target})}
    web_table = Resolver({"public.example": "127.0.0.1", "inner.example": "192.168.0.4"})
    web = Web(OUTSIDE, allowed=lambda address: address == "127.0.0.1", resolve=web_table)
    async with web:
        with pytest.raises(SourceUnavailable, match="own network"):
            await web.get(at(site, "public.example", "/a"))
    assert site.asked == ["/a"]


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://files.example/a"])
async def test_a_redirect_to_no_web_address_is_not_followed(site: Site, target: str) -> None:
    site.pages = {"/a": Page(status=302, headers={"Location": target})}
    async with Web(HERE) as web:
        with pytest.raises(SourceUnavailable, match="no address of the web"):
            await web.get(f"{site.url}/a")


async def test_this_machine_is_not_read_unless_that_is_configured(site: Site) -> None:
    async with Web(OUTSIDE) as web:
        with pytest.raises(SourceUnavailable, match="allow_private"):
            await web.get(f"{site.url}/a")
    assert site.asked == []


async def test_a_host_is_asked_under_its_own_name(site: Site) -> None:
    site.pages = {"/a": Page("text")}
    async with open_to_loopback("public.example") as web:
        await web.get(at(site, "public.example", "/a"))

    assert site.heads[0]["Host"].startswith("public.example:")


async def test_a_body_without_end_is_cut_off(site: Site) -> None:
    site.on("/a", endless)
    async with Web(replace(HERE, max_page_bytes=200_000)) as web:
        with pytest.raises(SourceUnavailable, match="larger than"):
            await web.get(f"{site.url}/a")


async def test_a_small_body_that_unpacks_into_a_huge_one_is_cut_off(site: Site) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    site.pages = {"/a": Page(bomb, headers={"Content-Encoding": "gzip"})}
    async with Web(replace(HERE, max_page_bytes=1_000_000)) as web:
        with pytest.raises(SourceUnavailable, match="larger than"):
            await web.get(f"{site.url}/a")


async def test_a_busy_server_is_asked_again_when_it_says(site: Site) -> None:
    async def busy_at_first(request: server.Request) -> server.StreamResponse:
        if len(site.asked) == 1:
            return server.Response(status=429, headers={"Retry-After": "0"})
        return server.Response(text="now")

    site.on("/a", busy_at_first)
    async with Web(HERE) as web:
        assert (await web.get(f"{site.url}/a")).content == b"now"
    assert len(site.asked) == 2


async def test_a_server_that_is_busy_for_long_is_left_for_the_next_sync(site: Site) -> None:
    site.pages = {"/a": Page(status=429, headers={"Retry-After": "3600"})}
    async with Web(HERE) as web:
        with pytest.raises(SourceUnavailable, match="429") as caught:
            await web.get(f"{site.url}/a")

    assert caught.value.retry_after_seconds == 3600
    assert len(site.asked) == 1


async def test_all_requests_together_have_a_time(site: Site) -> None:
    site.on("/a", endless)
    bounds = replace(HERE, max_seconds=0.3, max_page_bytes=10**12)
    async with Web(bounds) as web:
        with pytest.raises(SourceUnavailable, match="max_seconds"):
            await web.get(f"{site.url}/a")


async def test_secrets_go_to_their_own_origin_alone(site: Site) -> None:
    site.pages = {"/a": Page(status=302, headers={"Location": at(site, "localhost", "/b")}), "/b": Page("there")}
    async with Web(HERE, headers={"Authorization": "Bearer t0ken"}, secret_origin=site.url) as web:
        await web.get(f"{site.url}/a")

    assert ["Authorization" in head for head in site.heads] == [True, False]


@pytest.mark.parametrize(
    ("robots", "allowed"),
    [
        (Page(status=404), True),
        (Page("User-agent: *\nDisallow: /private", media_type="text/plain"), False),
        (Page("User-agent: *\nDisallow: /\n\nUser-agent: Footnote\nAllow: /", media_type="text/plain"), True),
        (Page("User-agent: *\nDisallow: /*.html$", media_type="text/plain"), False),
        (Page(b"\xff\xfe\x00 nothing of sense"), True),
    ],
)
async def test_robots_are_told_what_they_may_read(site: Site, robots: Page, allowed: bool) -> None:
    site.pages = {"/robots.txt": robots}
    async with Web(HERE) as web:
        assert await web.may_read(f"{site.url}/private/a.html") is allowed
        assert await web.may_read(f"{site.url}/private/a.html") is allowed
    assert site.asked == ["/robots.txt"]


async def test_a_host_that_cannot_say_what_robots_may_read_is_not_read(site: Site) -> None:
    site.pages = {"/robots.txt": Page(status=500)}
    async with Web(HERE) as web:
        with pytest.raises(SourceUnavailable, match=r"robots\.txt answered 500"):
            await web.may_read(f"{site.url}/a")


async def test_the_certificates_of_a_host_are_read_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[httpx.AsyncHTTPTransport] = []

    class Counted(httpx.AsyncHTTPTransport):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr(httpx, "AsyncHTTPTransport", Counted)
    site.pages = {"/a": Page("one"), "/b": Page("two")}
    async with Web(HERE) as web:
        made.clear()
        for path in ("/a", "/b", "/a"):
            await web.get(f"{site.url}{path}")

    assert len(made) == 1


async def test_a_page_that_drips_on_and_on_is_left_and_the_others_are_read(site: Site) -> None:
    async def drip(request: server.Request) -> server.StreamResponse:
        response = server.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"drop ")
            await asyncio.sleep(0.02)

    site.pages = {"/b": Page(text="All of it.")}
    site.on("/a", drip)
    async with Web(replace(HERE, timeout_seconds=0.5, max_seconds=60)) as web:
        with pytest.raises(SourceUnavailable, match=r"/a did not end in 2 s"):
            await web.get(f"{site.url}/a")
        assert (await web.get(f"{site.url}/b")).content == b"All of it."
