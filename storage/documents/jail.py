"""The jail of the processes that parse foreign files: no network, no other programs, no changes to files.

A file may subvert its parser. On Linux two layers of the kernel hold it then, both without privileges and for good:
seccomp refuses the system calls, and Landlock refuses writing outside the temporary folder. Limits on time and memory
are set elsewhere (`child.py`). Other systems have no jail: `footnote doctor` says so.
"""

import ctypes
import errno
import os
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

# The audit number of each architecture, and the number of the system call `seccomp` there.
_ARCHITECTURES = {"x86_64": (0xC000003E, 317), "aarch64": (0xC00000B7, 277)}
# Refused system calls: their numbers on x86_64 and aarch64. They reach the network, other processes or the kernel's
# larger interfaces, or start programs.
_REFUSED = {
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "execve": (59, 221),
    "execveat": (322, 281),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "io_uring_setup": (425, 425),  # opens sockets without the calls above
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
}
_X32_CALLS = 0x40000000  # on x86_64, from here on: the same calls under other numbers
_LOAD, _EQUALS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # instructions of classic BPF
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_NO_NEW_PRIVILEGES = 38  # prctl
_FILTER_MODE, _ALL_THREADS = 1, 1  # seccomp

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all architectures
_VERSION, _BENEATH = 1, 1
# Rights of Landlock's first version: write a file; remove and make entries; execute.
_WRITE_FILE = 1 << 1
_WRITING = _WRITE_FILE | sum(1 << bit for bit in range(4, 13))
_EXECUTE = 1 << 0
_TRUNCATE, _MOVE = 1 << 14, 1 << 13  # since versions 3 and 2
_TCP = 0b11  # since version 4: bind and connect
_SIGNALS_AND_SOCKETS = 0b11  # since version 6: signals to other processes, abstract Unix sockets

PROTECTIONS = ("no network", "no other programs", "no files changed")


def enter_jail() -> None:
    """Put this process into the jail, as far as the system has one. It can't leave it."""
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _restrict_files(library)
    _refuse_calls(library)


def _restrict_files(library: ctypes.CDLL) -> None:
    version = library.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    if version < 1:  # an older kernel, or Landlock is off
        return
    writing = _WRITING | (_MOVE if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    network, scoped = (_TCP if version >= 4 else 0), (_SIGNALS_AND_SOCKETS if version >= 6 else 0)
    attributes = struct.pack("=QQQ", writing | _EXECUTE, network, scoped)
    ruleset = library.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return
    of_file = writing & (_WRITE_FILE | _TRUNCATE)
    for path, rights in ((tempfile.gettempdir(), writing), (os.devnull, of_file)):
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", rights, beneath)
        library.syscall(_ADD_RULE, ruleset, _BENEATH, rule, 0)
        os.close(beneath)
    library.syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _refuse_calls(library: ctypes.CDLL) -> None:
    machine = os.uname().machine
    if machine not in _ARCHITECTURES or sys.maxsize < 2**32:  # a 32-bit Python makes other calls
        return
    audited, seccomp = _ARCHITECTURES[machine]
    program = b"".join(_filter_of(audited, list(_ARCHITECTURES).index(machine)))
    kept = ctypes.create_string_buffer(program)
    length = len(program) // 8
    described = struct.pack("@HP", length, ctypes.addressof(kept))
    library.syscall(seccomp, _FILTER_MODE, _ALL_THREADS, described)


def _filter_of(audited: int, column: int) -> list[bytes]:
    """Return the instructions: calls of another architecture and the refused ones fail with EPERM."""
    numbers = [row[column] for row in _REFUSED.values()]
    checks = [(_AT_LEAST, _X32_CALLS), *((_EQUALS, number) for number in numbers)]
    steps = [_instruction(_LOAD, 4), _instruction(_EQUALS, audited, then=0, otherwise=len(checks) + 2)]
    steps.append(_instruction(_LOAD, 0))
    steps += [_instruction(code, value, then=len(checks) - place) for place, (code, value) in enumerate(checks)]
    return [*steps, _instruction(_RETURN, _ALLOW), _instruction(_RETURN, _REFUSE)]


def _instruction(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)


def main() -> None:
    """Enter the jail and print the protections that hold, by trying.

    Its argument: a folder that this user may change.
    """
    enter_jail()
    tried = dict(zip(PROTECTIONS, (_open_socket, _start_program, _write_file), strict=True))
    print("\n".join(name for name, attempt in tried.items() if _is_refused(attempt)))  # noqa: T201


def _is_refused(attempt: Callable[[], None]) -> bool:
    try:
        attempt()
    except OSError:
        return True
    return False


def _open_socket() -> None:
    socket.socket().close()


def _start_program() -> None:
    subprocess.run([sys.executable, "-c", ""], check=False)  # nosec B603  # its own interpreter, without input


def _write_file() -> None:
    path = Path(sys.argv[1]) / f".jail-{os.getpid()}"
    path.touch()
    path.unlink()
