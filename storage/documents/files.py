"""The files of a source: each is either listed for reading or reported with a reason.

Hidden files and folders (.git, .obsidian) are left out, and so are the lists without messages at the root of a Slack
export. Links are followed only to files that are not listed already, within the source's folder, never in circles.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.domain.corpus import FileStamp
from core.domain.ingest_report import Failure
from core.errors import NotFound

# Raise it when a reader gets better: every stamp then differs from the stored one, and all files are read once more.
# Those whose content comes out the same are not embedded again.
READING_VERSION = 10
_KINDS = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
# Lists at the root of a Slack export.
CHANNEL_LISTS = ("channels.json", "groups.json")
PEOPLE_LISTS = ("users.json", "org_users.json")
# The ones without messages: private conversations, installed apps.
MUTE_LISTS = (
    "dms.json",
    "mpims.json",
    "integration_logs.json",
    "canvases.json",
    "lists.json",
    "huddle_transcripts.json",
)
_MAX_STAMP = 2**62  # fits a signed 64-bit column


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file to be read."""

    path: str  # relative to the source's root, '/' between parts
    size: int  # bytes
    modified_ns: int


@dataclass(slots=True)
class Listing:
    """The files and problems under a source's root, by path."""

    files: list[SourceFile] = field(default_factory=list)
    problems: list[Failure] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)  # folders that could not be opened; their content is unknown


def list_files(root: Path, only: Sequence[str] | None = None) -> Listing:
    """List the files under `root`, or under its sub-paths `only` (files or folders), sorted by path.

    Sub-paths that do not exist give nothing.

    Raises:
        NotFound: `root` is no folder.
    """
    if not root.is_dir():
        raise NotFound(f"{str(root)!r} is not a folder (moved, or not mounted?): nothing was changed")
    real_root = os.path.realpath(root)
    listing = Listing()
    for sub_path in only if only is not None else [""]:
        _list(Path(real_root), sub_path.strip("/"), listing)
    listing.files.sort(key=lambda file: file.path)
    listing.problems.sort(key=lambda problem: problem.path)
    return listing


def stamp_of(file: SourceFile, root: Path, depends_on: Sequence[str]) -> FileStamp:
    """Return a stamp that changes with the file, the files embedded in it, and READING_VERSION. Reads no file."""
    parts = [(file.size, file.modified_ns), *(_size_and_time(root / path) for path in depends_on)]
    modified_ns = (sum(modified for _, modified in parts) + READING_VERSION) % _MAX_STAMP
    return FileStamp(size=sum(size for size, _ in parts) % _MAX_STAMP, modified_ns=modified_ns)


def stamp_file(path: Path) -> FileStamp:
    """Return the stamp of a file that embeds no other."""
    status = path.stat()
    return stamp_of(SourceFile(path=path.name, size=status.st_size, modified_ns=status.st_mtime_ns), path.parent, ())


def why_unopened(error: OSError) -> str:
    """Return the reason for a report, with the next step if there is one."""
    if isinstance(error, FileNotFoundError):
        return "vanished before it was read; ingest again when it is back"
    reason = (error.strerror or str(error)).lower()
    return f"can't be opened: {reason}" + ("; check its permissions" if isinstance(error, PermissionError) else "")


def _size_and_time(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except (OSError, ValueError):  # vanished, or a name no file can have: that is a state like any other
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _list(root: Path, sub_path: str, listing: Listing) -> None:
    """Walk folders without recursion: a tree may be deeper than Python's stack."""
    waiting = [sub_path]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(_entries(root, folder))
        except OSError as error:
            reason = f"a folder that {why_unopened(error)}"
            listing.problems.append(Failure(path=_printable(folder) or ".", reason=reason))
            listing.unlisted.append(folder)
            continue
        names = {path.rpartition("/")[2] for path, _ in entries}
        is_export = not names.isdisjoint(PEOPLE_LISTS) and not names.isdisjoint(CHANNEL_LISTS)
        mute = MUTE_LISTS if is_export else ()
        for path, is_folder in entries:
            if is_folder:
                waiting.append(path)
            elif path.rpartition("/")[2] not in mute:
                _add(root, path, listing)


def _entries(root: Path, folder: str) -> Iterator[tuple[str, bool]]:
    """Yield (path, is a folder) for all in a folder; for a sub-path that is a file, the file itself."""
    absolute = root / folder
    if folder and (absolute.is_symlink() or not absolute.is_dir()):
        if os.path.lexists(absolute):
            yield folder, False
        return
    with os.scandir(absolute) as entries:
        for entry in entries:
            if not entry.name.startswith("."):
                path = f"{folder}/{entry.name}" if folder else entry.name
                yield path, entry.is_dir(follow_symlinks=False)


def _add(root: Path, path: str, listing: Listing) -> None:
    if _printable(path) != path:
        listing.problems.append(Failure(path=_printable(path), reason="a name that is not valid UTF-8; rename it"))
        return
    absolute = root / path
    try:
        reason = _link_problem(root, absolute) if absolute.is_symlink() else None
        status = absolute.stat() if reason is None else None
    except FileNotFoundError:
        return  # removed while the folder was listed: as if it had never been there
    except OSError as error:
        reason, status = why_unopened(error), None
        listing.unlisted.append(path)
    if status is not None and stat.S_ISREG(status.st_mode):
        listing.files.append(SourceFile(path=path, size=status.st_size, modified_ns=status.st_mtime_ns))
    elif status is not None:
        reason = f"{_KINDS.get(stat.S_IFMT(status.st_mode), 'something else')}, not a file"
    if reason:
        listing.problems.append(Failure(path=path, reason=reason))


def _printable(path: str) -> str:
    """Return the path as valid Unicode, with bytes that are not UTF-8 as hexadecimal escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _link_problem(root: Path, link: Path) -> str | None:
    """Return why a link is not read; "" if it needn't be, because it is a circle or its target is listed itself."""
    target = Path(os.path.realpath(link))
    if not target.is_relative_to(root):
        return (
            "a link that leads out of the source's folder; ingest what it leads to by itself"
            if target.exists()
            else _dangling(link)
        )
    if target.is_symlink() or target in link.parents:  # realpath gives up on a circle of links
        return ""
    if not target.exists():
        return _dangling(link)
    hidden = any(part.startswith(".") for part in target.relative_to(root).parts)
    if not hidden:
        return ""
    return "a link to a hidden folder" if target.is_dir() else None


def _dangling(link: Path) -> str:
    return f"a link to {os.readlink(link)!r}, which does not exist; fix or remove it"
