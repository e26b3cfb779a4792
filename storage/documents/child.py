"""The child process that reads foreign files and extracts data: tasks on its input, results on its output.

Messages are pickles, each after its length as eight bytes; a length of 0 asks for more time. The process limits its own
memory and time, so that it ends even if the parent was killed. The parent detects and reports crashes and hangs.
"""

import importlib
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from core.domain.corpus import Page, ParsedDocument
from core.domain.extracts import ExtractorInput, Found, Unread
from core.domain.passages import Passage
from core.domain.read_limits import MEBIBYTE, ReadLimits
from core.errors import ReadError
from core.ports.documents import Extractor, Reader
from core.text.dates import find_date_in_name
from storage.documents.chunking import FindPlaces, chunk
from storage.documents.deadline import deadline_handler
from storage.documents.faults import is_memory
from storage.documents.files import why_unopened
from storage.documents.jail import enter_jail

HEADER_BYTES = 8
# Seconds over the limit by the clock after which the child ends itself, should the parent no longer be there to do it.
_GRACE_SECONDS = 10.0
# A child that has grown beyond this share of its memory limit is replaced after the file it reads.
_RETIRE_SHARE = 0.5
# Address space per byte of memory: libraries, stacks and allocators reserve addresses without using memory.
_ADDRESSES_PER_BYTE = 2
_TOO_MUCH_MEMORY = (
    "too large: reading it takes more than {:,} MB of memory; raise [ingest] parse_memory_mb, or split it"
)

