"""Which files of a source's folder belong to it: globs that take files in and leave them out. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from core.errors import BadInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Files by path below the root. Empty: all of them."""

    include: tuple[str, ...] = ()  # globs, one of which must fit; empty: every path
    exclude: tuple[str, ...] = ()  # globs, none of which may fit
    paths: tuple[str, ...] | None = None  # only these files; None: all files of the folder

    def takes(self, path: str) -> bool:
        """Return whether the file at `path` ('/' between parts) is selected."""
        if self.include and not _fits(path, self.include):
            return False
        return not _fits(path, self.exclude)


EVERYTHING = Selection()


def check_glob(glob: str) -> str:
    """Return the glob. Raises BadInput if it is unusable."""
    if not glob.strip() or glob.startswith(("/", "../")) or "\\" in glob:
        raise BadInput(
            f"{glob!r} is no glob below the source's folder: write it like '*.md', 'notes/**' or '**/drafts/*'"
        )
    return glob


def _fits(path: str, globs: Sequence[str]) -> bool:
    return any(_pattern(glob).fullmatch(path) for glob in globs)


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    """Compile a glob as in .gitignore: `*` and `?` stay in a folder, `**` crosses folders; no slash: at any depth."""
    glob = glob.removeprefix("./")
    if glob.endswith("/"):
        glob += "**"
    if "/" not in glob:
        glob = f"**/{glob}"
    pieces = re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^\]/]+\])", glob)
    return re.compile("".join(map(_translated, pieces)), re.DOTALL)


def _translated(piece: str) -> str:
    match piece:
        case "**/":
            return "(?:.*/)?"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
    if piece.startswith("[") and piece.endswith("]"):
        negated = piece.startswith("[!")
        inside = piece[2 if negated else 1 : -1].replace("\\", r"\\").replace("[", r"\[").replace("^", r"\^")
        return f"[{'^' if negated else ''}{inside}]"
    return re.escape(piece)
