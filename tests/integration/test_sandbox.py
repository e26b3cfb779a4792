import asyncio
import os
import pickle
import re
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from core.domain.read_limits import MEBIBYTE, ReadLimits
from storage.documents.child import HEADER_BYTES, ReadDocument, ReadFailure, ReadTask
from storage.documents.jail import PROTECTIONS
from storage.documents.sandbox import Sandbox, _exchange, find_protections
from tests.unit.storage.documents.fake_readers import HERE

LIMITS = ReadLimits(seconds=5, memory_bytes=400 * MEBIBYTE)


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    sandbox = Sandbox(LIMITS, HERE)
    yield sandbox
    await sandbox.close()


async def read(sandbox: Sandbox, folder: Path, name: str, text: str = "Some text.") -> ReadDocument | ReadFailure:
    path = folder / name
    path.write_text(text)
    return await sandbox.read(ReadTask(path=path, root=folder, workspace="local", document_id="d"))


async def reason(sandbox: Sandbox, folder: Path, name: str) -> str:
    result = await read(sandbox, folder, name)
    assert isinstance(result, ReadFailure)
    return result.reason


async def test_files_are_read_by_one_child_that_is_kept(sandbox: Sandbox, tmp_path: Path) -> None:
    first = await read(sandbox, tmp_path, "a.txt")
    child = sandbox._process
    second = await read(sandbox, tmp_path, "b.txt", "Other text.")

    assert isinstance(first, ReadDocument)
    assert isinstance(second, ReadDocument)
    assert second.passages[0].text == "Other text."
    assert sandbox._process is child


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.crash", "its reader crashed (SIGSEGV)"),
        ("a.abort", "its reader gave up (SIGABRT): broken, or reading it takes more than 400 MB"),
        ("a.leave", "its reader ended unexpectedly (exit code 3)"),
        ("a.greedy", "too large: reading it takes more than 400 MB of memory"),
        ("a.lie", "its reader gave an unusable result"),
        ("a.bug", "its reader failed (ValueError: surprise)"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="signals and memory limits as Linux has them")
async def test_a_file_that_harms_its_reader_is_reported_and_the_next_is_read(
    sandbox: Sandbox, tmp_path: Path, name: str, expected: str
) -> None:
    assert (await reason(sandbox, tmp_path, name)).startswith(expected)
    assert isinstance(await read(sandbox, tmp_path, "next.txt"), ReadDocument)


@pytest.mark.skipif(sys.platform != "linux", reason="memory limits as Linux has them")
async def test_memory_that_other_files_left_behind_costs_no_file(sandbox: Sandbox, tmp_path: Path) -> None:
    await read(sandbox, tmp_path, "a.hoard")
    result = await read(sandbox, tmp_path, "b.hungry")

    assert isinstance(result, ReadDocument)


async def test_a_file_that_waits_for_ever_is_stopped_by_the_clock(tmp_path: Path) -> None:
    sandbox = Sandbox(replace(LIMITS, wall_seconds=0.8), HERE)

    assert await reason(sandbox, tmp_path, "a.hang") == "took too long: reading it was stopped after 0.8 s"
    assert sandbox._process is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on processor time")
async def test_a_file_is_stopped_when_it_has_used_up_its_processor_time(tmp_path: Path) -> None:
    sandbox = Sandbox(ReadLimits(seconds=0.8), HERE)
    try:
        stopped = await reason(sandbox, tmp_path, "a.busy")
        ended = sandbox._process is None
        following = await read(sandbox, tmp_path, "next.txt")
    finally:
        await sandbox.close()

    assert stopped == "took too long: reading it was stopped after 0.8 s of processor time; split the file"
    assert ended
    assert isinstance(following, ReadDocument)


async def test_a_good_file_on_a_busy_machine_may_take_longer_by_the_clock(tmp_path: Path) -> None:
    sandbox = Sandbox(ReadLimits(seconds=2.0), HERE)
    try:
        result = await read(sandbox, tmp_path, "a.idle")
    finally:
        await sandbox.close()

    assert isinstance(result, ReadDocument)


async def test_a_child_may_ask_for_time_as_often_as_pages_may_be_recognised(tmp_path: Path) -> None:
    sandbox = Sandbox(replace(LIMITS, recognised_pages=4), HERE)
    try:
        result = await read(sandbox, tmp_path, "a.slow", "4")
        beyond = await read(sandbox, tmp_path, "b.slow", "9")
    finally:
        await sandbox.close()

    assert isinstance(result, ReadDocument)
    assert result.pages[0].text == "all of it"
    assert isinstance(beyond, ReadDocument)
    assert beyond.pages[0].text == "stopped after 4"


