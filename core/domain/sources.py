"""Configured sources: where their documents come from, how they are read, and the results of their syncs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field


class Reach(StrEnum):
    """The result of asking a source once, without reading it."""

    READY = "ready"
    UNREACHABLE = "unreachable"
    NOT_FOUND = "not_found"
    FORBIDDEN = "forbidden"  # with this token, or without one
    PRIVATE = "private"  # an address of the own network, which the source doesn't allow


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """`place` is the address that gave the result."""

    state: Reach
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderOrigin:
    """A folder of this machine, read in place."""

    path: Path
    kind: Literal["folder"] = "folder"

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesOrigin:
    """Single files of this machine, read in place."""

    paths: tuple[Path, ...]
    kind: Literal["files"] = "files"

    def __str__(self) -> str:
        return _first_of([str(path) for path in self.paths])


@dataclass(frozen=True, slots=True, kw_only=True)
class GitOrigin:
    """The files of one branch (or tag) of a git repository."""

    url: str
    branch: str | None = None  # None: the repository's own default
    folder: str = ""  # of the repository, "" for all of it
    allow_private: bool = False  # addresses of the own network, and of this machine
    kind: Literal["git"] = "git"

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True, slots=True, kw_only=True)
class WebBounds:
    """Limits of a source of the web."""

    max_pages: int = 1000
    max_page_bytes: int = 20 * 1024 * 1024
    max_seconds: float = 1800  # for all pages together
    timeout_seconds: float = 30  # without a byte
    pause_seconds: float = 0.2  # between two requests to the same host
    allow_private: bool = False  # addresses of the own network


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlListOrigin:
    """Web pages by address: named here, or in a text file, one a line."""

    urls: tuple[str, ...] = ()
    file: Path | None = None
    bounds: WebBounds = WebBounds()
    kind: Literal["url_list"] = "url_list"

    def __str__(self) -> str:
        return _first_of([*self.urls, *([str(self.file)] if self.file else [])])


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapOrigin:
    """The web pages that sitemaps name. Only addresses on the hosts of the sitemaps are read."""

    urls: tuple[str, ...]
    bounds: WebBounds = WebBounds()
    kind: Literal["sitemap"] = "sitemap"

    def __str__(self) -> str:
        return _first_of(list(self.urls))


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubOrigin:
    """A repository on GitHub: its files, its wiki, its issues."""

    repository: str  # owner/name
    parts: frozenset[str] = frozenset({"files", "wiki", "issues"})
    branch: str | None = None
    api_url: str = "https://api.github.com"
    web_url: str = "https://github.com"
    bounds: WebBounds = WebBounds()
    kind: Literal["github"] = "github"

    def __str__(self) -> str:
        return f"{self.web_url}/{self.repository}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfluenceOrigin:
    """The pages of spaces of a Confluence site, without their attachments."""

    url: str  # of the site, with /wiki for Atlassian's cloud
    spaces: tuple[str, ...]  # keys
    user: str | None = None  # the e-mail of an API token's owner; None: a bearer token
    bounds: WebBounds = WebBounds()
    kind: Literal["confluence"] = "confluence"

    def __str__(self) -> str:
        return f"{self.url} ({', '.join(self.spaces)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundryWorldOrigin:
    """The journals of a Foundry world's folder; its databases are only read."""

    path: Path
    kind: Literal["foundry_world"] = "foundry_world"

    def __str__(self) -> str:
        return str(self.path)


# Kinds that know who may read each of their documents; in others, a document states its own.
KNOW_READERS = frozenset({"confluence", "foundry_world"})

# `kind` tells them apart in JSON: several have the same fields.
Origin = Annotated[
    FolderOrigin
    | FilesOrigin
    | GitOrigin
    | UrlListOrigin
    | SitemapOrigin
    | GitHubOrigin
    | ConfluenceOrigin
    | FoundryWorldOrigin,
    Field(discriminator="kind"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Every:
    """Again and again, this long after the last time."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """At the times of a crontab line: minute, hour, day of month, month, day of week; in UTC."""

    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSpec:
    """A source as configured. Names are unique in a workspace."""

    name: str
    workspace: str
    origin: Origin
    include: tuple[str, ...] = ()  # globs over paths below the root; empty: all
    exclude: tuple[str, ...] = ()
    reader: str | None = None  # the kind that every file is read as; None: by suffix and content
    link_template: str | None = None
    schedule: Every | Cron | None = None  # None: only by `footnote sync`
    jitter_seconds: float = 0
    watch: bool = False  # folders: sync when a file changes
    enabled: bool = True
    readers: frozenset[str] | None = None  # None: as `footnote sources readers` set them
    reader_map: Mapping[str, frozenset[str]] = field(default_factory=dict)  # its own names of people -> who they are

    @property
    def kind(self) -> str:
        return self.origin.kind

    @property
    def label(self) -> str:
        """Its name and workspace, for messages."""
        return f"{self.name!r} of workspace {self.workspace!r}"


def _first_of(places: list[str]) -> str:
    return places[0] if len(places) == 1 else f"{places[0]} and {len(places) - 1} more" if places else ""


class SyncResult(StrEnum):
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncState:
    """The last sync of a source. A failed one leaves the documents as the last good one made them."""

    workspace: str
    source: str  # its name
    kind: str
    result: SyncResult
    started_at: datetime
    ended_at: datetime
    good_at: datetime | None = None  # end of the last good sync
    failing_since: datetime | None = None  # start of the first failed sync after it
    error: str | None = None  # why the last one failed, for people
    counts: Mapping[str, int] = field(default_factory=dict)  # added, updated, unchanged, removed, failed; of the last
    warnings: tuple[str, ...] = ()  # one sentence each, at most MOST_WARNINGS
    job_id: str | None = None


MOST_WARNINGS = 20  # kept of one sync: the rest is counted
FETCHED = "files"  # folder of the fetched files in the mirror of a source
