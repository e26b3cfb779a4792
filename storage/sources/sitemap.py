"""The web pages that sitemaps name: sitemaps of pages and of sitemaps, plain or compressed."""

import asyncio
import zlib
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from core.domain.sources import SitemapOrigin
from core.errors import SourceUnavailable
from core.ports.documents import Fetched, FetchProgress
from storage.sources.mirror import Mirror
from storage.sources.web import Web
from storage.sources.web_pages import fetch_pages

SITEMAP_BYTES = 52_428_800  # the protocol's own bound, uncompressed
MOST_SITEMAPS = 200
_GZIP = 16 + zlib.MAX_WBITS


@dataclass(slots=True)
class Listed:
    """What sitemaps say: address -> date, in their order; "" where they give none."""

    pages: dict[str, str] = field(default_factory=dict)
    foreign: int = 0  # addresses of other hosts


class SitemapFetcher:
    """SourceFetcher of a SitemapOrigin."""

    def __init__(self, origin: SitemapOrigin, web: Web | None = None) -> None:
        self._origin = origin
        self._web = web

    async def fetch(self, mirror: Path, progress: FetchProgress, *, force: bool = False) -> Fetched:
        """Pages whose date in the sitemap is the one of the last fetch are not asked for.

        A sitemap that can't be read raises SourceUnavailable: its pages would look as if they were gone.
        """
        opened = await asyncio.to_thread(Mirror, mirror, force=force)
        most = self._origin.bounds.max_pages
        async with self._web or Web(self._origin.bounds) as web:
            listed = await self._read_sitemaps(web)
            if not listed.pages:
                raise SourceUnavailable(f"The sitemap {str(self._origin)!r} names no page of its host")
            urls = list(listed.pages)[:most]
            outcome = await fetch_pages(web, opened, urls, progress, listed.pages)
        warnings = list(outcome.warnings)
        if len(listed.pages) > most:
            warnings.insert(0, f"The sitemap names {len(listed.pages)} pages, the first {most} are read: set max_pages")
        if listed.foreign:
            warnings.insert(0, f"{listed.foreign} addresses of other hosts are left out: name them in a url_list")
        return opened.fetched(warnings)

    async def _read_sitemaps(self, web: Web) -> Listed:
        hosts = {urlsplit(url).netloc.lower() for url in self._origin.urls}
        listed, seen, waiting = Listed(), set[str](), deque(self._origin.urls)
        while waiting and len(seen) < MOST_SITEMAPS:
            url = waiting.popleft()
            if url in seen:
                continue
            seen.add(url)
            reply = await web.get(url, limit=SITEMAP_BYTES)
            if reply.status != 200:
                raise SourceUnavailable(f"The sitemap {url} answered {reply.status}: check the address")
            root = await asyncio.to_thread(_parse, url, reply.content)
            found = [(_text(entry, "loc"), _text(entry, "lastmod")) for entry in root]
            own = [(place, date) for place, date in found if urlsplit(place).netloc.lower() in hosts]
            listed.foreign += len(found) - len(own)
            if _name(root) == "sitemapindex":
                waiting.extend(place for place, _ in own)
            else:
                listed.pages.update(own)
        return listed


def _parse(url: str, content: bytes) -> Element:
    try:
        root: Element = fromstring(_unzipped(content), forbid_dtd=True)
    except (ParseError, DefusedXmlException, zlib.error, ValueError) as error:
        raise SourceUnavailable(f"The sitemap {url} is no XML that can be read: {error}") from error
    if _name(root) not in ("urlset", "sitemapindex"):
        raise SourceUnavailable(f"{url} is no sitemap: its outermost element is <{_name(root)}>")
    return root


def _unzipped(content: bytes) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    unpacking = zlib.decompressobj(_GZIP)
    plain = unpacking.decompress(content, SITEMAP_BYTES)
    if unpacking.unconsumed_tail:
        raise ValueError("it is larger than sitemaps may be")
    return plain


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _text(entry: Element, name: str) -> str:
    return next(((child.text or "").strip() for child in entry if _name(child) == name), "")
