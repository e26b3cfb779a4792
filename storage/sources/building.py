"""Which fetcher brings a source: one visible table. A new kind is one file beside this one and one line here."""

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
    """The fetcher of a source that is not a folder of this machine. `token` is its secret, where it has one."""
    match spec.origin:
        case GitOrigin() as origin:
            from storage.sources.git import GitFetcher

            return GitFetcher(origin, token)
        case UrlListOrigin() as origin:
            from storage.sources.url_list import UrlListFetcher

            return UrlListFetcher(origin)
        case SitemapOrigin() as origin:
            from storage.sources.sitemap import SitemapFetcher

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
