"""Reads foreign files and extracts their data in a child process that can be stopped.

A file that hangs, crashes its reader or fills the memory harms only itself. The child is started for the first file
(about 0.1 s with its imports), reused, and replaced after a failure that may have harmed it. Its environment holds only
the variables Python needs: tokens and keys stay with the parent.
"""

import asyncio
import io
import logging
import os
import pickle
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path
from typing import Any

from core.domain.corpus import Heading, Page, PagePlace
from core.domain.extracts import ExtractType, Found, Unread
from core.domain.passages import Passage, Span
from core.domain.read_limits import MEBIBYTE, ReadLimits
from storage.documents.child import (
    HEADER_BYTES,
    ExtractTask,
    FoundInDocument,
    ReadDocument,
    ReadFailure,
    ReadTask,
    Reply,
    Result,
    Task,
    steps_of,
)

# Functions that the child imports, as `module:function`.
READERS = "storage.documents.base:build_readers"
RECOGNISING_READERS = "storage.documents.base:build_recognising_readers"
EXTRACTORS = "storage.documents.extractors.base:build_extractors"
PLACES = "core.access.positions.places:places_of"
_START = "from storage.documents.child import main; main()"
_TRY_JAIL = "from storage.documents.jail import main; main()"
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH")
# All classes a reply may contain, so that unpickling can't run code sent by a subverted child.
_REPLY_CLASSES: dict[tuple[str, str], type] = {
    (cls.__module__, cls.__qualname__): cls
    for cls in (
        Reply, ReadDocument, ReadFailure, FoundInDocument, Page, PagePlace, Passage, Span, Heading, Found, Unread,
        ExtractType,
    )
}  # fmt: skip
# How native code aborts a process: by abort() or by an illegal instruction.
_ABORTED = frozenset({signal.SIGABRT, signal.SIGILL} | ({signal.SIGTRAP} if hasattr(signal, "SIGTRAP") else set()))
# The exit code of a child that has used up its processor time (see child.py); None on platforms without that limit.
_OUT_OF_TIME = -int(signal.SIGPROF) if hasattr(signal, "SIGPROF") else None
_TOO_LONG = "took too long: reading it was stopped after {:g} s of processor time; split the file"
_GAVE_UP = "its reader gave up ({}): broken, or reading it takes more than {:,} MB; raise [ingest] parse_memory_mb"
_UNUSABLE = ReadFailure(reason="its reader gave an unusable result")

log = logging.getLogger(__name__)


