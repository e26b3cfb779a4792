"""A service in this process: what it starts, what it refuses, and that it leaves nothing open."""

import asyncio
import os
import signal
import socket
import stat
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import ClientSession, CookieJar

import bot.runtime.signals
import bot.service.worker
from bot.config import WEB_KEY_FILE, Config
from bot.config.providers import WorkspaceConfig
from bot.config.sections import ServiceConfig, WebConfig
from bot.service.erasure import remove_abandoned
from bot.service.service import Entrance, Service, address_of, delete_unused, listen
from bot.service.service_lock import ServiceLock, find_service
from bot.service.worker import work_alone
from bot.web.links import link_key
from bot.wiring.parts import open_parts
from core.domain.incoming import ThreadAddress
from core.errors import ConfigError, FootnoteError, InvalidState, StorageError
from tests.builders import build_conversation


def config_for(data_dir: Path, port: int = 0) -> Config:
    return Config(data_dir=data_dir, web=WebConfig(port=port))


async def start(config: Config, *, examples: tuple[str, ...] = ()) -> tuple[Service, "asyncio.Task[None]", Entrance]:
    ready: asyncio.Future[Entrance] = asyncio.get_running_loop().create_future()
    service = Service(config, ready.set_result, examples)
    task = asyncio.create_task(service.run())
    done, _ = await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED, timeout=60)
    if task in done:
        task.result()
    return service, task, ready.result()


async def test_it_serves_from_start_to_stop_and_then_lets_everything_go(tmp_path: Path) -> None:
    config = config_for(tmp_path / "data")
    service, task, entrance = await start(config, examples=("Why?",))
    url = entrance.url
    notice = find_service(config.data_path)
    async with ClientSession() as client, client.get(f"{url}healthz") as reply:
        healthy = reply.status
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as client:  # unsafe: of an address without a name
        async with client.get(entrance.link) as reply:
            assert reply.status == 200
        async with client.get(f"{url}chat/home") as reply:
            home = await reply.json()
    service.stop()
    async with asyncio.timeout(60):
        await task

    assert notice is not None
    assert (notice.pid, notice.url) == (os.getpid(), url)
    assert healthy == 200
    assert home["examples"] == ["Why?"]
    assert find_service(config.data_path) is None
    assert not (config.data_path / "service.sock").exists()
    service, task, _ = await start(config)
    service.stop()
    await task


async def test_a_signal_stops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(bot.runtime.signals.os, "_exit", codes.append)
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(bot.runtime.signals, "SHUTDOWN_SECONDS", 0.0)
    _, task, _ = await start(config_for(tmp_path / "data"))
    os.kill(os.getpid(), signal.SIGTERM)
    async with asyncio.timeout(60):
        await task
    os.kill(os.getpid(), signal.SIGTERM)
    for number, handler in zip((signal.SIGTERM, signal.SIGINT), before, strict=True):
        signal.signal(number, handler)

    assert sorted(codes) == [0, 128 + signal.SIGTERM]  # its deadline of no seconds, and the second signal


async def test_a_second_service_is_refused_and_leaves_the_first_alone(tmp_path: Path) -> None:
    config = config_for(tmp_path / "data")
    service, task, entrance = await start(config)
    with pytest.raises(InvalidState, match="already runs"):
        await start(config)
    async with ClientSession() as client, client.get(f"{entrance.url}healthz") as reply:
        assert reply.status == 200
    service.stop()
    await task


async def test_a_taken_port_is_refused_and_everything_let_go(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        config = config_for(tmp_path / "data", other.getsockname()[1])
        with pytest.raises(InvalidState, match="Can't use port"):
            await start(config)
    lock = ServiceLock(config.data_path)
    lock.acquire()
    lock.release()


async def test_a_data_directory_that_can_not_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="data directory"):
        await start(config_for(tmp_path / "file" / "data"))


async def test_a_worker_that_breaks_ends_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready = asyncio.Event()

    async def broken(self: object) -> None:
        await ready.wait()
        raise FootnoteError("The worker broke.")

    monkeypatch.setattr(bot.service.worker.Worker, "run", broken)
    _, task, _ = await start(config_for(tmp_path / "data"))
    ready.set()

    with pytest.raises(FootnoteError, match="The worker broke"):
        await asyncio.wait_for(task, 60)


def test_an_unknown_host_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="isn't an address of this machine"):
        listen(WebConfig(host="not a host"))


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")])
def test_the_address_is_one_that_a_browser_here_can_open(host: str, shown: str) -> None:
    try:
        listening = listen(WebConfig(host=host, port=0))
    except InvalidState:
        assert host == "::1"  # a machine without IPv6
        return
    with listening:
        assert address_of(listening) == f"http://{shown}:{listening.getsockname()[1]}/"


