"""ZIP containers of foreign files (books, Office files), read within bounds: a small file may claim to be gigabytes."""

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from core.domain.read_limits import MEBIBYTE
from core.errors import ReadError

# Maximum bytes of all parts read from one container, and of one part: the texts of a picture book are 5 MB.
MAX_EXPANDED = 256 * MEBIBYTE
MAX_PART = 64 * MEBIBYTE
# Parts of a container: more is made to be slow.
MAX_PARTS = 50_000
ZIP_MARK = b"PK\x03\x04"

_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)


class Archive:
    """An open container. Names are as in its directory, '/' between parts."""

    def __init__(self, file: zipfile.ZipFile, label: str) -> None:
        self._file = file
        self._label = label
        self._parts = {info.filename: info for info in file.infolist()}
        self._by_folded = {name.casefold(): name for name in reversed(self._parts)}
        self._left = MAX_EXPANDED

    @property
    def names(self) -> tuple[str, ...]:
        """In the order of the directory."""
        return tuple(self._parts)

    def __contains__(self, name: str) -> bool:
        return name in self._parts

    def read(self, name: str) -> bytes:
        """Return the bytes of a part.

        Raises:
            ReadError: there is no such part, it is damaged or encrypted, or the container expands beyond its bounds.
        """
        info = self._parts.get(name)
        if info is None:
            raise ReadError(f"corrupt: the {self._label} lacks its part {name!r}")
        limit = min(MAX_PART, self._left)
        try:
            with self._file.open(info) as part:
                data = part.read(limit + 1)
        except _BROKEN as error:
            _refuse(self._label, error, name)
        if len(data) > limit:
            most = (MAX_PART if limit == MAX_PART else MAX_EXPANDED) // MEBIBYTE
            raise ReadError(f"too large: unpacked, the {self._label} is more than {most} MB; split it")
        self._left -= len(data)
        return data

    def find(self, name: str) -> str | None:
        """Return the part of that name, ignoring case and path spelling, or None."""
        wanted = posixpath.normpath(name).lstrip("/")
        if wanted in self._parts:
            return wanted
        return self._by_folded.get(wanted.casefold())


@contextmanager
def open_archive(path: Path, label: str) -> Iterator[Archive]:
    """Open the container at `path`; `label` names it in errors: "EPUB", "Word file".

    Raises ReadError for an unreadable ZIP container, or one with too many parts.
    """
    try:
        file = zipfile.ZipFile(path)
    except (FileNotFoundError, PermissionError):
        raise
    except _BROKEN as error:
        _refuse(label, error)
    with file:
        if len(file.infolist()) > MAX_PARTS:
            raise ReadError(f"too large: the {label} has more than {MAX_PARTS:,} parts")
        yield Archive(file, label)


def _refuse(label: str, error: Exception, name: str = "") -> NoReturn:
    if isinstance(error, RuntimeError) and "password" in str(error):
        raise ReadError(f"encrypted: the {label} needs a password; save it without one and ingest it again") from error
    where = f" (its part {name!r})" if name else ""
    raise ReadError(f"corrupt: not a readable {label}{where}, it may be cut off") from error
