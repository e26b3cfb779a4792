"""Several processes on one PostgreSQL database: configured by URL, and in each other's way only where they must be."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event

from bot.cli.app import run
from bot.cli.demo import _demo_settings
from bot.config import Config, load_config
from bot.service.doctor import examine_config
from bot.service.service import Service
from bot.wiring.parts import open_parts
from core.domain.incoming import IncomingMessage, ThreadAddress, event_key
from core.domain.ingest_report import ignore_progress
from core.domain.service import ACCEPTED
from core.errors import InvalidState, StorageError
from storage.database import Database
from storage.database import process_lock as lock_module
from storage.database.engines import build_engine
from storage.database.process_lock import process_lock
from storage.database.repositories.inbox import SqlInboxStore
from tests.fakes import RealClock
from tests.postgres import postgres_schema


@pytest.fixture
def postgres() -> Iterator[str]:
    with postgres_schema() as url:
        yield url


async def test_one_process_at_a_time_is_in_a_place_and_the_next_one_waits(postgres: str) -> None:
    seen: list[str] = []

    async def visit(name: str, place: str = "index") -> None:
        async with process_lock(postgres, place):
            seen.append(f"{name} in")
            await asyncio.sleep(0.1)
            seen.append(f"{name} out")

    await asyncio.gather(visit("a"), visit("b"))
    assert seen in (["a in", "a out", "b in", "b out"], ["b in", "b out", "a in", "a out"])
    async with process_lock(postgres, "index"):
        await visit("c", "another place")
        waiting = asyncio.create_task(visit("d"))
        await asyncio.sleep(0.2)
        waiting.cancel()
        await asyncio.wait({waiting})
    await visit("e")

    assert seen[4:] == ["c in", "c out", "e in", "e out"]


async def test_who_is_cancelled_while_connecting_leaves_no_connection_behind(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, name = build_engine(postgres)
    connecting, go_on = threading.Event(), threading.Event()
    taken: list[int] = []

    def hold(*_: object) -> None:
        taken.append(1)
        connecting.set()
        assert go_on.wait(30)

    event.listen(engine, "checkout", hold)
    event.listen(engine, "checkin", lambda *_: taken.append(-1))
    monkeypatch.setattr(lock_module, "build_engine", lambda _: (engine, name))

    async def visit() -> None:
        async with process_lock(postgres, "index"):
            raise AssertionError("nobody is let in")

    visiting = asyncio.create_task(visit())
    await asyncio.to_thread(connecting.wait, 30)
    visiting.cancel()
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.wait({visiting})

    assert visiting.cancelled()
    assert taken == [1, -1]


async def test_a_server_that_can_not_be_asked_for_a_place_is_a_clear_error() -> None:
    with pytest.raises(StorageError, match="can't be reached"):
        async with process_lock("postgresql://127.0.0.1:1/x", "index"):
            raise AssertionError("nobody is let in")


async def test_a_sqlite_file_needs_no_such_lock(tmp_path: Path) -> None:
    async with process_lock(tmp_path / "footnote.db", "index"), process_lock(tmp_path / "footnote.db", "index"):
        assert not (tmp_path / "footnote.db").exists()


async def test_an_app_with_a_url_works_on_postgresql_and_makes_no_file(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", postgres)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "kites.md").write_text("# Kites\n\nThe red kite of Ondar flies at noon.\n")
    async with open_parts(load_config(None, data_dir=tmp_path / "data")) as app:
        report = await app.ingests.add(
            [notes], app.workspace, source=None, kind="auto", force=False, progress=lambda _: None
        )
        await app.maintenance.reindex(ignore_progress)
        documents = await app.stores.corpus.list_documents("local")

    assert report.added == 1
    assert [document.path for document in documents] == ["kites.md"]
    assert app.config.is_shared
    assert not (tmp_path / "data" / "footnote.db").exists()


async def test_doctor_says_of_a_shared_database_what_it_needs(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", postgres)
    found = await examine_config(load_config(None, data_dir=tmp_path / "data"))
    checks = {check.name: check for check in found}

    assert checks["database"].ok
    assert "PostgreSQL" in checks["database"].detail
    assert "[index] url" in checks["index"].detail


@pytest.mark.parametrize(
    ("url", "fix"),
    [
        ("postgresql://ada:hunter2@127.0.0.1:1/x", "check that the server runs"),
        ("mysql://ada:hunter2@127.0.0.1/x", "give a postgresql:// URL"),
        ("hunter2", "write postgresql://"),
    ],
)
async def test_doctor_gives_the_fix_for_a_database_that_can_not_be_opened_and_keeps_its_password(
    url: str, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", url)
    (check,) = await examine_config(Config(data_dir=tmp_path))

    assert not check.ok
    assert fix in check.detail
    assert "hunter2" not in check.detail


def test_the_demo_never_goes_to_a_configured_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", "postgresql://127.0.0.1:1/x")
    configured = Config.model_validate({"data_dir": tmp_path, "index": {"url": "http://127.0.0.1:1"}})
    settings = _demo_settings(configured)

    assert (settings.database_url(), settings.index.url) == (None, None)
    assert settings.data_path == tmp_path / "demo"
    assert settings.agent == configured.agent


async def test_a_service_that_starts_leaves_what_others_are_answering(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", postgres)
    address = ThreadAddress(platform="web", workspace="local", channel="general", thread="t")
    message = IncomingMessage(address=address, author="ada", text="Where?", event_key=event_key(address, "1"))
    database = await Database.open(postgres)
    other = SqlInboxStore(database, RealClock())
    await other.accept(message, ACCEPTED)
    (held,) = await other.claim(1, ["web"])
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    settings = {"data_dir": tmp_path / "data", "web": {"port": 0}}
    service = Service(Config.model_validate(settings), ready.set_result)
    task = asyncio.create_task(service.run())
    await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED, timeout=60)
    still = await other.renew([held.seq])
    service.stop()
    await task
    found = await other.find(message.event_key)
    await database.close()

    assert ready.done()
    assert still == {held.seq: None}
    assert found is not None and found.attempts == 1


async def test_a_second_process_that_would_open_the_embedded_index_is_told_what_to_set(tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path)
    async with open_parts(config) as one, open_parts(config) as two:
        await one.index.count()
        with pytest.raises(StorageError, match=r"through a Qdrant server \(\[index\] url\)"):
            await two.index.count()


async def test_a_process_whose_own_index_lacks_the_shared_documents_is_refused(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", postgres)
    (tmp_path / "kites.md").write_text("# Kites\n\nThe red kite of Ondar flies at noon.\n")
    async with open_parts(load_config(None, data_dir=tmp_path / "one")) as app:
        await app.ingests.add(
            [tmp_path / "kites.md"], app.workspace, source="s", kind="auto", force=False, progress=lambda _: None
        )
    settings = {"data_dir": tmp_path / "two", "web": {"port": 0}}
    with pytest.raises(InvalidState, match=r"is empty. Set \[index\] url"):
        await Service(Config.model_validate(settings), lambda _: None).run()
    found = await examine_config(Config.model_validate(settings))
    checks = {check.name: check for check in found}

    assert not checks["index"].ok
    assert "footnote db reindex" in checks["index"].detail


def test_the_worker_command_on_a_sqlite_file_is_one_clear_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--data-dir", str(tmp_path), "worker"]) == 1
    said = capsys.readouterr().err

    assert said.startswith("footnote: `footnote worker` shares a database")
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