def test_the_key_that_signs_links_is_made_once_for_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FOOTNOTE_WEB_KEY", raising=False)
    config = config_for(tmp_path)
    key = link_key(config)

    assert len(key) >= 32
    assert link_key(config) == key
    assert stat.S_IMODE((tmp_path / WEB_KEY_FILE).stat().st_mode) == 0o600
    monkeypatch.setenv("FOOTNOTE_WEB_KEY", "configured")
    assert link_key(config) == "configured"
    monkeypatch.delenv("FOOTNOTE_WEB_KEY")
    with pytest.raises(StorageError, match="key file"):
        link_key(config_for(tmp_path / "missing"))


async def test_a_service_that_nobody_could_answer_for_is_refused(tmp_path: Path) -> None:
    config = Config.model_validate({"data_dir": tmp_path, "web": {"port": 0}, "service": {"parallel": 0}})
    with pytest.raises(ConfigError, match="parallel = 0"):
        await start(config)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, "SQLite file is only for one"),
        ({"database": {"url": "postgresql://127.0.0.1:1/x"}}, r"Set \[index\] url"),
        (
            {
                "database": {"url": "postgresql://127.0.0.1:1/x"},
                "index": {"url": "http://127.0.0.1:1"},
                "service": {"parallel": 0},
            },
            "nothing to do",
        ),
        (
            {"database": {"url": "postgresql://127.0.0.1:1/x"}, "index": {"url": "http://127.0.0.1:1"}},
            "can't be reached",
        ),
        (
            {
                "database": {"url": "postgresql://127.0.0.1:1/x"},
                "index": {"url": "http://127.0.0.1:1"},
                "web": {"public_url": "https://notes.example"},
                "slack": {"client_id": "1.2"},
            },
            "posts to Discord or Slack link to pages of another process",
        ),
    ],
)
async def test_a_worker_with_nothing_to_share_is_refused_in_one_sentence(
    tmp_path: Path, settings: dict[str, object], reason: str
) -> None:
    config = Config.model_validate({"data_dir": tmp_path, **settings})
    with pytest.raises(FootnoteError, match=reason):
        await work_alone(config, lambda: None)


async def test_a_service_that_is_cancelled_while_it_waits_for_its_lock_lets_it_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_for(tmp_path / "data")
    before = ServiceLock(config.data_path)
    before.acquire()
    acquire, waits = ServiceLock.acquire, threading.Event()

    def begin_to_wait(lock: ServiceLock) -> None:
        waits.set()
        acquire(lock)

    monkeypatch.setattr(ServiceLock, "acquire", begin_to_wait)
    starting = asyncio.create_task(Service(config, lambda url: None).run())
    assert await asyncio.to_thread(waits.wait, 60)  # it waits in a thread, for a second at most
    starting.cancel()
    await asyncio.sleep(0)
    before.release()
    await asyncio.wait({starting})

    assert starting.cancelled()
    lock = ServiceLock(config.data_path)
    lock.acquire()
    lock.release()


async def test_a_workspace_keeps_conversations_as_long_as_it_says(tmp_path: Path) -> None:
    keeping = {"local": WorkspaceConfig(keep_days=30), "crew": WorkspaceConfig()}
    async with open_parts(Config(data_dir=tmp_path, workspaces=keeping)) as app:
        for workspace in ("local", "crew"):
            for days in (10, 40):
                used = app.clock.now() - timedelta(days=days)
                address = ThreadAddress(platform="web", workspace=workspace, channel="c", thread=str(days))
                talk = build_conversation(f"{workspace} {days}", address=address, last_message_at=used)
                await app.stores.conversations.add(talk)
        deleted = await delete_unused(app)
        left = [[item.id for item in await app.conversations.list_conversations(name)] for name in keeping]

    assert deleted == 1
    assert left == [["local 10"], ["crew 10", "crew 40"]]


@pytest.mark.parametrize(("days", "left"), [(None, ["111", "222", "333"]), (30, ["222", "333"])])
async def test_the_workspace_of_a_server_that_removed_the_bot_is_removed_if_so_configured(
    tmp_path: Path, days: int | None, left: list[str]
) -> None:
    config = Config(
        data_dir=tmp_path,
        service=ServiceConfig(forget_removed_days=days),
        workspaces={"discord-222": WorkspaceConfig()},  # the operator counts on it
    )
    async with open_parts(config) as app:
        for server, ago in (("111", 40), ("222", 40), ("333", 10)):
            before = app.clock.now() - timedelta(days=ago)
            address = ThreadAddress(platform="discord", workspace=f"discord-{server}", channel="c", thread="t")
            await app.stores.conversations.add(build_conversation(server, address=address, last_message_at=before))
            await app.stores.teams.record_connected("discord", {server: f"Server {server}"}, before)
            await app.stores.teams.record_connected("discord", {}, before)
        removed, again = await remove_abandoned(app), await remove_abandoned(app)
        kept = [
            item.id
            for name in ("discord-111", "discord-222", "discord-333")
            for item in await app.conversations.list_conversations(name)
        ]

    assert again == []
    assert [one.name for one in removed] == ["discord-111"] * (days is not None)
    assert kept == left