FindReader = Callable[["ReadTask"], Reader]
ReadersBuilder = Callable[[], Sequence[Reader]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildParts:
    """The functions that the child works with."""

    find_reader: FindReader
    find_places: FindPlaces
    build_extractors: Callable[[], Sequence[Extractor]]  # called for the first extraction: its imports take time


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTask:
    """One file to read."""

    path: Path
    root: Path
    workspace: str
    document_id: str
    known_revision: str | None = None  # the stored one: when reading gives it again, no content is sent back
    kind: str | None = None  # of the reader to use, for any suffix; None: by suffix and content
    known_kind: str | None = None  # the stored document's, used if no reader has the suffix


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDocument:
    """A file's content, cut into passages. `pages` and `passages` are empty when the revision is the known one."""

    title: str
    kind: str
    revision: str
    pages: tuple[Page, ...]
    passages: tuple[Passage, ...]
    aliases: tuple[str, ...] = ()
    url: str | None = None
    depends_on: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    dated: str | None = None
    readers: frozenset[str] | None = None
    named_readers: tuple[frozenset[str], ...] = ()

    @property
    def characters(self) -> int:
        return sum(len(page.text) for page in self.pages)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFailure:
    """The reason why a file could not be read, and for a bug its trace for the log."""

    reason: str
    trace: str | None = None
    out_of_memory: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractTask:
    """One document for one extractor, by its name."""

    extractor: str
    given: ExtractorInput

    @property
    def path(self) -> str:
        """For the log."""
        return f"{self.given.document.path} ({self.extractor})"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundInDocument:
    """The findings of an extractor in text order, and the parts that its limits left out."""

    found: tuple[Found, ...]
    unread: tuple[Unread, ...] = ()


Result: TypeAlias = ReadDocument | FoundInDocument | ReadFailure
Task: TypeAlias = ReadTask | ExtractTask


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The child's answer to a task."""

    result: Result
    retire: bool = False  # start another child for the next file


def read_document(task: ReadTask, parts: ChildParts, limits: ReadLimits) -> ReadDocument:
    """Read and cut one file.

    Raises:
        ReadError: no reader takes it, its reader refused it, or it is beyond a limit.
        OSError: the file can't be opened.
    """
    parsed = parts.find_reader(task).read(task.path, task.root)
    characters = sum(len(page.text) for page in parsed.pages)
    if len(parsed.pages) > limits.pages:
        raise ReadError(f"too many pages: {len(parsed.pages):,}, at most {limits.pages:,} are read; split the file")
    if characters > limits.characters:
        raise ReadError(f"too long: {characters:,} characters, at most {limits.characters:,} are read; split the file")
    chunked = chunk(parsed, task.workspace, task.document_id, parts.find_places)
    known = chunked.revision == task.known_revision
    return ReadDocument(
        title=parsed.title,
        kind=parsed.kind,
        revision=chunked.revision,
        pages=() if known else chunked.pages,
        passages=() if known else chunked.passages,
        aliases=parsed.aliases,
        url=parsed.url,
        depends_on=parsed.depends_on,
        warnings=parsed.warnings,
        hidden=parsed.hidden,
        dated=date_of(parsed, task.path),
        readers=parsed.readers,
        named_readers=parsed.named_readers,
    )


def date_of(parsed: ParsedDocument, path: Path) -> str | None:
    """Return the day of a document: by its author, the name of its file, its title, its folder, or its program."""
    names = (find_date_in_name(name) for name in (path.stem, parsed.title, path.parent.name))
    named = next((found.iso() for found in names if found is not None), None)
    return parsed.dated or named or parsed.created


def find_extracts(task: ExtractTask, parts: ChildParts) -> FoundInDocument:
    """Run one extractor. Raises ReadError if no extractor has that name."""
    extractor = next((item for item in parts.build_extractors() if item.name == task.extractor), None)
    if extractor is None:
        raise ReadError(f"there is no extractor {task.extractor!r}")
    items = list(extractor.extract(task.given))
    return FoundInDocument(
        found=tuple(item for item in items if isinstance(item, Found)),
        unread=tuple(item for item in items if isinstance(item, Unread)),
    )


def answer(task: Task, parts: ChildParts, limits: ReadLimits) -> Reply:
    """Reply to a task; never raises, so that one bad file never stops a batch."""
    try:
        result = find_extracts(task, parts) if isinstance(task, ExtractTask) else read_document(task, parts, limits)
        return Reply(result=result, retire=_has_grown(limits))
    except ReadError as error:
        return Reply(result=ReadFailure(reason=str(error)), retire=_has_grown(limits))
    except RecursionError:
        return Reply(result=ReadFailure(reason="nested too deeply to be read"))
    except OSError as error:
        return Reply(result=ReadFailure(reason=why_unopened(error)))
    except Exception as error:  # the outermost frame: a bug in a reader is reported with its file
        if is_memory(error):
            mebibytes = limits.memory_bytes // MEBIBYTE
            failure = ReadFailure(reason=_TOO_MUCH_MEMORY.format(mebibytes), out_of_memory=True)
            return Reply(result=failure, retire=True)
        reason = f"its reader failed ({type(error).__name__}: {error})"
        return Reply(result=ReadFailure(reason=reason, trace=traceback.format_exc()))


def _has_grown(limits: ReadLimits) -> bool:
    return _peak_bytes() > limits.memory_bytes * _RETIRE_SHARE


def _peak_bytes() -> int:
    """Return the peak memory of this process, 0 if the platform doesn't report it.

    Linux: from /proc, because `ru_maxrss` of a new process starts at its parent's value.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        line = next((line for line in lines if line.startswith("VmHWM:")), "VmHWM: 0 kB")
        return int(line.split()[1]) * 1024
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return 0


def serve(tasks: BinaryIO, replies: BinaryIO, parts: ChildParts, limits: ReadLimits) -> None:
    """Answer tasks until their stream ends."""
    while len(header := tasks.read(HEADER_BYTES)) == HEADER_BYTES:
        task = cast("Task", pickle.loads(tasks.read(int.from_bytes(header))))  # nosec B301  # noqa: S301 - from the parent
        _set_alarms(limits)
        with deadline_handler(_asker(replies, steps_of(task, limits), limits)):
            message = _packed(answer(task, parts, limits), limits)
        replies.write(len(message).to_bytes(HEADER_BYTES) + message)
        replies.flush()
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)


def steps_of(task: Task, limits: ReadLimits) -> int:
    """Return how often a task may extend its time limit: once per page to recognise or to search for tables."""
    return limits.pages if isinstance(task, ExtractTask) else limits.recognised_pages


def _asker(replies: BinaryIO, left: int, limits: ReadLimits) -> Callable[[], bool]:
    """Return the handler of deadline extensions (see deadline.py): it tells the parent by an empty message."""

    def ask() -> bool:
        nonlocal left
        left -= 1
        if left < 0:
            return False
        _set_alarms(limits)
        replies.write((0).to_bytes(HEADER_BYTES))
        replies.flush()
        return True

    return ask


def _packed(reply: Reply, limits: ReadLimits) -> bytes:
    try:
        message = pickle.dumps(reply, protocol=pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        message = b""
    if message and len(message) <= limits.result_bytes:
        return message
    return pickle.dumps(
        Reply(
            result=ReadFailure(reason="too large: its text can't be stored in one piece; split the file"), retire=True
        )
    )


def _set_alarms(limits: ReadLimits) -> None:
    """Let the system end this process after so much processor time of all its threads, or so long by the clock."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, limits.seconds)
        signal.setitimer(signal.ITIMER_REAL, limits.wall_seconds + _GRACE_SECONDS)


def _limit_process(limits: ReadLimits) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent, which then ends its child
    if sys.platform == "win32":
        return
    import resource

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "darwin":
        addresses = limits.memory_bytes * _ADDRESSES_PER_BYTE
        resource.setrlimit(resource.RLIMIT_DATA, (limits.memory_bytes, limits.memory_bytes))
        resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the two pipes under new numbers, so that output of libraries can't mix with the messages."""
    tasks, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return tasks, replies


def reader_finder(build_readers: ReadersBuilder) -> FindReader:
    """Return a function that finds the reader for a task, or raises ReadError."""
    from storage.documents.base import (  # all readers: the parent, which imports this, needs none
        HEAD_BYTES,
        find_reader,
    )

    readers = build_readers()

    def find(task: ReadTask) -> Reader:
        with task.path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        return find_reader(task.path, head, readers, kind=task.kind, known_kind=task.known_kind)

    return find


def main() -> None:
    """Run the child. Its arguments: the limits, and functions as `module:function` (see Sandbox)."""
    tasks, replies = _private_streams()
    limits, *functions = sys.argv[1:]
    bounds = cast("ReadLimits", pickle.loads(bytes.fromhex(limits)))  # nosec B301  # noqa: S301 - from the parent
    _limit_process(bounds)
    enter_jail()
    readers, extractors, places = functions
    parts = ChildParts(
        find_reader=reader_finder(_imported(readers)),
        find_places=_imported(places),
        build_extractors=lambda: _imported(extractors)(),
    )
    serve(tasks, replies, parts, bounds)


def _imported(function: str) -> Any:
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)
