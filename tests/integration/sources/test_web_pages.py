"""URL lists and sitemaps: pages come in once, again when they change, and go when they are gone."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.sources import SitemapOrigin, UrlListOrigin, WebBounds
from core.errors import SourceUnavailable
from core.ports.documents import Fetched
from storage.sources.web_pages import SitemapFetcher, UrlListFetcher
from tests.integration.sources.site import Page, Site

BOUNDS = WebBounds(allow_private=True, pause_seconds=0)


def told(done: int, total: int | None, name: str) -> None:
    """Progress that nobody looks at."""


def texts(fetched: Fetched) -> dict[str, str]:
    """Link -> text."""
    return {link: (fetched.root / path).read_text() for path, link in fetched.links.items()}


async def fetch_list(site: Site, mirror: Path, *paths: str, bounds: WebBounds = BOUNDS, force: bool = False) -> Fetched:
    origin = UrlListOrigin(urls=tuple(site.url + path for path in paths), bounds=bounds)
    return await UrlListFetcher(origin).fetch(mirror, told, force=force)


async def fetch_map(site: Site, mirror: Path, *, bounds: WebBounds = BOUNDS) -> Fetched:
    origin = SitemapOrigin(urls=(f"{site.url}/sitemap.xml",), bounds=bounds)
    return await SitemapFetcher(origin).fetch(mirror, told)


def sitemap(site: Site, pages: dict[str, str]) -> Page:
    entries = [
        f"<url><loc>{path if '://' in path else site.url + path}</loc>{date and f'<lastmod>{date}</lastmod>'}</url>"
        for path, date in pages.items()
    ]
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return Page(f'<?xml version="1.0"?><urlset xmlns="{space}">{"".join(entries)}</urlset>', media_type="text/xml")


async def test_pages_come_with_their_addresses_and_unchanged_ones_not_again(site: Site, tmp_path: Path) -> None:
    site.pages = {"/a": Page("<p>One.</p>", etag='"1"'), "/b.md": Page("# Two", media_type="text/markdown", etag='"1"')}
    first = await fetch_list(site, tmp_path, "/a", "/b.md")
    assert texts(first) == {f"{site.url}/a": "<p>One.</p>", f"{site.url}/b.md": "# Two"}
    assert sorted(Path(path).suffix for path in first.links) == [".html", ".md"]

    site.pages["/b.md"] = Page("# Other", media_type="text/markdown", etag='"2"')
    second = await fetch_list(site, tmp_path, "/a", "/b.md")

    assert (second.changed, second.removed) == (1, 0)
    assert texts(second)[f"{site.url}/b.md"] == "# Other"
    assert [head.get("If-None-Match") for head in site.heads[-2:]] == ['"1"', '"1"']


async def test_pages_that_are_gone_or_no_longer_listed_go(site: Site, tmp_path: Path) -> None:
    site.pages = {path: Page(path) for path in ("/a", "/b", "/c")}
    await fetch_list(site, tmp_path, "/a", "/b", "/c")
    site.pages["/b"] = Page(status=410)

    done = await fetch_list(site, tmp_path, "/a", "/b")

    assert list(texts(done)) == [f"{site.url}/a"]
    assert done.removed == 2
    assert any("answered 410" in warning for warning in done.warnings)


async def test_pages_that_cannot_be_had_for_now_stay_with_a_warning(site: Site, tmp_path: Path) -> None:
    site.pages = {"/a": Page("One."), "/b": Page("Two.")}
    await fetch_list(site, tmp_path, "/a", "/b")
    site.pages["/b"] = Page(status=500)

    done = await fetch_list(site, tmp_path, "/a", "/b")
    assert texts(done)[f"{site.url}/b"] == "Two."
    assert [warning for warning in done.warnings if "/b answered 500" in warning]


async def test_a_site_that_is_down_is_a_failure_and_loses_nothing(site: Site, tmp_path: Path) -> None:
    site.pages = {"/a": Page("One.")}
    done = await fetch_list(site, tmp_path, "/a")
    site.pages = {"/a": Page(status=500)}
    with pytest.raises(SourceUnavailable, match="Not one of 1 pages"):
        await fetch_list(site, tmp_path, "/a")

    assert texts(done) == {f"{site.url}/a": "One."}


async def test_what_robots_may_not_read_is_left_out_and_forgotten(site: Site, tmp_path: Path) -> None:
    site.pages = {
        "/a": Page("One."),
        "/secret": Page("Two."),
        "/way": Page(status=301, headers={"Location": "/secret"}),
    }
    await fetch_list(site, tmp_path, "/a", "/secret", "/way")
    site.pages["/robots.txt"] = Page("User-agent: *\nDisallow: /secret", media_type="text/plain")
    done = await fetch_list(site, tmp_path, "/a", "/secret", "/way")

    assert list(texts(done)) == [f"{site.url}/a"]
    assert sum("robots.txt" in warning for warning in done.warnings) == 2
    assert "/secret" not in site.asked[-3:-1]


async def test_what_nothing_reads_and_what_is_too_many_is_told(site: Site, tmp_path: Path) -> None:
    site.pages = {"/a": Page("One."), "/b": Page("film", media_type="video/mp4"), "/c": Page("Three.")}
    done = await fetch_list(site, tmp_path, "/a", "/b", "/c", bounds=replace(BOUNDS, max_pages=2))

    assert list(texts(done)) == [f"{site.url}/a"]
    assert any("video/mp4" in warning for warning in done.warnings)
    assert any("first 2 are read" in warning for warning in done.warnings)


async def test_a_list_may_stand_in_a_file(site: Site, tmp_path: Path) -> None:
    site.pages = {"/a": Page("One.")}
    listed = tmp_path / "list.txt"
    listed.write_text(f"\ufeff# my pages\n\n  {site.url}/a  \nfile:///etc/passwd\n")
    origin = UrlListOrigin(file=listed, bounds=BOUNDS)
    done = await UrlListFetcher(origin).fetch(tmp_path / "m", told)

    assert list(texts(done)) == [f"{site.url}/a"]
    assert "'file:///etc/passwd' is no address of the web" in done.warnings
    with pytest.raises(SourceUnavailable, match="can't be read"):
        await UrlListFetcher(replace(origin, file=tmp_path / "none")).fetch(tmp_path / "m", told)


async def test_a_lost_or_damaged_mirror_is_made_anew(site: Site, tmp_path: Path) -> None:
    site.pages = {"/a": Page("One.", etag='"1"')}
    done = await fetch_list(site, tmp_path, "/a")
    (tmp_path / "memory.json").write_text("{not json")
    assert texts(await fetch_list(site, tmp_path, "/a")) == {f"{site.url}/a": "One."}
    for path in done.links:
        (done.root / path).unlink()

    assert texts(await fetch_list(site, tmp_path, "/a")) == {f"{site.url}/a": "One."}
    await fetch_list(site, tmp_path, "/a", force=True)
    assert "If-None-Match" not in site.heads[-1]


async def test_a_sitemap_names_pages_and_their_dates_spare_requests(site: Site, tmp_path: Path) -> None:
    site.pages = {"/a": Page("One."), "/b": Page("Two."), "/c": Page("Three.")}
    site.pages["/sitemap.xml"] = sitemap(site, {"/a": "2026-01-01", "/b": "2026-01-01", "/c": ""})
    await fetch_map(site, tmp_path)
    site.asked.clear()
    site.pages["/b"] = Page("Other.")
    site.pages["/sitemap.xml"] = sitemap(site, {"/a": "2026-01-01", "/b": "2026-02-02"})

    done = await fetch_map(site, tmp_path)
    assert texts(done) == {f"{site.url}/a": "One.", f"{site.url}/b": "Other."}
    assert site.without_robots() == ["/sitemap.xml", "/b"]


async def test_sitemaps_of_sitemaps_may_be_compressed_and_stay_on_their_host(site: Site, tmp_path: Path) -> None:
    inner = sitemap(site, {"/a": "", "https://elsewhere.example/b": ""})
    assert isinstance(inner.text, str)
    names = (f"{site.url}/inner.xml.gz", f"{site.url}/sitemap.xml", "https://elsewhere.example/s.xml")
    listed = "".join(f"<sitemap><loc>{name}</loc></sitemap>" for name in names)
    site.pages = {
        "/sitemap.xml": Page(f"<sitemapindex>{listed}</sitemapindex>", media_type="text/xml"),
        "/inner.xml.gz": Page(gzip.compress(inner.text.encode()), media_type="application/x-gzip"),
        "/a": Page("One."),
    }
    done = await fetch_map(site, tmp_path)

    assert list(texts(done)) == [f"{site.url}/a"]
    assert any(warning.startswith("2 addresses of other hosts") for warning in done.warnings)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (Page(status=404), "answered 404"),
        (Page("<html><body>Sorry</body></html>"), "no sitemap"),
        (Page("not xml at all"), "no XML"),
        (Page('<!DOCTYPE a [<!ENTITY b "c">]><urlset>&b;</urlset>'), "no XML"),
        (Page("<urlset></urlset>"), "names no page"),
        (Page(gzip.compress(b"<urlset>")[:12]), "no XML"),
    ],
)
async def test_a_sitemap_that_cannot_be_read_is_a_failure_and_loses_nothing(
    site: Site, tmp_path: Path, page: Page, reason: str
) -> None:
    site.pages = {"/a": Page("One."), "/sitemap.xml": sitemap(site, {"/a": ""})}
    done = await fetch_map(site, tmp_path)
    site.pages["/sitemap.xml"] = page
    with pytest.raises(SourceUnavailable, match=reason):
        await fetch_map(site, tmp_path)

    assert texts(done) == {f"{site.url}/a": "One."}
