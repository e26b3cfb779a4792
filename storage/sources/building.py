"""The table of fetchers. A new kind of source is one file in this folder and one line here."""

from core.domain.sources import (
    ConfluenceOrigin,
    FoundryWorldOrigin,
    GitHubOrigin,
    GitOrigin,
    SitemapOrigin,
    SourceSpec,
    UrlListOrigin,
)
from core.errors import UnsupportedFeature
from core.ports.documents import SourceFetcher


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
