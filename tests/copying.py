"""Copies data directories: an index is large files that hold little, and a plain copy would write the rest as well."""

import errno
import os
import shutil
from pathlib import Path

# Where the system can't tell holes, the whole file is one piece.
TELLS_HOLES = hasattr(os, "SEEK_DATA") and hasattr(os, "SEEK_HOLE")


def copy_folder(source: Path, target: Path) -> Path:
    """The target, with the source's files in it; it may exist."""
    return Path(shutil.copytree(source, target, copy_function=copy_file, dirs_exist_ok=True))


def copy_file(source: str, target: str) -> str:
    """Like `shutil.copy2`, but what is a hole in the source stays one."""
    if not TELLS_HOLES:
        return str(shutil.copy2(source, target))
    with open(source, "rb") as read, open(target, "wb") as written:
        end = written.truncate(os.fstat(read.fileno()).st_size)
        at = _next_data(read.fileno(), 0, end)
        while at < end:
            hole = os.lseek(read.fileno(), at, os.SEEK_HOLE)
            read.seek(at)
            written.seek(at)
            written.write(read.read(hole - at))
            at = _next_data(read.fileno(), hole, end)
    shutil.copystat(source, target)
    return target


def _next_data(file: int, at: int, end: int) -> int:
    """Where the next bytes stand that are no hole; the end when there are none."""
    try:
        return os.lseek(file, at, os.SEEK_DATA) if at < end else end
    except OSError as error:
        if error.errno != errno.ENXIO:  # its word for: nothing but a hole from here
            raise
        return end
