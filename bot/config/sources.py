"""`[[sources]]` of the configuration: one model for each kind, and its conversion to a SourceSpec.

Tokens come from files (`token_file`) or from the environment (`token_variable`).
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, model_validator

from bot.config.sections import Count, Seconds, Section
from core.domain.read_limits import MEBIBYTE
from core.domain.reader_kinds import parse_kind
from core.domain.readers import parse_readers
from core.domain.selection import check_glob
from core.domain.sources import Cron, Every, Origin, SourceSpec, WebBounds
from core.errors import BadInput

Given = TypeVar("Given")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_EVERY = re.compile(r"every\s+(\d{1,5})\s*([smhdw])[a-z]*")
SHORTEST_SECONDS = 30  # between two scheduled syncs


def _valued(check: Callable[[Given], object], text: Given) -> Given:
    """Return `text` if it passes `check`; turns errors into ValueError for pydantic."""
    try:
        check(text)
    except BadInput as error:
        raise ValueError(str(error)) from error
    return text


def _plain_url(text: str) -> str:
    """Return an http(s) address without credentials."""
    parts = urlsplit(text)
    if parts.password is not None or parts.username is not None:
        raise ValueError("it must not contain a user name or a password; use token_file or token_variable")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it must be an address like https://wiki.example.org/page")
    return text.rstrip("/") if not parts.query and parts.path in ("", "/") else text


def _git_url(text: str) -> str:
    """Return a git address without credentials: https, ssh (both forms), file, or a local folder."""
    if text.startswith("-") or "::" in text:  # an option of git, or a helper program that git would run
        raise ValueError("it must be an address like https://git.example.org/team/handbook.git")
    if "://" in text:
        parts = urlsplit(text)
        if parts.password is not None or (parts.username is not None and parts.scheme != "ssh"):
            raise ValueError("it must not contain a user name or a password; use token_file or token_variable")
        if parts.scheme not in ("https", "http", "ssh", "file"):
            raise ValueError("it must begin with https://, ssh:// or file://, or be a local folder")
    return text


def to_schedule(text: str) -> Every | Cron:
    """Read "every 6h" or a crontab line in UTC. ValueError for anything else, or for less than half a minute."""
    if found := _EVERY.fullmatch(text.strip().lower()):
        seconds = int(found[1]) * _UNITS[found[2]]
        if seconds < SHORTEST_SECONDS:
            raise ValueError(f"it must be {SHORTEST_SECONDS} seconds or more")
        return Every(seconds=seconds)
    from apscheduler.triggers.cron import CronTrigger

    try:
        CronTrigger.from_crontab(text, timezone="UTC")
    except ValueError as error:
        raise ValueError("it must be like 'every 6h' or a crontab line like '30 4 * * 1-5' (in UTC)") from error
    return Cron(line=text)


Url = Annotated[str, AfterValidator(_plain_url)]
AbsolutePath = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]
Glob = Annotated[str, AfterValidator(partial(_valued, check_glob))]
_ORIGIN: TypeAdapter[Origin] = TypeAdapter(Origin)
_AsList = BeforeValidator(lambda given: [given] if isinstance(given, str) else given)
Readers = Annotated[frozenset[str], AfterValidator(partial(_valued, parse_readers))]
# The source's own names of people and groups -> who these are in chats.
ReaderMap = Mapping[Annotated[str, Field(min_length=1)], Annotated[Readers, _AsList]]


class _SourceConfig(Section):
    """Keys of all kinds."""

    name: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^\S(.*\S)?$")]
    workspace: Annotated[str, Field(min_length=1)] | None = None
    include: tuple[Glob, ...] = ()
    exclude: tuple[Glob, ...] = ()
    reader: Annotated[str, AfterValidator(partial(_valued, parse_kind))] = "auto"
    link_template: str | None = None
    schedule: Annotated[str, AfterValidator(partial(_valued, to_schedule))] | None = None
    jitter_seconds: Annotated[float, Field(ge=0)] = 0
    enabled: bool = True
    readers: Readers | None = None
    reader_map: ReaderMap = Field(default_factory=dict)

    def to_spec(self, workspace: str) -> SourceSpec:
        """Return the source; `workspace` is its default."""
        return SourceSpec(
            name=self.name,
            workspace=self.workspace or workspace,
            origin=_ORIGIN.validate_python({**dict(self), "bounds": getattr(self, "bounds", None)}),
            include=self.include,
            exclude=self.exclude,
            reader=None if self.reader == "auto" else self.reader,
            link_template=self.link_template,
            schedule=to_schedule(self.schedule) if self.schedule else None,
            jitter_seconds=self.jitter_seconds,
            watch=getattr(self, "watch", False),
            enabled=self.enabled,
            readers=self.readers,
            reader_map=self.reader_map,
        )


class FolderSource(_SourceConfig):
    kind: Literal["folder"]
    path: AbsolutePath
    watch: bool = False


class FilesSource(_SourceConfig):
    kind: Literal["files"]
    paths: Annotated[tuple[AbsolutePath, ...], Field(min_length=1)]


class _WithToken(_SourceConfig):
    token_file: Path | None = None
    token_variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None


class GitSource(_WithToken):
    kind: Literal["git"]
    url: Annotated[str, AfterValidator(_git_url)]
    branch: Annotated[str, Field(pattern=r"^[^-\s][^\s~^:?*\[\\]*$")] | None = None
    folder: Annotated[str, AfterValidator(lambda given: given.strip("/"))] = ""
    allow_private: bool = False


class _WebSource(_SourceConfig):
    max_pages: Count = 1000
    max_page_mb: Count = 20
    max_seconds: Seconds = 1800
    timeout_seconds: Seconds = 30
    pause_seconds: Annotated[float, Field(ge=0)] = 0.2
    allow_private: bool = False

    @property
    def bounds(self) -> WebBounds:
        return WebBounds(
            max_pages=self.max_pages,
            max_page_bytes=self.max_page_mb * MEBIBYTE,
            max_seconds=self.max_seconds,
            timeout_seconds=self.timeout_seconds,
            pause_seconds=self.pause_seconds,
            allow_private=self.allow_private,
        )


class UrlListSource(_WebSource):
    kind: Literal["url_list"]
    urls: Annotated[tuple[Url, ...], _AsList] = ()
    file: AbsolutePath | None = None

    @model_validator(mode="after")
    def _has_any(self) -> "UrlListSource":
        if not self.urls and self.file is None:
            raise ValueError("it needs urls, or a file that names them")
        return self


class SitemapSource(_WebSource):
    kind: Literal["sitemap"]
    urls: Annotated[tuple[Url, ...], _AsList, Field(min_length=1)]


class GitHubSource(_WebSource, _WithToken):
    kind: Literal["github"]
    repository: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$")]
    parts: Annotated[frozenset[Literal["files", "wiki", "issues"]], Field(min_length=1)] = frozenset(
        {"files", "wiki", "issues"}
    )
    branch: Annotated[str, Field(pattern=r"^[^-\s][^\s~^:?*\[\\]*$")] | None = None
    api_url: Url = "https://api.github.com"
    web_url: Url = "https://github.com"
    max_pages: Count = 5000


class ConfluenceSource(_WebSource, _WithToken):
    kind: Literal["confluence"]
    url: Annotated[Url, AfterValidator(lambda given: given.rstrip("/"))]
    spaces: Annotated[tuple[Annotated[str, Field(pattern=r"^[~A-Za-z0-9_.-]+$")], ...], _AsList, Field(min_length=1)]
    user: str | None = None
    max_pages: Count = 5000


class FoundryWorldSource(_SourceConfig):
    kind: Literal["foundry_world"]
    path: AbsolutePath


SourceConfig = Annotated[
    FolderSource
    | FilesSource
    | GitSource
    | UrlListSource
    | SitemapSource
    | GitHubSource
    | ConfluenceSource
    | FoundryWorldSource,
    Field(discriminator="kind"),
]

# Default variables of sources' tokens.
TOKEN_VARIABLES = {"github": "GITHUB_TOKEN", "confluence": "CONFLUENCE_TOKEN"}


def twice_named(sources: tuple[SourceConfig, ...], workspace: str) -> list[str]:
    """Return names that two sources of a workspace share."""
    counts = Counter((source.workspace or workspace, source.name) for source in sources)
    return [name for (_, name), count in counts.items() if count > 1]
