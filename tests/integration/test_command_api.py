"""Both ends of the commands' API, over a real Unix socket, with parts that behave as each test needs."""

import asyncio
import json
import os
import socket
import stat
import threading
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

import bot.service.command_server
from bot.service.calls import AnswerProgress, Caller, ServiceControls
from bot.service.command_client import RemoteOperations
from bot.service.command_server import CommandServer
from bot.service.local_operations import answer, retry_job
from bot.service.operations import IngestRequest, back_up, cancel_job, check_storage, ingest
from bot.service.operations import reindex as reindex_index
from bot.service.quality import read_page_text
from bot.service.service_lock import MAX_SOCKET_PATH_BYTES, ServiceInfo, ServiceLock, find_service, socket_path
from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.ingest_report import IngestProgress, IngestReport
from core.errors import Ambiguous, FootnoteError, InvalidState, NotFound, StorageError
from tests.builders import build_job

ADDRESS = ThreadAddress(platform="terminal", workspace="w", channel="cli", thread="t")
QUESTION = IncomingMessage(address=ADDRESS, author="ann", text="Why?", event_key="k")
ANSWER = Answer(status=AnswerStatus.ANSWERED, text="Because.")


class FakeMaintenance:
    """Counts a backup's size as it is asked to, fails on demand, or waits until it is cancelled."""

    def __init__(self) -> None:
        self.waiting = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.database = self  # the real one has it beside other maintenance

    async def back_up(self, target: Path) -> int:
        match target.name:
            case "missing":
                raise NotFound("There is no 'missing'.")
            case "ambiguous":
                raise Ambiguous("Several fit.", candidates=("a", "b"))
            case "bug":
                raise ZeroDivisionError("a bug")
            case "wait":
                self.waiting.set()
                try:
                    await asyncio.sleep(60)
                finally:
                    self.cancelled.set()
        return len(target.name)


class FakeSubmitter:
    """Answers retries; a question waits until it is cancelled, and notes whether its command asked for that."""

    def __init__(self) -> None:
        self.waiting = asyncio.Event()
        self.ended: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def ask(self, message: IncomingMessage, progress: Any, caller: Caller) -> Answer:
        progress.text("So far")
        progress.step(build_job("j1"))
        self.waiting.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.ended.set_result(caller.wants_stop)
            raise InvalidState("Your question is kept.") from None
        return ANSWER

    async def retry(self, job_id: str, workspace: str, progress: Any, caller: Caller) -> Answer:
        progress.reset()
        return ANSWER


class Place:
    """A server over fake parts, and the operations of a command that reaches it."""

    def __init__(self, path: Path) -> None:
        self.maintenance, self.submitter = FakeMaintenance(), FakeSubmitter()
        self.stopped: list[tuple[str, str]] = []
        self.cancelled: list[str] = []
        self.reports: list[IngestReport] = []
        jobs = SimpleNamespace(tree=self._tree, cancel=self._cancel)
        self.parts: Any = SimpleNamespace(
            maintenance=self.maintenance,
            ingests=SimpleNamespace(add=self._ingest),
            jobs=jobs,
            inbox_store=SimpleNamespace(find_open=self._find_open),
        )
        self.controls = ServiceControls(
            submitter=self.submitter,
            stop_answer=self._stop,
            count_ingest=self.reports.append,
            commands=cast(Any, None),
            new_web_link=cast(Any, None),
        )
        self.server = CommandServer(self.parts, self.controls, path)
        self.remote = RemoteOperations("w", ServiceInfo(pid=1, socket=str(path)))

    async def _ingest(self, paths: list[Path], workspace: str, *, progress: Any, **_: object) -> IngestReport:
        for done, path in enumerate(paths, start=1):
            progress(IngestProgress(done=done, total=len(paths), path=f"{workspace}:{path}"))
        return IngestReport(added=len(paths))

    async def _tree(self, job_id: str, workspace: str) -> list[Any]:
        return [build_job(job_id, input={"message_key": f"key of {job_id}"})]

    async def _cancel(self, job_id: str, workspace: str) -> list[Any]:
        self.cancelled.append(job_id)
        return []

    async def _find_open(self, key: str) -> list[Any]:
        return [SimpleNamespace(incoming=SimpleNamespace(author="ann"))] if key == "key of running" else []

    async def _stop(self, key: str, by: str) -> None:
        self.stopped.append((key, by))


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    place = Place(tmp_path / "c.sock")
    await place.server.open()
    yield place
    await place.remote.close()
    await place.server.close()


