"""Web pages by address: those of the configuration, and those of a text file, one a line."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

from core.domain.sources import UrlListOrigin
from core.errors import SourceUnavailable
from core.ports.documents import Fetched, FetchProgress
from storage.sources.mirror import Mirror
from storage.sources.web import Web
from storage.sources.web_pages import fetch_pages

FILE_BYTES = 4 * 1024 * 1024  # of a list: some 50,000 addresses


class UrlListFetcher:
    """SourceFetcher of a UrlListOrigin."""

    def __init__(self, origin: UrlListOrigin, web: Web | None = None) -> None:
        self._origin = origin
        self._web = web

    async def fetch(self, mirror: Path, progress: FetchProgress, *, force: bool = False) -> Fetched:
        """One request a page at most; robots.txt is respected. Addresses beyond `max_pages` are left out."""
        urls, warnings = await asyncio.to_thread(self._urls)
        opened = await asyncio.to_thread(Mirror, mirror, force=force)
        async with self._web or Web(self._origin.bounds) as web:
            outcome = await fetch_pages(web, opened, urls, progress)
        return opened.fetched((*warnings, *outcome.warnings))

    def _urls(self) -> tuple[list[str], list[str]]:
        """The addresses, at most `max_pages`, and what is wrong with the list."""
        lines = [*self._origin.urls, *(_read_lines(self._origin.file) if self._origin.file else [])]
        good = [line for line in lines if _is_address(line)]
        warnings = [f"{line[:100]!r} is no address of the web" for line in lines if not _is_address(line)]
        most = self._origin.bounds.max_pages
        if len(good) > most:
            warnings.append(f"{len(good)} addresses are listed, the first {most} are read: set max_pages higher")
        return good[:most], warnings


def _read_lines(file: Path) -> list[str]:
    """Without empty lines, and without those that begin with #."""
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