class Sandbox:
    """A lazily started child process that reads one file at a time. Not for concurrent use; `close` ends the child."""

    def __init__(self, limits: ReadLimits, readers: str = READERS, *, extractors: str = EXTRACTORS) -> None:
        """`readers` and `extractors` name the functions that build them."""
        self._limits = limits
        self._functions = (readers, extractors, PLACES)
        self._process: Process | None = None

    async def read(self, task: ReadTask) -> ReadDocument | ReadFailure:
        """Return the file's content or the reason for its failure; a file never makes it raise."""
        result = await self._run(task)
        return result if isinstance(result, ReadDocument | ReadFailure) else _UNUSABLE

    async def extract(self, task: ExtractTask) -> FoundInDocument | ReadFailure:
        """Return an extractor's findings or the reason for its failure; a document never makes it raise."""
        result = await self._run(task)
        return result if isinstance(result, FoundInDocument | ReadFailure) else _UNUSABLE

    async def _run(self, task: Task) -> Result:
        """Run a task; once more in a new child if memory ran out in one that had read other files before."""
        is_new = self._process is None
        result = await self._run_once(task)
        if is_new or not (isinstance(result, ReadFailure) and result.out_of_memory):
            return result
        await self.close()
        return await self._run_once(task)

    async def _run_once(self, task: Task) -> Result:
        process = await self._running()
        try:
            async with asyncio.timeout(self._limits.wall_seconds) as deadline:
                message = await _exchange(process, task, self._limits, deadline)
        except TimeoutError:
            await self.close()
            return ReadFailure(reason=f"took too long: reading it was stopped after {self._limits.wall_seconds:g} s")
        except (EOFError, ConnectionError) as error:
            return await self._failure_of_end(process, error)
        except asyncio.CancelledError:  # the child is in the middle of a file
            await self.close()
            raise
        reply = await asyncio.to_thread(_unpacked, message)
        if reply.retire:
            await self.close()
        if isinstance(reply.result, ReadFailure) and reply.result.trace:
            log.warning("Reading %s failed:\n%s", task.path, reply.result.trace)
        return reply.result

    async def close(self) -> None:
        """End the child; safe to repeat, and the next `read` starts another."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            process.kill()
        if process.stdin:
            process.stdin.close()
        await process.communicate()

    async def _running(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            await self.close()
            limits = pickle.dumps(self._limits).hex()
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", _START, limits, *self._functions,
                stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=_environment(),
            )  # fmt: skip
        return self._process

    async def _failure_of_end(self, process: Process, error: Exception) -> ReadFailure:
        """Return why the child ended in the middle of a file."""
        try:
            async with asyncio.timeout(1.0):  # its exit follows the end of its output
                code = await process.wait()
        except TimeoutError:
            code = None
        await self.close()
        if code is None:
            return ReadFailure(reason=f"its reader stopped answering ({error})")
        if code == _OUT_OF_TIME:
            return ReadFailure(reason=_TOO_LONG.format(self._limits.seconds))
        if -code in _ABORTED:  # PDFium and others end so when they get no more memory
            mebibytes = self._limits.memory_bytes // MEBIBYTE
            return ReadFailure(reason=_GAVE_UP.format(_signal_name(-code), mebibytes), out_of_memory=True)
        if code < 0:
            return ReadFailure(reason=f"its reader crashed ({_signal_name(-code)})")
        return ReadFailure(reason=f"its reader ended unexpectedly (exit code {code})")


async def find_protections(folder: Path) -> frozenset[str]:
    """Return the PROTECTIONS of the jail that hold on this system. `folder` is one that this user may change."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _TRY_JAIL, str(folder), stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, env=_environment()
    )
    written, _ = await process.communicate()
    return frozenset(written.decode("ascii", "replace").splitlines())


async def _exchange(process: Process, task: Task, limits: ReadLimits, deadline: asyncio.Timeout) -> bytes:
    """Return the reply; the time limit restarts at each deadline extension (see deadline.py).

    Raises EOFError (IncompleteReadError is one) or ConnectionError when the child ends.
    """
    if process.stdin is None or process.stdout is None:
        raise EOFError("no pipes")
    message = pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL)
    process.stdin.write(len(message).to_bytes(HEADER_BYTES) + message)
    await process.stdin.drain()
    for _ in range(steps_of(task, limits) + 1):
        size = int.from_bytes(await process.stdout.readexactly(HEADER_BYTES))
        if size > limits.result_bytes:
            raise EOFError("its result is larger than allowed")
        if size:
            return await process.stdout.readexactly(size)
        deadline.reschedule(asyncio.get_running_loop().time() + limits.wall_seconds)
    raise EOFError("it asked for more time than allowed")


class _ReplyUnpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if (module_name, global_name) in _REPLY_CLASSES:
            return _REPLY_CLASSES[module_name, global_name]
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is no part of a reply")


def _unpacked(message: bytes) -> Reply:
    try:
        reply = _ReplyUnpickler(io.BytesIO(message)).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, TypeError, ValueError, IndexError) as error:
        return Reply(result=ReadFailure(reason=f"its reader gave an unusable result ({error})"), retire=True)
    if isinstance(reply, Reply):
        return reply
    return Reply(result=_UNUSABLE, retire=True)


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    paths = [path for path in sys.path if path] or [os.getcwd()]
    return kept | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONUTF8": "1", "PYTHONHASHSEED": "0"}


def _signal_name(number: int) -> str:
    names = {member.value: member.name for member in signal.Signals}
    return names.get(number, f"signal {number}")
