"""A repository on GitHub over its REST API: files and issues with comments; its wiki by git.

Changes show in the hashes of files and the times of issues: an unchanged repository costs three small requests.
"""

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from core.domain.selection import Selection
from core.domain.sources import GitHubOrigin, GitOrigin, Reach, Reached
from core.errors import SourceUnavailable
from core.ports.documents import Fetched, FetchProgress
from core.text.words import collapse
from core.thread_work import to_its_end
from storage.documents.base import build_readers
from storage.sources.git import GitFetcher
from storage.sources.mirror import SAVE_EVERY, Kept, Mirror, safe_path
from storage.sources.web import Reply, Web, reach_of

API_VERSION = "2022-11-28"
PER_PAGE = 100  # the API's own bound
MOST_LIST_PAGES = 1000
_JSON, _RAW = "application/vnd.github+json", "application/vnd.github.raw+json"
_log = logging.getLogger(__name__)
_NEXT = re.compile(r'<([^<>]+)>;\s*+rel="next"')


class GitHubFetcher:
    """SourceFetcher of a GitHubOrigin. `include` and `exclude` spare requests for files that are not read anyway."""

    def __init__(
        self,
        origin: GitHubOrigin,
        token: str | None = None,
        include: tuple[str, ...] = (),
        exclude: tuple[str, ...] = (),
    ) -> None:
        self._origin = origin
        self._token = token
        self._selection = Selection(include=include, exclude=exclude)
        self._suffixes = frozenset(suffix for reader in build_readers() for suffix in reader.suffixes)
        self._web = Web(
            origin.bounds,
            headers={"X-GitHub-Api-Version": API_VERSION, **({"Authorization": f"Bearer {token}"} if token else {})},
            secret_origin=origin.api_url,
        )

    async def fetch(self, mirror: Path, progress: FetchProgress, *, force: bool = False) -> Fetched:
        """Fetch `files/`, `issues/` and `wiki/`; a part that fails stays as it was, all that fail raise."""
        opened = await asyncio.to_thread(Mirror, mirror, of=str(self._origin), force=force)
        parts = {"files": self._files, "issues": self._issues, "wiki": self._wiki}
        warnings, failures = list[str](), list[SourceUnavailable]()
        wanted = [name for name in parts if name in self._origin.parts]
        async with self._web as web:
            for name in wanted:
                try:
                    warnings += await parts[name](web, opened, progress)
                except SourceUnavailable as error:
                    failures.append(error)
                except (ValueError, KeyError, TypeError, AttributeError) as error:  # no JSON, or other JSON
                    _log.warning("The %s of %s came in an unknown form", name, self._origin, exc_info=error)
                    failures.append(SourceUnavailable(f"{self._origin.api_url} answers in no form that GitHub has"))
                opened.save()
        if len(failures) == len(wanted):
            raise failures[0]
        warnings += map(str, failures)
        for name in parts:
            if name not in wanted:
                opened.keep_only((), name)
                opened.memory.cursors.pop(name, None)
        opened.save()
        return opened.fetched(warnings)

    async def reach(self) -> Reached:
        """Ask for the repository. Raises SourceUnavailable."""
        async with self._web as web:
            reply = await web.get(self._api(""), accept=_JSON)
        is_used_up = reply.status == 403 and reply.headers.get("x-ratelimit-remaining") == "0"
        return Reached(state=Reach.UNREACHABLE if is_used_up else reach_of(reply), place=str(self._origin))

    async def _files(self, web: Web, mirror: Mirror, progress: FetchProgress) -> list[str]:
        branch = self._origin.branch or str((await self._json(web, self._api("")))["default_branch"])
        tree = await self._json(web, self._api(f"/git/trees/{quote(branch, safe='')}?recursive=1"))
        blobs = [item for item in tree["tree"] if item["type"] == "blob" and self._reads(str(item["path"]))]
        bounds = self._origin.bounds
        kept = [item for item in blobs if int(item.get("size", 0)) <= bounds.max_page_bytes][: bounds.max_pages]
        warnings = (
            [f"{len(blobs) - len(kept)} files are left out: too large, or too many"] if len(kept) < len(blobs) else []
        )
        if tree.get("truncated"):
            raise SourceUnavailable(
                f"{self._origin} has too many files for GitHub's API to list: use a source of kind git for them"
            )
        for number, item in enumerate(kept, start=1):
            await self._file(web, mirror, branch, item)
            progress(number, len(kept), str(item["path"]))
            if number % SAVE_EVERY == 0:
                mirror.save()
        mirror.keep_only({f"files/{item['path']}" for item in kept}, "files")
        return warnings

    async def _file(self, web: Web, mirror: Mirror, branch: str, item: Mapping[str, Any]) -> None:
        path, revision = f"files/{item['path']}", str(item["sha"])
        known = mirror.memory.files.get(path)
        if known is not None and known.revision == revision:
            return
        reply = _checked(await web.get(self._api(f"/git/blobs/{revision}"), accept=_RAW), self._token)
        link = f"{self._origin.web_url}/{self._origin.repository}/blob/{quote(branch)}/{quote(str(item['path']))}"
        mirror.write(path, reply.content, Kept(revision=revision, link=link))

    async def _issues(self, web: Web, mirror: Mirror, progress: FetchProgress) -> list[str]:
        """Fetch issues changed since the last fetch, oldest change first, so that an interrupted fetch can continue."""
        since = mirror.memory.cursors.get("issues", "")
        url = f"/issues?state=all&sort=updated&direction=asc&per_page={PER_PAGE}"
        seen, lists = list[str](), 0
        async for issues in self._lists(web, self._api(url + (f"&since={quote(since)}" if since else ""))):
            for issue in issues:
                seen.append(await self._issue(web, mirror, issue))
                progress(len(seen), None, f"#{issue['number']}")
            mirror.save()
            lists += 1
        if lists == MOST_LIST_PAGES:
            return ["not all changed issues came in one sync: the next one continues from here"]
        if not since:  # all were listed: missing ones were deleted
            mirror.keep_only(seen, "issues")
        return []

    async def _issue(self, web: Web, mirror: Mirror, issue: Mapping[str, Any]) -> str:
        """Its path."""
        number, updated = int(issue["number"]), str(issue["updated_at"])
        path = f"issues/{number:06d}.md"
        known = mirror.memory.files.get(path)
        if known is None or known.revision != updated:
            comments: list[Mapping[str, Any]] = []
            if issue.get("comments"):
                async for some in self._lists(web, self._api(f"/issues/{number}/comments?per_page={PER_PAGE}")):
                    comments += some
            text = to_markdown(issue, comments)
            mirror.write(path, text.encode("utf-8", "replace"), Kept(revision=updated, link=str(issue["html_url"])))
        mirror.memory.cursors["issues"] = max(mirror.memory.cursors.get("issues", ""), updated)
        return path

    async def _lists(self, web: Web, url: str) -> AsyncIterator[list[Mapping[str, Any]]]:
        """Yield a list page by page, at most MOST_LIST_PAGES, and never from another host than the API's."""
        for _ in range(MOST_LIST_PAGES):
            reply = _checked(await web.get(url, accept=_JSON), self._token)
            yield json.loads(reply.content)
            found = _NEXT.search(reply.headers.get("link", ""))
            if found is None or not found[1].startswith(f"{self._origin.api_url}/"):
                return
            url = found[1]

    async def _wiki(self, web: Web, mirror: Mirror, progress: FetchProgress) -> list[str]:
        """Fetch by git into a mirror of its own, and copy the files."""
        place = f"{self._origin.web_url}/{self._origin.repository}"
        fetcher = GitFetcher(
            GitOrigin(url=f"{place}.wiki.git", allow_private=self._origin.bounds.allow_private), self._token
        )
        try:
            fetched = await fetcher.fetch(mirror.root.parent / "wiki", progress)
        except SourceUnavailable as error:
            if "not found" not in str(error).lower():
                raise
            mirror.keep_only((), "wiki")
            return [f"{place} has no wiki, or the token may not read it: leave 'wiki' out of its parts"]
        await to_its_end(lambda: _copy_wiki(fetched.root, mirror, place))
        return []

    def _reads(self, path: str) -> bool:
        known = Path(path).suffix.lower() in self._suffixes
        return known and safe_path(path) is not None and self._selection.takes(f"files/{path}")

    def _api(self, path: str) -> str:
        return f"{self._origin.api_url}/repos/{self._origin.repository}{path}"

    async def _json(self, web: Web, url: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads(_checked(await web.get(url, accept=_JSON), self._token).content)
        return found


def _checked(reply: Reply, token: str | None) -> Reply:
    """Return a good reply; raise SourceUnavailable with the next step otherwise."""
    if reply.status == 200:
        return reply
    hint = "check the token's rights" if token else "set token_file, or GITHUB_TOKEN"
    if reply.status in (403, 429) and (
        reply.headers.get("x-ratelimit-remaining") == "0"
        or "rate limit" in reply.content[:2000].decode("utf-8", "replace")
    ):
        raise SourceUnavailable(f"GitHub's limit of requests is used up: the next sync continues from here ({hint})")
    if reply.status in (401, 403, 404):
        raise SourceUnavailable(f"{reply.url} answered {reply.status}: it is not there or may not be read; {hint}")
    raise SourceUnavailable(f"{reply.url} answered {reply.status}")


def _copy_wiki(root: Path, mirror: Mirror, place: str) -> None:
    wanted = set()
    for file in sorted(item for item in root.rglob("*") if item.is_file()):
        path = safe_path(file.relative_to(root).as_posix())
        if path is not None:
            page = Path(path).with_suffix("").name
            wanted.add(f"wiki/{path}")
            link = f"{place}/wiki" if page == "Home" else f"{place}/wiki/{quote(page)}"
            mirror.write(f"wiki/{path}", file.read_bytes(), Kept(revision="wiki", link=link))
    mirror.keep_only(wanted, "wiki")


def to_markdown(issue: Mapping[str, Any], comments: Sequence[Mapping[str, Any]]) -> str:
    """Front matter with title and address, a line of facts, the text; headings in texts become subheadings.

    Both are as the API gives them.
    """
    number, title = int(issue["number"]), str(issue["title"])
    front = yaml.safe_dump(
        {"title": f"#{number} {title}", "url": str(issue["html_url"])}, allow_unicode=True, sort_keys=False
    )
    what = "Pull request" if "pull_request" in issue else "Issue"
    names = [str(item["name"] if isinstance(item, dict) else item) for item in issue.get("labels") or ()]
    labels = f", labels: {', '.join(names)}" if names else ""
    parts = [f"---\n{front}---\n", f"# {collapse(title)}"]
    parts.append(f"{what} #{number} by {_login(issue)}, {_day(issue)}, {issue['state']}{labels}.")
    parts.append(_lowered(str(issue.get("body") or "")))
    for comment in comments:
        parts += [f"## {_login(comment)}, {_day(comment)}", _lowered(str(comment.get("body") or ""))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _day(item: Mapping[str, Any]) -> str:
    return str(item["created_at"])[:10]


def _login(item: Mapping[str, Any]) -> str:
    return str((item.get("user") or {}).get("login") or "ghost")


def _lowered(text: str) -> str:
    """Return the text with its headings two levels down, outside of code; CRLF as GitHub stores it becomes LF."""
    lines, fence = [], ""
    for line in text.replace("\r\n", "\n").strip().split("\n"):
        bare = line.lstrip()
        mark = bare[:3]
        if mark in ("```", "~~~") and (not fence or mark == fence):
            fence = "" if fence else mark
        level = len(bare) - len(bare.lstrip("#"))
        if not fence and 0 < level <= 6 and bare[level : level + 1] in (" ", ""):
            line = "#" * min(level + 2, 6) + bare[level:]
        lines.append(line)
    return "\n".join(lines)
