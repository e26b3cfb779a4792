"""Both ends of the control socket, over a real socket, with parts that do as they are told."""

import asyncio
import os
import socket
import stat
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import bot.control.server
from bot.config import Config
from bot.control.calls import Calls
from bot.control.client import RemoteApp
from bot.control.frames import PROTOCOL, frame_bytes, read_frame
from bot.control.server import ControlServer
from bot.control.service_lock import MAX_SOCKET_PATH_BYTES, Notice, ServiceLock, find_service, socket_path
from bot.control.submission import Caller
from core.domain.ingest_report import IngestProgress, IngestReport
from core.errors import FootnoteError, InvalidState, NotFound, StorageError
from tests.fakes import RecordingProgress


class FakeLibrary:
    """Finds what it is asked for, fails on demand, or waits until it is cancelled."""

    def __init__(self) -> None:
        self.waiting = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def search(self, query: str, scope: object) -> object:
        if query == "missing":
            raise NotFound("There is no 'missing'.")
        if query == "bug":
            raise ZeroDivisionError("a bug")
        if query == "wait":
            await self._wait()
        return (query, scope)

    async def _wait(self) -> None:
        self.waiting.set()
        try:
            await asyncio.sleep(60)
        finally:
            self.cancelled.set()

    async def forget(self) -> None:
        raise AssertionError("not in the table of calls")


async def ingest(paths: list[Path], *, progress: Any, workspace: str, **options: object) -> IngestReport:
    for done, path in enumerate(paths, start=1):
        progress(IngestProgress(done=done, total=len(paths), path=f"{workspace}:{path}"))
    return IngestReport(added=len(paths))


@pytest.fixture
async def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
async def server(library: FakeLibrary, tmp_path: Path) -> AsyncIterator[ControlServer]:
    app = SimpleNamespace(library=library, ingest=ingest)
    server = ControlServer(Calls(cast("Any", app)), tmp_path / "c.sock")
    await server.open()
    yield server
    await server.close()


@pytest.fixture
def remote(server: ControlServer) -> Any:
    return RemoteApp(Config(workspace="w"), Notice(pid=1, socket=str(server.path)))


async def test_a_call_gives_what_the_use_case_gives(remote: Any) -> None:
    results = await asyncio.gather(*(remote.library.search(f"q{n}", ("a", None)) for n in range(20)))

    assert results == [(f"q{n}", ("a", None)) for n in range(20)]


async def test_errors_of_the_use_case_are_raised_at_the_caller(remote: Any) -> None:
    with pytest.raises(NotFound, match="There is no 'missing'"):
        await remote.library.search("missing", None)


