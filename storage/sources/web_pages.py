"""Web pages as files, from a list of addresses or from sitemaps."""

import asyncio
import hashlib
import zlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urldefrag, urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from core.domain.sources import Reach, Reached, SitemapOrigin, UrlListOrigin, WebBounds
from core.errors import SourceUnavailable
from core.ports.documents import Fetched, FetchProgress, WebFile
from storage.sources.addresses import Resolve, is_public, resolve
from storage.sources.mirror import Kept, Mirror, safe_part
from storage.sources.web import Web, reach_of

LINK_SECONDS = 120.0  # for one page, while people wait
SAVE_PAGE = "Save the page, and add the file"  # for people who add a link
# Media type -> the suffix that selects a reader.
SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "text/x-rst": ".rst",
    "application/pdf": ".pdf",
    "application/epub+zip": ".epub",
    "application/rtf": ".rtf",
    "application/json": ".json",
    "application/yaml": ".yaml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.oasis.opendocument.text": ".odt",
}
# Unspecific media types: the suffix of the address decides.
_VAGUE = frozenset({"", "application/octet-stream", "binary/octet-stream", "text/plain"})


async def fetch_pages(
    web: Web, mirror: Mirror, urls: Sequence[str], progress: FetchProgress, revisions: Mapping[str, str] | None = None
) -> list[str]:
    """Update the mirror from `urls`; `revisions` (a sitemap's dates) save requests for unchanged pages.

    Deleted pages (404, 410) and pages that robots.txt forbids are removed; temporarily unavailable ones stay. Returns a
    sentence for each address that failed. Raises as Mirror.fill does.
    """
    known, warnings = mirror.by_key(), list[str]()

    async def fetch(url: str, revision: str) -> str | None:
        path = known.get(url)
        kept = mirror.memory.files[path] if path else Kept()
        if not await web.may_read(url):
            warnings.append(f"{url} is left out: the robots.txt of its host forbids reading it")
            return None
        if path and revision and kept.revision == revision:
            return path
        reply = await web.get(url, etag=kept.etag, modified=kept.modified)
        if reply.url != url and not await web.may_read(reply.url):
            warnings.append(f"{url} is left out: it leads to {reply.url}, which robots.txt forbids reading")
            return None
        if reply.status in (404, 410):
            warnings.append(f"{url} answered {reply.status}: it is gone, take it out of the source")
            return None
        if reply.status == 304 and path:
            return path
        if reply.status != 200:
            raise SourceUnavailable(f"{url} answered {reply.status}")
        target = to_path(url, reply.media_type)
        if target is None:
            warnings.append(f"{url} is left out: nothing reads {reply.media_type!r}")
            return None
        etag, modified = reply.headers.get("etag", ""), reply.headers.get("last-modified", "")
        mirror.write(target, reply.content, Kept(key=url, link=url, revision=revision, etag=etag, modified=modified))
        return target

    wanted = {url: (revisions or {}).get(url, "") for url in (urldefrag(address).url for address in urls)}
    await mirror.fill(wanted, fetch, known, progress, warnings)
    return warnings


def to_path(url: str, media_type: str) -> str | None:
    """Return a page's path in the mirror: host, then the parts of its path; None if no reader supports it.

    Different addresses have different paths: a hash represents parts that a path can't hold.
    """
    parts = urlsplit(url)
    names = [safe_part(unquote(part)) for part in parts.path.split("/") if part.strip(". ")] or ["index"]
    suffix = PurePosixPath(names[-1]).suffix.lower()
    wanted = suffix if media_type in _VAGUE and suffix else SUFFIXES.get(media_type, "")
    if not wanted:
        return None
    stem = names[-1].removesuffix(PurePosixPath(names[-1]).suffix) if suffix == wanted else names[-1]
    plain = f"/{'/'.join([*names[:-1], stem])}{wanted if suffix == wanted else ''}" == parts.path and not parts.query
    if not plain or parts.path != parts.path.lower() or parts.scheme != "https":
        stem = f"{stem}-{hashlib.sha256(url.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return "/".join([safe_part(parts.netloc), *names[:-1], f"{stem}{wanted}"])


async def fetch_link(
    url: str, most_bytes: int, *, allowed: Callable[[str], bool] = is_public, resolve: Resolve = resolve
) -> WebFile:
    """Fetch one page (FetchLink): only from a public address, where robots.txt allows it, within LINK_SECONDS."""
    bounds = WebBounds(max_page_bytes=most_bytes, max_seconds=LINK_SECONDS)
    async with Web(bounds, allowed=allowed, advice=SAVE_PAGE, resolve=resolve) as web:
        if not await web.may_read(url):
            raise SourceUnavailable(f"robots.txt of {urlsplit(url).netloc} forbids reading it. {SAVE_PAGE}")
        reply = await web.get(url)
        if reply.url != url and not await web.may_read(reply.url):
            raise SourceUnavailable(f"it leads to {reply.url}, which robots.txt forbids reading")
    if reply.status != 200:
        raise SourceUnavailable(f"the server answered {reply.status}. Check the address")
    path = to_path(url, reply.media_type)
    if path is None:
        raise SourceUnavailable(
            f"{reply.media_type or 'what it sends'} can't be read. Save it in another format, and add the file"
        )
    return WebFile(name=path, content=reply.content)


