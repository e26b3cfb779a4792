"""Git repositories: the newest state of one branch, fetched with the git program.

Nothing of the repository or of this machine's configuration runs: no hooks, no submodules, no filters, no helper
protocols. A token goes to git through its environment, bound to the repository's host; arguments can be read by others.
git looks up names itself, so it is given the checked address (see addresses.py), and follows no redirects.
"""

import asyncio
import base64
import ipaddress
import os
import re
import shlex
import shutil
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from core.domain.read_limits import MEBIBYTE
from core.domain.sources import GitOrigin, Reach, Reached, WebBounds
from core.errors import SourceUnavailable
from core.ports.documents import Fetched, FetchProgress
from core.thread_work import to_its_end
from storage.sources.addresses import ALLOW, Allowed, PrivateAddress, Resolve, checked_addresses, is_public, resolve
from storage.sources.mirror import FILES_FOLDER
from storage.sources.web import Web, reach_of

GIT_SECONDS = 900  # for one call: a large repository over a slow line
# A small repository can unpack to files without end, so they are counted before they are written.
MOST_FILES = 300_000
MOST_BYTES = 4 * 1024 * MEBIBYTE
_LIMITS = f'ulimit -f {MOST_BYTES // 512}; ulimit -v {MOST_BYTES // 1024} 2>/dev/null; exec git "$@"'  # sh
_PINNING_SINCE = (2, 37)  # the version of git that has http.curloptResolve
_PORTS = {"http": 80, "https": 443, "ssh": 22}
_REFS = "/info/refs?service=git-upload-pack"  # the first request of a fetch
_SSH = "ssh -oBatchMode=yes"
# Protects against settings of a repository or of the user that runs Footnote.
_TAME = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.symlinks": "false",  # a link becomes a file that names its target: nothing leads out of the folder
    "core.autocrlf": "false",
    "filter.lfs.smudge": "",
    "filter.lfs.required": "false",
    "protocol.allow": "never",
    "protocol.https.allow": "always",
    "protocol.http.allow": "always",
    "protocol.ssh.allow": "always",
    "protocol.file.allow": "always",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "http.followRedirects": "false",
    "core.bigFileThreshold": "32m",  # larger files are not held in memory
    "core.packedGitWindowSize": "32m",
    "core.packedGitLimit": "512m",
    "credential.interactive": "false",
    "advice.detachedHead": "false",
}
_SECRET = re.compile(r"(?<=//)[^/@\s]+@|(?i:authorization):\s*\S+(?:\s+\S+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remote:
    """The address to fetch from, and the settings that keep git to it."""

    url: str
    settings: Mapping[str, str]
    ssh: str = _SSH


class GitFetcher:
    """SourceFetcher of a GitOrigin."""

    def __init__(
        self, origin: GitOrigin, token: str | None = None, *, allowed: Allowed = is_public, resolve: Resolve = resolve
    ) -> None:
        self._origin = origin
        self._token = token
        self._allowed = allowed
        self._resolve = resolve

    async def fetch(self, mirror: Path, progress: FetchProgress, *, force: bool = False) -> Fetched:
        """Fetch a shallow copy of the branch, with its files under `files/`; git writes only changed files."""
        root = mirror / FILES_FOLDER
        remote = await self._pin(self._origin.url)
        if force:
            await to_its_end(lambda: shutil.rmtree(root, ignore_errors=True))
        fresh = not (root / ".git").is_dir()
        await asyncio.to_thread(root.mkdir, parents=True, exist_ok=True)
        if fresh:
            await self._git(root, "init", "--quiet", "--template=")
        progress(0, None, self._origin.url)
        before = "" if fresh else await self._head(root)
        await self._fetch(root, remote)
        await self._check_size(root)
        await self._git(root, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
        changed, removed = await self._changes(root, before)
        progress(1, 1, self._origin.url)
        return Fetched(root=await asyncio.to_thread(self._part, root), changed=changed, removed=removed)

    async def reach(self) -> Reached:
        """Ask for the branches: over http in one request, else with git. Raises SourceUnavailable."""
        url = self._origin.url
        if _place_of(url)[0] not in ("http", "https"):
            remote = await self._pin(url)
            await self._git(Path.cwd(), "ls-remote", "--quiet", "--", remote.url, "HEAD", remote=remote)
            return Reached(state=Reach.READY, place=url)
        pairs = [setting.partition(": ")[::2] for setting in self._authorisation().values()]
        bounds = WebBounds(allow_private=self._origin.allow_private)
        async with Web(
            bounds, headers=dict(pairs), secret_origin=url, allowed=self._allowed, resolve=self._resolve
        ) as web:
            return Reached(state=reach_of(await web.get(url.rstrip("/") + _REFS)), place=url)

    async def _fetch(self, root: Path, remote: _Remote) -> None:
        options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-commit-graph", "--force")
        branch = self._origin.branch or "HEAD"
        try:
            await self._git(root, "fetch", *options, "--", remote.url, branch, remote=remote)
        except SourceUnavailable as error:
            if "returned error: 30" not in str(error):
                raise
            remote = await self._pin(await self._follow(remote.url))
            await self._git(root, "fetch", *options, "--", remote.url, branch, remote=remote)

    async def _pin(self, url: str) -> _Remote:
        """Return the remote with its checked address. Raises SourceUnavailable if that is not allowed."""
        scheme, host, port = _place_of(url)
        if self._origin.allow_private:
            return _Remote(url=url, settings={})
        if scheme == "file":
            raise PrivateAddress(
                f'{url!r} is on this machine, which is not read by git. {ALLOW}, or use kind = "folder"'
            )
        if not host.isascii() or host.endswith("."):  # git may look it up under another name than it was checked under
            raise SourceUnavailable(f"The host {host!r} can't be checked: write its name in ASCII, without a last dot")
        proxied = scheme != "ssh" and scheme in getproxies() and not proxy_bypass(host)
        if proxied and not _is_address(host):  # the proxy looks the name up
            return _Remote(url=url, settings={})
        address = (await checked_addresses(host, port, allowed=self._allowed, resolve=self._resolve))[0]
        if scheme == "ssh":
            alias = host if port == _PORTS["ssh"] else f"[{host}]:{port}"  # as the host's key is known
            pinned = f"{_SSH} -oHostName={shlex.quote(address)} -oHostKeyAlias={shlex.quote(alias)}"
            return _Remote(url=url, settings={}, ssh=pinned)
        if _is_address(host):
            return _Remote(url=url, settings={})
        await self._require_pinning()
        return _Remote(url=url, settings={"http.curloptResolve": f"{host}:{port}:{address}"})

    async def _require_pinning(self) -> None:
        said = await self._git(Path.cwd(), "version")
        version = tuple(int(number) for number in re.findall(r"\d{1,6}", said)[:2])
        if version < _PINNING_SINCE:
            raise SourceUnavailable(
                f"{said.strip()} can't be kept to a checked address: install git 2.37 or later, or set allow_private = "
                "true for this source"
            )

    async def _follow(self, url: str) -> str:
        """Return the address that the repository has moved to, on the same host. Raises SourceUnavailable."""
        bounds = WebBounds(allow_private=self._origin.allow_private)
        async with Web(bounds, allowed=self._allowed, resolve=self._resolve) as web:
            found = (await web.get(url.rstrip("/") + _REFS)).url
        moved = found.removesuffix(_REFS)
        (old_scheme, old_host, _), (scheme, host, _) = _place_of(url), _place_of(moved)
        if moved == found or host != old_host or (old_scheme, scheme) == ("https", "http"):
            raise SourceUnavailable(f"{url!r} leads to {moved!r}: set url to the new address if that is meant")
        return moved

    async def _check_size(self, root: Path) -> None:
        """Raise SourceUnavailable if the files are too many or too large, before any of them is written."""
        files = size = 0
        rest = b""
        async with self._running(root, "ls-tree", "-r", "-l", "-z", "FETCH_HEAD") as process:
            while process.stdout and (read := await process.stdout.read(MEBIBYTE)):
                *lines, rest = (rest + read).split(b"\0")
                files += len(lines)
                size += sum(int(line.split(b"\t", 1)[0].split()[3].replace(b"-", b"0")) for line in lines)
                if files > MOST_FILES or size > MOST_BYTES:
                    raise SourceUnavailable(
                        f"The repository {self._origin.url!r} has more than {MOST_FILES:,} files or "
                        f"{MOST_BYTES // 1024**3} GB: use a smaller branch of it"
                    )
            if await process.wait():
                raise SourceUnavailable(f"The files of {self._origin.url!r} can't be listed: fetch it with --force")

    def _part(self, root: Path) -> Path:
        part = (root / self._origin.folder).resolve()
        if not part.is_relative_to(root.resolve()) or not part.is_dir():
            raise SourceUnavailable(
                f"The repository {self._origin.url!r} has no folder {self._origin.folder!r}: check `folder`"
            )
        return part if self._origin.folder else root

    async def _head(self, root: Path) -> str:
        try:
            return (await self._git(root, "rev-parse", "--verify", "--quiet", "HEAD")).strip()
        except SourceUnavailable:  # killed before its first checkout: everything is new
            return ""

    async def _changes(self, root: Path, before: str) -> tuple[int, int]:
        """(files written, files removed) since `before`; the commit of "" is an empty one."""
        if not before:
            return len((await self._git(root, "ls-tree", "-r", "-z", "--name-only", "HEAD")).split("\0")) - 1, 0
        words = (await self._git(root, "diff", "--name-status", "--no-renames", "-z", before, "HEAD")).split("\0")
        states = words[0:-1:2]
        return sum(state != "D" for state in states), states.count("D")

    async def _git(self, root: Path, command: str, *arguments: str, remote: _Remote | None = None) -> str:
        """Return git's output. Raises SourceUnavailable with its reason, without secrets."""
        async with self._running(root, command, *arguments, remote=remote) as process:
            said, complained = await process.communicate()
        if process.returncode:
            raise SourceUnavailable(self._reason(command, complained.decode("utf-8", "replace")))
        return said.decode("utf-8", "surrogateescape")

    @asynccontextmanager
    async def _running(
        self, root: Path, command: str, *arguments: str, remote: _Remote | None = None
    ) -> AsyncIterator[Process]:
        """Start git; it has ended afterwards. Raises SourceUnavailable if it is missing or too slow."""
        limited = ("sh", "-c", _LIMITS, "git") if os.name == "posix" else ("git",)
        if shutil.which("git") is None:
            raise SourceUnavailable("The git program is not installed: install git, or use another kind")
        process = await asyncio.create_subprocess_exec(
            *limited, command, *arguments,
            cwd=root, env=self._environment(remote), stdin=DEVNULL, stdout=PIPE, stderr=PIPE,
        )  # fmt: skip
        try:
            async with asyncio.timeout(GIT_SECONDS):
                yield process
        except TimeoutError as error:
            raise SourceUnavailable(
                f"git {command} of {self._origin.url!r} took longer than {GIT_SECONDS} s"
            ) from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.communicate()

    def _reason(self, command: str, complained: str) -> str:
        lines = [line.strip() for line in complained.splitlines() if line.strip()]
        told = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))] or lines
        said = _SECRET.sub("…", " ".join(told[:3])) or "no reason given"
        if "could not read Username" in said or "Authentication failed" in said:
            said += "; set token_file or token_variable, or check that the token may read it"
        return f"git {command} of {self._origin.url!r} failed: {said}"

    def _environment(self, remote: _Remote | None = None) -> Mapping[str, str]:
        settings = {**_TAME, **self._authorisation(), **(remote.settings if remote else {})}
        numbered = {f"GIT_CONFIG_KEY_{n}": key for n, key in enumerate(settings)}
        numbered |= {f"GIT_CONFIG_VALUE_{n}": value for n, value in enumerate(settings.values())}
        kept = ("PATH", "HOME", "LANG", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "SYSTEMROOT", "TMPDIR")
        proxies = [
            name for name in os.environ if name.lower() in ("http_proxy", "https_proxy", "no_proxy", "all_proxy")
        ]
        return {
            **{name: os.environ[name] for name in (*kept, *proxies) if name in os.environ},
            "LC_ALL": "C",  # reasons are compared with English words
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_SSH_COMMAND": remote.ssh if remote else _SSH,
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_CONFIG_COUNT": str(len(settings)),
            **numbered,
        }

    def _authorisation(self) -> Mapping[str, str]:
        parts = urlsplit(self._origin.url)
        if self._token is None or parts.scheme != "https":  # never in the clear
            return {}
        pair = base64.b64encode(f"x-access-token:{self._token}".encode()).decode()
        return {f"http.{parts.scheme}://{parts.netloc}/.extraHeader": f"Authorization: Basic {pair}"}


def _place_of(url: str) -> tuple[str, str, int]:
    """Return (scheme, host, port) of a git address; ("file", "", 0) for a local folder."""
    if "://" not in url:
        place, colon, _ = url.partition(":")
        if not colon or "/" in place:
            return "file", "", 0
        return "ssh", place.rpartition("@")[2].strip("[]").lower(), _PORTS["ssh"]
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
