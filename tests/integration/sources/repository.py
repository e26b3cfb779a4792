"""A git repository that a test commits to."""

import os
import subprocess
from pathlib import Path

SILENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_ALLOW_PROTOCOL": "file"}


class Repository:
    """A bare repository, and a checkout that pushes to it."""

    def __init__(self, folder: Path, name: str = "bare.git") -> None:
        self.bare, self.work = folder / name, folder / "work"
        self.git("init", "--quiet", "--bare", "--initial-branch=main", str(self.bare), at=folder)
        self.git("clone", "--quiet", str(self.bare), str(self.work), at=folder)
        self.git("checkout", "--quiet", "-b", "main")

    @property
    def url(self) -> str:
        return self.bare.as_uri()

    def git(self, *words: str, at: Path | None = None, given: str = "") -> str:
        named = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
        done = subprocess.run(
            ["git", *named, *words],
            cwd=at or self.work,
            env=os.environ | SILENT,
            input=given.encode(),
            capture_output=True,
            check=True,
        )
        return done.stdout.decode()

    def write(self, path: str, text: str) -> None:
        file = self.work / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def push(self, branch: str = "main") -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Change")
        self.git("push", "--quiet", "origin", f"HEAD:{branch}")
