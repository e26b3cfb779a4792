"""Git repositories: the newest state of one branch, fetched with the git program.

Nothing of the repository or of this machine's configuration runs: no hooks, no submodules, no filters, no helper
protocols. A token goes to git through its environment, bound to the repository's host; arguments can be read by others.
"""

import asyncio
import base64
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from core.domain.sources import GitOrigin
from core.errors import SourceUnavailable
from core.ports.documents import Fetched, FetchProgress
from core.thread_work import to_its_end
from storage.sources.mirror import FILES_FOLDER

GIT_SECONDS = 900  # for one call: a large repository over a slow line
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
    "credential.interactive": "false",
    "advice.detachedHead": "false",
}
_SECRET = re.compile(r"(?<=//)[^/@\s]+@|(?i:authorization):\s*\S+(?:\s+\S+)?")


class GitFetcher:
    """SourceFetcher of a GitOrigin."""

    def __init__(self, origin: GitOrigin, token: str | None = None) -> None:
        self._origin = origin
        self._token = token

    async def fetch(self, mirror: Path, progress: FetchProgress, *, force: bool = False) -> Fetched:
        """Fetch a shallow copy of the branch, with its files under `files/`; git writes only changed files."""
        root = mirror / FILES_FOLDER
        if force:
            await to_its_end(lambda: shutil.rmtree(root, ignore_errors=True))
        fresh = not (root / ".git").is_dir()
        await asyncio.to_thread(root.mkdir, parents=True, exist_ok=True)
        if fresh:
            await self._git(root, "init", "--quiet", "--template=")
        progress(0, None, self._origin.url)
        before = "" if fresh else await self._head(root)
        options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-commit-graph", "--force")
        await self._git(root, "fetch", *options, "--", self._origin.url, self._origin.branch or "HEAD")
        await self._git(root, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
        changed, removed = await self._changes(root, before)
        progress(1, 1, self._origin.url)
        return Fetched(root=await asyncio.to_thread(self._part, root), changed=changed, removed=removed)

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

    async def _git(self, root: Path, command: str, *arguments: str) -> str:
        """Return git's output. Raises SourceUnavailable with its reason, without secrets."""
        try:
            process = await asyncio.create_subprocess_exec(
                "git",
                command,
                *arguments,
                cwd=root,
                env=self._environment(),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except FileNotFoundError as error:
            raise SourceUnavailable("The git program is not installed: install git, or use another kind") from error
        try:
            async with asyncio.timeout(GIT_SECONDS):
                said, complained = await process.communicate()
        except BaseException as error:
            if process.returncode is None:
                process.kill()
                await process.wait()
            if isinstance(error, TimeoutError):
                raise SourceUnavailable(
                    f"git {command} of {self._origin.url!r} took longer than {GIT_SECONDS} s"
                ) from error
            raise
        if process.returncode:
            raise SourceUnavailable(self._reason(command, complained.decode("utf-8", "replace")))
        return said.decode("utf-8", "surrogateescape")

    def _reason(self, command: str, complained: str) -> str:
        lines = [line.strip() for line in complained.splitlines() if line.strip()]
        told = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))] or lines
        said = _SECRET.sub("…", " ".join(told[:3])) or "no reason given"
        if "could not read Username" in said or "Authentication failed" in said:
            said += "; set token_file or token_variable, or check that the token may read it"
        return f"git {command} of {self._origin.url!r} failed: {said}"

    def _environment(self) -> Mapping[str, str]:
        settings = {**_TAME, **self._authorisation()}
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
            "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
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