MOST_REACHED = 5  # pages, while a person waits
FILE_BYTES = 4 * 1024 * 1024  # of a list: some 50,000 addresses


class UrlListFetcher:
    """SourceFetcher of a UrlListOrigin."""

    def __init__(self, origin: UrlListOrigin) -> None:
        self._origin = origin

    async def fetch(self, mirror: Path, progress: FetchProgress, *, force: bool = False) -> Fetched:
        """One request a page at most; robots.txt is respected. Addresses beyond `max_pages` are left out."""
        urls, warnings = await asyncio.to_thread(self._urls)
        opened = await asyncio.to_thread(Mirror, mirror, force=force)
        async with Web(self._origin.bounds) as web:
            warnings += await fetch_pages(web, opened, urls, progress)
        return opened.fetched(warnings)

    async def reach(self) -> Reached:
        """Ask for the first pages. Raises SourceUnavailable."""
        urls = self._origin.urls[:MOST_REACHED]
        async with Web(self._origin.bounds) as web:
            for url in urls:
                may_read = await web.may_read(url)
                state = reach_of(await web.get(url)) if may_read else Reach.FORBIDDEN
                if state is not Reach.READY:
                    return Reached(state=state, place=url)
        return Reached(state=Reach.READY, place=str(self._origin))

    def _urls(self) -> tuple[list[str], list[str]]:
        """Return the addresses, at most `max_pages`, and the problems of the list."""
        lines = [*self._origin.urls, *(_read_lines(self._origin.file) if self._origin.file else [])]
        good = [line for line in lines if _is_address(line)]
        warnings = [f"{line[:100]!r} is no address of the web" for line in lines if not _is_address(line)]
        most = self._origin.bounds.max_pages
        if len(good) > most:
            warnings.append(f"{len(good)} addresses are listed, the first {most} are read: set max_pages higher")
        return good[:most], warnings


def _read_lines(file: Path) -> list[str]:
    """Return the lines of a file, without empty lines and comments (#)."""
    try:
        with file.open("rb") as opened:
            text = opened.read(FILE_BYTES).decode("utf-8-sig", "replace")
    except OSError as error:
        raise SourceUnavailable(f"The list {str(file)!r} can't be read ({error.strerror}): check `file`") from error
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _is_address(line: str) -> bool:
    try:
        parts = urlsplit(line)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.password is None
    except ValueError:
        return False


SITEMAP_BYTES = 52_428_800  # the protocol's own bound, uncompressed
MOST_SITEMAPS = 200
_GZIP = 16 + zlib.MAX_WBITS


class SitemapFetcher:
    """SourceFetcher of a SitemapOrigin."""

    def __init__(self, origin: SitemapOrigin) -> None:
        self._origin = origin

    async def fetch(self, mirror: Path, progress: FetchProgress, *, force: bool = False) -> Fetched:
        """Pages whose date in the sitemap is the one of the last fetch are not asked for.

        A sitemap that can't be read raises SourceUnavailable: its pages would look as if they were gone.
        """
        opened = await asyncio.to_thread(Mirror, mirror, force=force)
        most = self._origin.bounds.max_pages
        async with Web(self._origin.bounds) as web:
            listed, foreign = await self._read_sitemaps(web)
            if not listed:
                raise SourceUnavailable(f"The sitemap {str(self._origin)!r} names no page of its host")
            urls = list(listed)[:most]
            warnings = await fetch_pages(web, opened, urls, progress, listed)
        if len(listed) > most:
            warnings.insert(0, f"The sitemap names {len(listed)} pages, the first {most} are read: set max_pages")
        if foreign:
            warnings.insert(0, f"{foreign} addresses of other hosts are left out: name them in a url_list")
        return opened.fetched(warnings)

    async def _read_sitemaps(self, web: Web) -> tuple[dict[str, str], int]:
        """Return the pages' dates ("" without one) by address, in order, and the number of other hosts' addresses."""
        hosts = {urlsplit(url).netloc.lower() for url in self._origin.urls}
        pages, foreign, seen, waiting = dict[str, str](), 0, set[str](), deque(self._origin.urls)
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
            foreign += len(found) - len(own)
            if _name(root) == "sitemapindex":
                waiting.extend(place for place, _ in own)
            else:
                pages.update(own)
        return pages, foreign


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