async def post(place: Place, name: str, body: object) -> httpx.Response:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(place.server.path))) as client:
        return await client.post(f"http://footnote/api/commands/{name}", content=data)


def envelope(request: object) -> Mapping[str, object]:
    return {"call": "1", "workspace": "w", "reader": "ann", "request": request}


async def test_calls_return_what_the_operation_returns(place: Place) -> None:
    sizes = await asyncio.gather(*(place.remote.call(back_up, Path("x" * n)) for n in range(1, 21)))

    assert sizes == [*range(1, 21)]


async def test_errors_keep_their_class_and_their_sentence(place: Place) -> None:
    with pytest.raises(NotFound, match="There is no 'missing'"):
        await place.remote.call(back_up, Path("missing"))
    with pytest.raises(Ambiguous, match="Several fit"):
        await place.remote.call(back_up, Path("ambiguous"))
    response = await post(place, "back_up", envelope("missing"))

    assert (response.status_code, response.json()["error"]["code"]) == (404, "NotFound")


async def test_a_bug_is_one_sentence_and_its_cause_is_logged(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(FootnoteError, match="Something went wrong in the Footnote service"):
        await place.remote.call(back_up, Path("bug"))

    assert "ZeroDivisionError" in caplog.text


async def test_progress_arrives_while_the_operation_runs(place: Place) -> None:
    seen: list[Any] = []
    request = IngestRequest(paths=[Path("/a"), Path("/odd/\udcff")])
    report = await place.remote.call(ingest, request, seen.append)

    assert report == IngestReport(added=2)
    assert [item.path for item in seen] == ["w:/a", "w:/odd/\udcff"]
    assert place.reports == [report]


async def test_a_command_that_stops_stops_the_operation(place: Place) -> None:
    call = asyncio.create_task(place.remote.call(back_up, Path("wait")))
    await place.maintenance.waiting.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert place.maintenance.cancelled.is_set()


async def test_a_service_that_stops_ends_its_calls_with_an_error(place: Place) -> None:
    call = asyncio.create_task(place.remote.call(back_up, Path("wait")))
    await place.maintenance.waiting.wait()
    await place.server.close()

    with pytest.raises(InvalidState, match="is stopping"):
        await call
    assert not place.server.path.exists()
    with pytest.raises(InvalidState, match="Can't reach the Footnote service"):
        await place.remote.call(back_up, Path("a"))


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("unknown", envelope("a")),
        ("back_up", envelope(3)),
        ("back_up", {"request": "a"}),
        ("back_up", ["a"]),
        ("back_up", b"{{"),
        ("back_up", b"\xff"),
    ],
)
async def test_a_request_of_another_version_is_a_clear_error(place: Place, name: str, body: object) -> None:
    response = await post(place, name, body)

    assert response.status_code == 409
    assert "another version" in response.json()["error"]["message"]


