"""Readers for tests of the child process: one for plain text, one for each way to go wrong."""

import ctypes
import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from core.domain.corpus import ParsedDocument, ParsedPage
from core.errors import ReadError
from storage.documents.deadline import extend_deadline

HERE = "tests.unit.storage.documents.fake_readers:build_fake_readers"


def _parsed(path: Path, text: str) -> ParsedDocument:
    pages = tuple(ParsedPage(title=path.stem, text=part) for part in text.split("\f"))
    lines = text.splitlines()
    embedded = tuple(line.removeprefix("embed: ") for line in lines if line.startswith("embed: "))
    warnings = tuple(line.removeprefix("warn: ") for line in lines if line.startswith("warn: "))
    return ParsedDocument(title=path.stem, kind="text", pages=pages, depends_on=embedded, warnings=warnings)


def _plain(path: Path) -> ParsedDocument:
    text = path.read_text()
    for line in text.splitlines():
        if line.startswith("embed: "):
            text += (path.parent / line.removeprefix("embed: ")).read_text()
    print("noise that must not get between the messages")  # noqa: T201
    return _parsed(path, text)


def _refused(path: Path) -> ParsedDocument:
    raise ReadError("it is of a version that is not read")


def _buggy(path: Path) -> ParsedDocument:
    raise ValueError("surprise")


def _hanging(path: Path) -> ParsedDocument:
    while True:
        time.sleep(1)


def _busy(path: Path) -> ParsedDocument:
    while True:
        pass


def _idle(path: Path) -> ParsedDocument:
    """Takes longer by the clock than its processor time allows."""
    time.sleep(2.2)
    return _parsed(path, "done")


def _greedy(path: Path) -> ParsedDocument:
    hoard = []
    while True:
        hoard.append(bytearray(16 * 1024 * 1024))


_KEPT: list[bytearray] = []


def _hoarding(path: Path) -> ParsedDocument:
    """Keeps memory for good, as the arena of an engine does."""
    _KEPT.append(bytearray(120 * 1024 * 1024))
    return _parsed(path, "kept")


def _hungry(path: Path) -> ParsedDocument:
    return _parsed(path, f"{len(bytearray(250 * 1024 * 1024)):,} bytes")


def _crashing(path: Path) -> ParsedDocument:
    ctypes.string_at(0)
    raise AssertionError("a null pointer was read")


def _aborting(path: Path) -> ParsedDocument:
    os.abort()


def _leaving(path: Path) -> ParsedDocument:
    os._exit(3)


def _recursing(path: Path) -> ParsedDocument:
    return _recursing(path)


def _huge(path: Path) -> ParsedDocument:
    return _parsed(path, "word " * 200_000)


def _long(path: Path) -> ParsedDocument:
    return _parsed(path, "\f".join(["page"] * 1000))


def _telling(path: Path) -> ParsedDocument:
    return _parsed(path, f"secret={os.environ.get('FOOTNOTE_SECRET')}")


def _lying(path: Path) -> ParsedDocument:
    os.write(4, (8).to_bytes(8) + b"nonsense")  # the reply pipe's number in the child
    return _parsed(path, "late")


def _patient(path: Path) -> ParsedDocument:
    """Asks for more time as often as the file says."""
    for asked in range(int(path.read_text())):
        if not extend_deadline():
            return _parsed(path, f"stopped after {asked}")
    return _parsed(path, "all of it")


def _begging(path: Path) -> ParsedDocument:
    while True:
        os.write(4, (0).to_bytes(8))  # the reply pipe's number in the child


def _breaking_out(path: Path) -> ParsedDocument:
    """Does what the file says, as the parser of a file that has subverted it would."""
    attempts: dict[str, Callable[[], object]] = {
        "tcp": lambda: socket.create_connection(("127.0.0.1", 9)),
        "udp": lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
        "unix": lambda: socket.socket(socket.AF_UNIX),
        "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW),
        "resolve": lambda: socket.getaddrinfo("localhost.localdomain", 80),
        "program": lambda: subprocess.run(["/bin/true"], check=True),
        "write": lambda: path.with_name("written").write_text("owned"),
        "delete": path.unlink,
        "signal": lambda: os.kill(os.getppid(), 0),
    }
    return _parsed(path, f"done: {attempts[path.read_text()]()}")


_READ: dict[str, Callable[[Path], ParsedDocument]] = {
    ".txt": _plain,
    ".md": _plain,
    ".refused": _refused,
    ".bug": _buggy,
    ".hang": _hanging,
    ".busy": _busy,
    ".idle": _idle,
    ".greedy": _greedy,
    ".hoard": _hoarding,
    ".hungry": _hungry,
    ".crash": _crashing,
    ".abort": _aborting,
    ".leave": _leaving,
    ".deep": _recursing,
    ".huge": _huge,
    ".long": _long,
    ".env": _telling,
    ".lie": _lying,
    ".slow": _patient,
    ".beg": _begging,
    ".escape": _breaking_out,
}


class FakeReader:
    kind = "text"
    expects = "text"
    suffixes = frozenset(_READ)

    def accepts(self, path: Path, head: bytes) -> bool:
        return b"\0" not in head

    def read(self, path: Path, root: Path) -> ParsedDocument:
        return _READ[path.suffix](path)


def build_fake_readers() -> tuple[FakeReader, ...]:
    return (FakeReader(),)