async def test_the_time_limit_begins_anew_when_the_child_asks_for_it(tmp_path: Path) -> None:
    async def serve(tasks: asyncio.StreamReader, replies: asyncio.StreamWriter) -> None:
        replies.write((0).to_bytes(HEADER_BYTES) + (4).to_bytes(HEADER_BYTES) + b"text")
        await replies.drain()
        replies.close()

    server = await asyncio.start_unix_server(serve, tmp_path / "child")
    async with server:
        stdout, stdin = await asyncio.open_unix_connection(tmp_path / "child")
        child = cast("asyncio.subprocess.Process", SimpleNamespace(stdin=stdin, stdout=stdout))
        task = ReadTask(path=tmp_path / "a.txt", root=tmp_path, workspace="local", document_id="d")
        async with asyncio.timeout(60) as deadline:
            message = await _exchange(child, task, replace(LIMITS, wall_seconds=900), deadline)
            left = (deadline.when() or 0) - asyncio.get_running_loop().time()
        stdin.close()

    assert message == b"text"
    assert 60 < left <= 900


async def test_a_child_that_asks_for_time_without_end_is_stopped(sandbox: Sandbox, tmp_path: Path) -> None:
    assert (await reason(sandbox, tmp_path, "a.beg")).startswith("its reader stopped answering (it asked for more time")
    assert sandbox._process is None


async def test_a_child_whose_parent_is_gone_ends_by_itself(sandbox: Sandbox, tmp_path: Path) -> None:
    await read(sandbox, tmp_path, "a.txt")
    child = sandbox._process
    assert child is not None
    assert child.stdin is not None

    child.stdin.close()

    assert await asyncio.wait_for(child.wait(), 60) == 0


async def test_a_cancelled_read_ends_the_child(sandbox: Sandbox, tmp_path: Path) -> None:
    reading = asyncio.create_task(read(sandbox, tmp_path, "a.hang"))
    async with asyncio.timeout(60):
        while (child := sandbox._process) is None:  # noqa: ASYNC110 - nobody tells that it has begun
            await asyncio.sleep(0.01)

    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading

    assert child.returncode is not None
    assert sandbox._process is None


async def test_the_child_sees_no_secret_of_its_parent(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_SECRET", "token")

    result = await read(sandbox, tmp_path, "a.env")

    assert isinstance(result, ReadDocument)
    assert result.pages[0].text == "secret=None"


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has the jail")
@pytest.mark.parametrize("attempt", ["tcp", "udp", "unix", "raw", "resolve", "program", "write", "delete", "signal"])
async def test_a_reader_reaches_no_network_no_program_and_no_file_to_change(
    sandbox: Sandbox, tmp_path: Path, attempt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "tmp"
    elsewhere.mkdir()
    monkeypatch.setenv("TMPDIR", str(elsewhere))  # the folder where the child may write
    path = tmp_path / "a.escape"

    path.write_text(attempt)
    result = await sandbox.read(ReadTask(path=path, root=tmp_path, workspace="local", document_id="d"))

    assert isinstance(result, ReadFailure)
    assert re.search("permi(ssion denied|tted)|name resolution", result.reason)
    assert path.read_text() == attempt
    assert not (tmp_path / "written").exists()
    assert isinstance(await read(sandbox, tmp_path, "next.txt"), ReadDocument)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has the jail")
async def test_the_jail_tells_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere, folder = tmp_path / "tmp", tmp_path / "data"
    elsewhere.mkdir()
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(elsewhere))

    assert await find_protections(folder) == set(PROTECTIONS)
    assert await find_protections(elsewhere) == {"no network", "no other programs"}
    assert not any(await asyncio.to_thread(os.listdir, folder))


async def test_a_reply_can_not_make_the_parent_run_anything(tmp_path: Path) -> None:
    from storage.documents.sandbox import _unpacked

    class Attack:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {tmp_path}/owned",)

    reply = _unpacked(pickle.dumps(Attack()))

    assert isinstance(reply.result, ReadFailure)
    assert "unusable result" in reply.result.reason
    assert reply.retire
    assert not (tmp_path / "owned").exists()


async def test_closing_twice_ends_the_child_and_the_next_file_gets_another(sandbox: Sandbox, tmp_path: Path) -> None:
    first = await read(sandbox, tmp_path, "a.txt")
    await sandbox.close()
    await sandbox.close()
    assert sandbox._process is None
    assert await read(sandbox, tmp_path, "a.txt") == first


async def test_a_reply_of_another_kind_is_unusable() -> None:
    from core.domain.passages import Span
    from storage.documents.sandbox import _unpacked

    result = _unpacked(pickle.dumps(Span(1, 2))).result

    assert isinstance(result, ReadFailure)
    assert result.reason == "its reader gave an unusable result"