@pytest.mark.parametrize("sent", [b"", b"\x00", b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n"])
async def test_nonsense_on_the_socket_harms_no_other_command(place: Place, sent: bytes) -> None:
    _, writer = await asyncio.open_unix_connection(str(place.server.path))
    writer.write(sent)
    writer.close()
    await writer.wait_closed()

    assert await place.remote.call(back_up, Path("abc")) == 3


@pytest.mark.parametrize("body", ["not JSON", "[]", '{"result": "abc"}', '{"progress": 1}'])
async def test_a_response_of_another_version_is_a_clear_error(tmp_path: Path, body: str) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        kind = "application/x-ndjson" if "progress" in body else "application/json"
        return httpx.Response(200, text=body, headers={"Content-Type": kind})

    remote = RemoteOperations("w", ServiceInfo(pid=1, socket=str(tmp_path / "c.sock")))
    remote._client = httpx.AsyncClient(transport=httpx.MockTransport(respond), base_url="http://footnote")
    with pytest.raises(InvalidState, match="another version"):
        await remote.call(back_up, Path("a"))
    await remote.close()


async def test_an_error_of_a_newer_version_is_still_an_error(tmp_path: Path) -> None:
    error = {"error": {"code": "FromTheFuture", "message": "No."}}
    remote = RemoteOperations("w", ServiceInfo(pid=1, socket=str(tmp_path / "c.sock")))
    transport = httpx.MockTransport(lambda request: httpx.Response(500, json=error))
    remote._client = httpx.AsyncClient(transport=transport, base_url="http://footnote")
    with pytest.raises(FootnoteError, match=r"^No\.$"):
        await remote.call(check_storage, None)
    await remote.close()


async def test_a_service_that_dies_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "c.sock"
    server = await asyncio.start_unix_server(lambda reader, writer: writer.close(), path)
    remote = RemoteOperations("w", ServiceInfo(pid=1, socket=str(path)))
    with pytest.raises(InvalidState, match="ended before it answered"):
        await remote.call(read_page_text, "p")
    await remote.close()
    server.close()


async def test_only_the_owner_can_use_the_socket(place: Place) -> None:
    assert stat.S_IMODE(place.server.path.stat().st_mode) == 0o600


async def test_the_socket_of_a_dead_service_is_replaced(place: Place) -> None:
    again = CommandServer(place.parts, place.controls, place.server.path)
    await again.open()

    assert await place.remote.call(back_up, Path("abc")) == 3
    await again.close()


async def test_a_socket_that_can_not_be_made_is_a_clear_error(tmp_path: Path, place: Place) -> None:
    with pytest.raises(StorageError, match="Can't make the commands' socket"):
        await CommandServer(place.parts, place.controls, tmp_path / "no" / "c.sock").open()


async def test_the_index_is_not_rebuilt_from_scratch_under_a_running_service(place: Place) -> None:
    with pytest.raises(InvalidState, match="is using the search index"):
        await place.remote.call(reindex_index, True)


async def test_a_question_in_progress_is_stopped_by_the_worker_and_other_jobs_in_the_database(place: Place) -> None:
    await place.remote.call(cancel_job, "running")
    await place.remote.call(cancel_job, "left over")

    assert place.stopped == [("key of running", "ann")]
    assert place.cancelled == ["left over"]


async def test_ctrl_c_reaches_the_submitter_before_the_connection_ends(place: Place) -> None:
    seen: list[Any] = []
    call = asyncio.create_task(place.remote.call(answer, QUESTION, seen.append))
    await place.submitter.waiting.wait()
    while len(seen) < 2:  # noqa: ASYNC110 - it comes through the socket
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert await place.submitter.ended
    assert seen[0] == AnswerProgress(text="So far")
    assert seen[1].step.id == "j1"
    assert await place.remote.call(retry_job, "j1") == ANSWER


async def test_a_command_that_dies_is_not_a_stop(place: Place) -> None:
    _, writer = await asyncio.open_unix_connection(str(place.server.path))
    body = json.dumps(envelope(answer.request.dump(QUESTION))).encode()
    head = f"POST /api/commands/answer HTTP/1.1\r\nHost: footnote\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await place.submitter.waiting.wait()
    writer.close()

    assert await place.submitter.ended is False


async def test_a_service_that_stops_says_what_becomes_of_a_question(place: Place) -> None:
    call = asyncio.create_task(place.remote.call(answer, QUESTION))
    await place.submitter.waiting.wait()
    await place.server.close()

    with pytest.raises(InvalidState, match="Your question is kept"):
        await call


async def test_a_server_that_is_cancelled_while_it_opens_leaves_no_socket(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    binding, released = threading.Event(), threading.Event()
    bound: list[socket.socket] = []
    bind = bot.service.command_server._bind

    def slow(path: Path) -> socket.socket:
        binding.set()
        assert released.wait(30)
        bound.append(bind(path))
        return bound[0]

    monkeypatch.setattr(bot.service.command_server, "_bind", slow)
    server = CommandServer(place.parts, place.controls, tmp_path / "d.sock")
    opening = asyncio.create_task(server.open())
    await asyncio.to_thread(binding.wait, 30)
    opening.cancel()
    await asyncio.sleep(0)
    released.set()
    await asyncio.wait({opening})
    await server.close()

    assert [listening.fileno() for listening in bound] == [-1]
    assert not server.path.exists()


def test_a_data_directory_has_one_service_and_leftovers_of_a_dead_one_are_ignored(tmp_path: Path) -> None:
    assert find_service(tmp_path) is None
    first = ServiceLock(tmp_path / "data")
    first.acquire()
    starting = find_service(tmp_path / "data")
    assert starting == ServiceInfo(pid=os.getpid(), socket="")
    info = ServiceInfo(pid=7, socket="/s", url="http://127.0.0.1:1")
    first.announce(info)

    assert find_service(tmp_path / "data") == info
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
