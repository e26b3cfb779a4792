"""The lock of a data directory: one service at a time, and how to reach it.

<data directory>/service.lock      locked while a service runs; holds its ServiceInfo as JSON
<data directory>/service.sock      the commands' socket; in the runtime folder if this path is too long for a socket
"""

import hashlib
import json
import os
import stat
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import portalocker

from bot.runtime.data_directory import open_data_directory
from core.errors import InvalidState, StorageError

LOCK_FILE = "service.lock"
SOCKET_FILE = "service.sock"
# sockaddr_un holds 108 bytes on Linux and 104 on macOS and the BSDs, with a zero at the end.
MAX_SOCKET_PATH_BYTES = 103
# A command that looks for a service holds the lock for an instant: the service tries a little longer than that.
LOCK_WAIT_SECONDS = 1.0
LOCK_PAUSE_SECONDS = 0.02
OWNER_ONLY = 0o700


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceInfo:
    """A running service: its process and its addresses."""

    pid: int
    socket: str  # path of the commands' socket; "" while the service starts or stops
    url: str = ""  # of its web pages


class ServiceLock:
    """The lock of the one service of a data directory, held until `release` or the end of its process."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._handle: IO[str] | None = None

    def acquire(self) -> None:
        """Make the data directory if need be, and lock it.

        Raises InvalidState when another service has it, and StorageError when it can't be written.
        """
        try:
            open_data_directory(self._data_dir)
            handle = (self._data_dir / LOCK_FILE).open("a+", encoding="utf-8")
        except OSError as error:
            raise StorageError(
                f"Can't write to data directory {str(self._data_dir)!r} ({error.strerror}). Choose another one."
            ) from error
        deadline = time.monotonic() + LOCK_WAIT_SECONDS
        while not _try_lock(handle, portalocker.LOCK_EX):
            if time.monotonic() > deadline:
                handle.close()
                raise InvalidState(_already_running(self._data_dir))
            time.sleep(LOCK_PAUSE_SECONDS)
        self._handle = handle
        self.announce(ServiceInfo(pid=os.getpid(), socket=""))

    def announce(self, info: ServiceInfo) -> None:
        """Store how other processes reach this one."""
        if self._handle is None:
            raise RuntimeError("the lock is not held")
        self._handle.seek(0)
        self._handle.truncate()
        self._handle.write(json.dumps(asdict(info)))
        self._handle.flush()

    def release(self) -> None:
        """Let the next service in; safe to repeat."""
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.close()


def find_service(data_dir: Path) -> ServiceInfo | None:
    """Return the service that runs on a data directory now, or None. Ignores leftovers of a dead one."""
    try:
        with (data_dir / LOCK_FILE).open("r", encoding="utf-8") as handle:
            if _try_lock(handle, portalocker.LOCK_SH):
                return None
            return _read_info(handle)
    except OSError:  # no such file, or a file of another user
        return None


def _already_running(data_dir: Path) -> str:
    info = find_service(data_dir)
    owner = f" (process {info.pid}{f', {info.url}' if info.url else ''})" if info and info.pid else ""
    return (
        f"A Footnote service already runs on data directory {str(data_dir)!r}{owner}. Stop it first, "
        "or give this one its own --data-dir."
    )


def socket_path(data_dir: Path) -> Path:
    """Return where the socket of a data directory belongs. StorageError if others can use the runtime folder."""
    near = data_dir / SOCKET_FILE
    if len(os.fsencode(near)) <= MAX_SOCKET_PATH_BYTES:
        return near
    name = hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:16]
    return _runtime_folder() / f"{name}.sock"


def _runtime_folder() -> Path:
    """Return a folder with a short path that only this user can open."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(base) / "footnote" if base else Path(tempfile.gettempdir()) / f"footnote-{os.getuid()}"
    try:
        folder.mkdir(mode=OWNER_ONLY, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise StorageError(f"Can't make the runtime folder {str(folder)!r} ({error.strerror}).") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise StorageError(f"The runtime folder {str(folder)!r} can be used by others. Remove it and start again.")
    return folder


def _try_lock(handle: IO[str], kind: portalocker.LockFlags) -> bool:
    try:
        portalocker.lock(handle, kind | portalocker.LOCK_NB)
    except portalocker.LockException:
        return False
    return True


def _read_info(handle: IO[str]) -> ServiceInfo:
    try:
        match json.loads(handle.read()):
            case {"pid": int(pid), "socket": str(socket), "url": str(url)}:
                return ServiceInfo(pid=pid, socket=socket, url=url)
    except ValueError:  # read while it was written
        pass
    return ServiceInfo(pid=0, socket="")
