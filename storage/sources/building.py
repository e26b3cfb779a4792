"""The table of fetchers. A new kind of source is one file in this folder and one line here."""

import asyncio
from typing import Protocol, runtime_checkable

from core.domain.sources import (
    ConfluenceOrigin,
    FoundryWorldOrigin,
    GitHubOrigin,
    GitOrigin,
    Reach,
    Reached,
    SitemapOrigin,
    SourceSpec,
    UrlListOrigin,
)
from core.errors import SourceUnavailable, UnsupportedFeature
from core.ports.documents import SourceFetcher
from storage.sources.addresses import PrivateAddress

REACH_SECONDS = 12.0  # the person waits


@runtime_checkable
class Reachable(Protocol):
    """A fetcher that can be asked once before its source is configured."""

    async def reach(self) -> Reached:
        """Raises SourceUnavailable, PrivateAddress for an address that isn't allowed."""
        ...


def build_fetcher(spec: SourceSpec, token: str | None) -> SourceFetcher:
    """Return the fetcher of a source that is not a local folder; `token` is its secret, if any."""
    match spec.origin:
        case GitOrigin() as origin:
            from storage.sources.git import GitFetcher

            return GitFetcher(origin, token)
        case UrlListOrigin() as origin:
            from storage.sources.web_pages import UrlListFetcher

            return UrlListFetcher(origin)
        case SitemapOrigin() as origin:
            from storage.sources.web_pages import SitemapFetcher

            return SitemapFetcher(origin)
        case GitHubOrigin() as origin:
            from storage.sources.github import GitHubFetcher

            return GitHubFetcher(origin, token, spec.include, spec.exclude)
        case ConfluenceOrigin() as origin:
            from storage.sources.confluence import ConfluenceFetcher

            return ConfluenceFetcher(origin, token)
        case FoundryWorldOrigin() as origin:
            from storage.sources.foundry_world import FoundryWorldFetcher

            return FoundryWorldFetcher(origin)
    raise UnsupportedFeature(f"A source of kind {spec.kind!r} is read where it stands, not fetched")


async def reach_source(spec: SourceSpec, token: str | None) -> Reached:
    """Ask a source once, within REACH_SECONDS; a kind that has nothing to ask is ready."""
    place = str(spec.origin)
    fetcher = build_fetcher(spec, token)
    if not isinstance(fetcher, Reachable):
        return Reached(state=Reach.READY, place=place)
    try:
        async with asyncio.timeout(REACH_SECONDS):
            return await fetcher.reach()
    except PrivateAddress:
        return Reached(state=Reach.PRIVATE, place=place)
    except (SourceUnavailable, TimeoutError):
        return Reached(state=Reach.UNREACHABLE, place=place)