async def test_a_bug_is_told_in_one_sentence_and_logged_with_its_cause(
    remote: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(FootnoteError, match="should not happen"):
        await remote.library.search("bug", None)

    assert "ZeroDivisionError" in caplog.text


async def test_progress_is_told_while_the_call_runs(remote: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    told: list[IngestProgress] = []

    report = await remote.ingest([Path("a"), Path("/b")], source=None, kind="auto", force=False, progress=told.append)

    assert report == IngestReport(added=2)
    assert [item.path for item in told] == ["w:/a", "w:/b"]


async def test_a_caller_that_stops_stops_the_work(remote: Any, library: FakeLibrary) -> None:
    call = asyncio.create_task(remote.library.search("wait", None))
    await library.waiting.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert library.cancelled.is_set()


async def test_a_service_that_stops_says_so_to_its_callers(
    remote: Any, library: FakeLibrary, server: ControlServer
) -> None:
    call = asyncio.create_task(remote.library.search("wait", None))
    await library.waiting.wait()
    await server.close()

    with pytest.raises(InvalidState, match="is stopping"):
        await call
    assert not server.path.exists()
    with pytest.raises(InvalidState, match="can't be reached"):
        await remote.library.search("q", None)


@pytest.mark.parametrize(
    "request_",
    [
        {"protocol": PROTOCOL + 1, "call": "library.search", "arguments": ["q", None], "options": {}},
        {"protocol": PROTOCOL, "call": "library.forget", "arguments": [], "options": {}},
        {"protocol": PROTOCOL, "call": "library.__class__", "arguments": [], "options": {}},
        {"protocol": PROTOCOL, "call": "close", "arguments": [], "options": {}},
        {"protocol": PROTOCOL, "call": "library.search", "arguments": ["q"], "options": {}},
        {"protocol": PROTOCOL, "call": "library.search"},
        {"protocol": PROTOCOL, "call": "library.search", "arguments": [{"$": "os:X", "fields": {}}], "options": {}},
    ],
)
async def test_a_call_of_another_version_gets_a_clear_error(server: ControlServer, request_: dict[str, Any]) -> None:
    reader, writer = await asyncio.open_unix_connection(str(server.path))
    writer.write(frame_bytes(request_))
    frame = await read_frame(reader)
    writer.close()

    assert frame is not None
    assert "another version" in frame["error"]["message"]


@pytest.mark.parametrize("sent", [b"", b"\x00", b"\xff\xff\xff\xff", b"\x00\x00\x00\x02[]", b"\x00\x00\x00\x02{{"])
async def test_nonsense_on_the_socket_harms_nobody(server: ControlServer, remote: Any, sent: bytes) -> None:
    _, writer = await asyncio.open_unix_connection(str(server.path))
    writer.write(sent)
    writer.close()
    await writer.wait_closed()

    assert await remote.library.search("q", None) == ("q", None)


async def test_the_socket_is_its_owners_alone(server: ControlServer) -> None:
    assert stat.S_IMODE(server.path.stat().st_mode) == 0o600


async def test_the_socket_of_a_dead_service_is_replaced(server: ControlServer, library: FakeLibrary) -> None:
    again = ControlServer(Calls(cast("Any", SimpleNamespace(library=library))), server.path)
    await again.open()

    remote: Any = RemoteApp(Config(), Notice(pid=1, socket=str(again.path)))
    assert await remote.library.search("q", None) == ("q", None)
    await again.close()


async def test_a_socket_that_can_not_be_made_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="control socket"):
        await ControlServer(Calls(cast("Any", None)), tmp_path / "no" / "c.sock").open()


def test_one_service_a_data_directory_and_what_a_dead_one_left_is_ignored(tmp_path: Path) -> None:
    assert find_service(tmp_path) is None
    first = ServiceLock(tmp_path / "data")
    first.acquire()
    starting = find_service(tmp_path / "data")
    assert starting == Notice(pid=os.getpid(), socket="")
    notice = Notice(pid=7, socket="/s", url="http://127.0.0.1:1")
    first.announce(notice)

    assert find_service(tmp_path / "data") == notice
    with pytest.raises(InvalidState, match=r"already runs .*process 7, http://127\.0\.0\.1:1"):
        ServiceLock(tmp_path / "data").acquire()
    first.release()
    assert find_service(tmp_path / "data") is None
    first.acquire()
    first.release()


def test_a_long_data_directory_has_its_socket_in_the_runtime_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp")
    long = tmp_path / ("d" * 120)

    path = socket_path(long)

    assert len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES
    assert path != socket_path(long / "e")
    assert socket_path(Path("/short")) == Path("/short/service.sock")


def test_a_runtime_folder_that_others_can_use_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "footnote").mkdir()
    (tmp_path / "footnote").chmod(0o777)

    with pytest.raises(StorageError, match="used by others"):
        socket_path(tmp_path / ("d" * 120))


class FakeJobs:
    """One tree; remembers what was cancelled in the stored tree alone."""

    def __init__(self) -> None:
        self.cancelled: list[str] = []

    async def tree(self, job_id: str, workspace: str) -> list[Any]:
        return [SimpleNamespace(id=job_id, input={"message_key": f"key of {job_id}"})]

    async def cancel(self, job_id: str, workspace: str) -> list[Any]:
        self.cancelled.append(job_id)
        return []


class FakeEntries:
    async def find_open(self, key: str) -> list[Any]:
        return [SimpleNamespace(incoming=SimpleNamespace(author="ann"))] if key == "key of running" else []


async def test_a_job_that_the_worker_has_in_hand_is_stopped_there() -> None:
    jobs, stopped = FakeJobs(), []

    async def stop(key: str, by: str) -> None:
        stopped.append((key, by))

    app = SimpleNamespace(jobs=jobs, inbox_store=FakeEntries())
    calls = Calls(cast("Any", app), stop=stop)
    await calls.run("jobs.cancel", ["running", "w"], {}, Caller())
    await calls.run("jobs.cancel", ["left over", "w"], {}, Caller())

    assert stopped == [("key of running", "ann")]
    assert jobs.cancelled == ["left over"]


class FakeAsking:
    """Waits until the call is cancelled, and notes whether its caller had asked for that."""

    def __init__(self) -> None:
        self.waiting = asyncio.Event()
        self.ended: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def ask(self, message: object, progress: Any, caller: Caller) -> object:
        progress.text("So far")
        self.waiting.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.ended.set_result(caller.wants_stop)
            raise InvalidState("The question is kept.") from None
        return message

    async def again(self, job_id: str, workspace: str, progress: Any, caller: Caller) -> object:
        return f"{job_id} of {workspace} again"


@pytest.fixture
async def asking(tmp_path: Path) -> AsyncIterator[tuple[FakeAsking, ControlServer]]:
    asking = FakeAsking()
    server = ControlServer(Calls(cast("Any", SimpleNamespace()), asking=cast("Any", asking)), tmp_path / "a.sock")
    await server.open()
    yield asking, server
    await server.close()


async def test_a_command_that_stops_says_so_before_it_goes(asking: tuple[FakeAsking, ControlServer]) -> None:
    service, server = asking
    remote: Any = RemoteApp(Config(workspace="w"), Notice(pid=1, socket=str(server.path)))
    progress = RecordingProgress()
    call = asyncio.create_task(remote.answers.answer("q", progress))
    await service.waiting.wait()
    while not progress.shown:  # noqa: ASYNC110 - it comes through the socket
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert await service.ended
    assert progress.shown == "So far"
    assert await remote.jobs.retry("j1", "w", progress) == "j1 of w again"


async def test_a_command_that_dies_says_nothing(asking: tuple[FakeAsking, ControlServer]) -> None:
    service, server = asking
    _, writer = await asyncio.open_unix_connection(str(server.path))
    arguments = ["q", {"$": "progress"}]
    writer.write(frame_bytes({"protocol": PROTOCOL, "call": "answers.answer", "arguments": arguments, "options": {}}))
    await service.waiting.wait()
    writer.close()

    assert await service.ended is False


async def test_a_service_that_stops_tells_what_becomes_of_a_question(asking: tuple[FakeAsking, ControlServer]) -> None:
    service, server = asking
    remote: Any = RemoteApp(Config(workspace="w"), Notice(pid=1, socket=str(server.path)))
    call = asyncio.create_task(remote.answers.answer("q", RecordingProgress()))
    await service.waiting.wait()
    await server.close()

    with pytest.raises(InvalidState, match="The question is kept"):
        await call


async def test_a_server_that_is_cancelled_while_it_opens_leaves_no_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binding, go_on = threading.Event(), threading.Event()
    bound: list[socket.socket] = []
    bind = bot.control.server._bind

    def slow(path: Path) -> socket.socket:
        binding.set()
        assert go_on.wait(30)
        bound.append(bind(path))
        return bound[0]

    monkeypatch.setattr(bot.control.server, "_bind", slow)
    server = ControlServer(Calls(cast("Any", None)), tmp_path / "c.sock")
    opening = asyncio.create_task(server.open())
    await asyncio.to_thread(binding.wait, 30)
    opening.cancel()
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.wait({opening})
    await server.close()

    assert [listening.fileno() for listening in bound] == [-1]
    assert not server.path.exists()
