"""The SQL database on disk: transactions, constraints, and every failure as one sentence."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, bindparam, insert, select, text, update
from sqlalchemy.exc import IntegrityError, OperationalError

from core.errors import StorageError
from storage.database import Commit, Database, engines
from storage.database.engines import to_storage_error
from storage.database.tables import ConversationRow, DocumentRow, JobRow, MessageRow, PageRow, PassageRow, SourceRow
from tests.builders import NOON
from tests.waiting import until


@pytest.fixture
async def database(tmp_path: Path):
    opened = await Database.open(tmp_path / "data" / "footnote.db")
    yield opened
    await opened.close()


def add_source(connection: Connection, id: str = "s1") -> None:
    values = {"id": id, "workspace": "local", "name": id, "kind": "folder", "location": "/"}
    connection.execute(insert(SourceRow), values)


def count_sources(connection: Connection) -> int:
    return connection.execute(text("SELECT count(*) FROM source")).scalar_one()


async def test_a_write_is_committed_when_it_returns(database):
    await database.write(add_source)
    assert await database.read(count_sources) == 1


async def test_a_write_that_raises_is_undone_whole(database):
    def work(connection: Connection) -> None:
        add_source(connection)
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        await database.write(work)
    assert await database.read(count_sources) == 0


async def test_all_queries_of_a_read_see_one_state(database):
    loop = asyncio.get_running_loop()

    def work(connection: Connection) -> tuple[int, int]:
        before = count_sources(connection)
        asyncio.run_coroutine_threadsafe(database.write(add_source), loop).result(timeout=60)
        return before, count_sources(connection)

    assert await database.read(work) == (0, 0)
    assert await database.read(count_sources) == 1


async def test_writes_of_many_tasks_are_done_one_after_another(database):
    await asyncio.gather(*(database.write(lambda connection, n=n: add_source(connection, f"s{n}")) for n in range(50)))
    assert await database.read(count_sources) == 50


async def test_sqlite_runs_with_the_settings_that_were_chosen(database):
    def settings(connection: Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return [connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in names]

    assert await database.read(settings) == ["wal", 1, 1, 15_000]
    assert await database.write(settings) == ["wal", 1, 1, 15_000]


async def test_a_durable_write_waits_for_the_disk_and_the_next_one_does_not(database):
    def how(connection: Connection) -> object:
        return connection.execute(text("PRAGMA synchronous")).scalar_one()

    assert [
        await database.write(how, Commit.DURABLE if durable else Commit.NORMAL) for durable in (True, True, False, True)
    ] == [2, 2, 1, 2]


SOURCE = {"id": "s", "workspace": "w", "name": "n", "kind": "folder", "location": "/"}
DOCUMENT = {"id": "d", "source_id": "s", "path": "p", "title": "", "kind": "text", "revision": "r"}
DOCUMENT |= {"aliases": [], "depends_on": []}
PAGE = {"id": "p", "document_id": "d", "revision": "r", "number": 1, "title": "", "text": "é𝔘x"}
PAGE |= {"heading_path": [], "headings": [], "anchors": []}
PASSAGE = {"id": "x", "page_id": "p", "ordinal": 0, "span_start": 1, "span_end": 3, "text": "𝔘x"}
PASSAGE |= {"heading_path": [], "sentences": []}
CONVERSATION = {"id": "c", "platform": "web", "workspace": "w", "channel": "", "thread": "", "title": "", "owner": ""}
CONVERSATION |= {"created_at": NOON, "last_message_at": NOON, "focus_sections": []}
MESSAGE = {"id": "m", "conversation_id": "c", "sequence": 1, "role": "user", "author": "", "content": ""}
MESSAGE |= {"created_at": NOON, "references": [], "citations": [], "tool_calls": []}
JOB = {"id": "j", "workspace": "w", "root_id": "j", "kind": "tool", "name": "", "status": "done", "created_at": NOON}
JOB |= {"input": {}, "output": {}}
VALID = [
    (SourceRow, SOURCE),
    (DocumentRow, DOCUMENT),
    (PageRow, PAGE),
    (PassageRow, PASSAGE),
    (ConversationRow, CONVERSATION),
    (MessageRow, MESSAGE),
    (JobRow, JOB),
]


def add_valid(connection: Connection) -> None:
    for row, values in VALID:
        connection.execute(insert(row), row(**values).model_dump())


@pytest.mark.parametrize(
    ("row", "change"),
    [
        (DocumentRow, {"pages": -1}),
        (DocumentRow, {"revision": None, "pages": 1}),
        (DocumentRow, {"stamp_size": 3}),
        (DocumentRow, {"stamp_size": -3, "stamp_modified_ns": 1}),
        (DocumentRow, {"source_id": "unknown"}),
        (PageRow, {"number": 0}),
        (PageRow, {"document_id": "unknown"}),
        (PassageRow, {"ordinal": -1}),
        (PassageRow, {"span_start": -1, "span_end": 1}),
        (PassageRow, {"span_start": 3, "span_end": 1}),
        (PassageRow, {"span_end": 5}),
        (ConversationRow, {"message_count": -1}),
        (ConversationRow, {"focus_document_id": "d"}),
        (MessageRow, {"role": "system"}),
        (MessageRow, {"status": "fine"}),
        (MessageRow, {"sequence": 0}),
        (JobRow, {"kind": "dance"}),
        (JobRow, {"status": "lost"}),
        (JobRow, {"attempts": -1}),
        (JobRow, {"parent_id": "j0"}),
        (JobRow, {"root_id": "j0"}),
    ],
)
async def test_the_database_itself_refuses_what_cannot_be(database, row, change):
    await database.write(add_valid)
    with pytest.raises(StorageError, match=r"(CHECK|FOREIGN KEY) constraint failed"):
        await database.write(lambda connection: connection.execute(update(row).values(change)))


async def test_valid_rows_are_taken_and_go_with_what_they_belong_to(database):
    await database.write(add_valid)
    await database.write(lambda connection: connection.execute(text("DELETE FROM source")))
    await database.write(lambda connection: connection.execute(text("DELETE FROM conversation")))

    def left(connection: Connection) -> list[int]:
        tables = ("document", "page", "passage", "message", "job")
        return [connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() for table in tables]

    assert await database.read(left) == [0, 0, 0, 0, 1]


async def test_a_closed_database_says_so_and_may_be_closed_again(database):
    await database.close()
    await database.close()
    with pytest.raises(StorageError, match="is closed"):
        await database.read(count_sources)


async def test_closing_finishes_the_writes_in_hand(tmp_path):
    opened = await Database.open(tmp_path / "footnote.db")
    write = asyncio.create_task(opened.write(add_source))
    await asyncio.sleep(0)
    await opened.close()
    await write
    again = await Database.open(tmp_path / "footnote.db")
    assert await again.read(count_sources) == 1
    await again.close()


ADD_SOURCE = insert(SourceRow).values(
    id=bindparam("new"), name=bindparam("new"), workspace="local", kind="folder", location="/"
)


async def test_rows_that_nobody_waits_for_are_there_for_the_next_reader(database):
    database.write_later(ADD_SOURCE, {"new": "s1"})
    database.write_later(ADD_SOURCE, {"new": "s2"})
    assert await database.read(count_sources) == 2


async def test_rows_that_nobody_waits_for_come_before_the_next_write(database):
    database.write_later(ADD_SOURCE, {"new": "s1"})
    assert await database.write(count_sources) == 1


async def test_rows_that_nobody_waits_for_are_stored_without_any_other_work(database, tmp_path):
    database.write_later(ADD_SOURCE, {"new": "s1"})

    async def are_stored() -> bool:
        with closing(sqlite3.connect(tmp_path / "data" / "footnote.db")) as other:
            return other.execute("SELECT count(*) FROM source").fetchone() == (1,)

    assert await until(are_stored)


async def test_closing_stores_the_rows_that_nobody_waits_for(tmp_path):
    database = await Database.open(tmp_path / "footnote.db")
    database.write_later(ADD_SOURCE, {"new": "s1"})
    await database.close()
    reopened = await Database.open(tmp_path / "footnote.db")
    assert await reopened.read(count_sources) == 1
    await reopened.close()


async def test_rows_that_cannot_be_stored_hinder_no_other_work(database, caplog):
    await database.write(add_source)
    database.write_later(ADD_SOURCE, {"new": "s1"})  # there already
    await database.write(lambda connection: add_source(connection, "s2"))
    assert await database.read(count_sources) == 2
    assert "1 rows that could wait were not saved" in caplog.text


async def test_rows_in_memory_are_never_older_than_a_write_of_this_process(database):
    query, of = select(SourceRow.id).where(SourceRow.workspace == bindparam("of")), {"of": "local"}
    assert await database.rows_lately(query, of) == []
    await database.write(add_source)
    assert [row.id for row in await database.rows_lately(query, of)] == ["s1"]
    read = asyncio.create_task(database.rows_lately(query, of))
    await database.write(lambda connection: add_source(connection, "s2"))
    await read
    assert [row.id for row in await database.rows_lately(query, of)] == ["s1", "s2"]


async def test_a_cancelled_caller_does_not_undo_its_write(database):
    begun, cancelled = threading.Event(), threading.Event()

    def work(connection: Connection) -> None:
        begun.set()
        cancelled.wait()
        add_source(connection)

    write = asyncio.create_task(database.write(work))
    await asyncio.to_thread(begun.wait)
    write.cancel()
    with pytest.raises(asyncio.CancelledError):
        await write
    cancelled.set()
    await database.write(lambda connection: None)
    assert await database.read(count_sources) == 1


async def test_a_file_that_is_no_database_is_one_clear_error(tmp_path):
    path = tmp_path / "footnote.db"
    path.write_bytes(b"These are somebody's notes, not a database. " * 100)
    with pytest.raises(StorageError, match=r"footnote\.db is not a Footnote database; move the file away"):
        await Database.open(path)
    assert path.read_bytes().startswith(b"These are")


async def test_a_folder_in_the_file_s_place_is_one_clear_error(tmp_path):
    (tmp_path / "footnote.db").mkdir()
    with pytest.raises(StorageError, match="can't be opened; check that its folder"):
        await Database.open(tmp_path / "footnote.db")


async def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"The folder .*file/data can't be created \(Not a directory\)"):
        await Database.open(tmp_path / "file" / "data" / "footnote.db")


async def test_a_full_disk_is_one_clear_error_and_undoes_the_write(database):
    def fill(connection: Connection) -> None:
        connection.execute(text("PRAGMA max_page_count = 60"))
        for number in range(1000):
            add_source(connection, f"s{number}" * 100)

    with pytest.raises(StorageError, match=r"the disk is full; free some space"):
        await database.write(fill)
    assert await database.read(count_sources) == 0


async def test_a_database_locked_for_too_long_is_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "BUSY_TIMEOUT_SECONDS", 0.05)
    opened = await Database.open(tmp_path / "footnote.db")
    other = sqlite3.connect(tmp_path / "footnote.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="has been locked by another process"):
        await opened.write(add_source)
    assert await opened.read(count_sources) == 0
    other.close()
    await opened.write(add_source)
    await opened.close()


def hold(path: Path) -> sqlite3.Connection:
    """Another process in the middle of making the file."""
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    return other


async def test_opening_waits_for_another_process_that_makes_the_file(tmp_path):
    other = hold(tmp_path / "footnote.db")
    asyncio.get_running_loop().call_later(0.2, other.close)
    opened = await Database.open(tmp_path / "footnote.db")
    assert await opened.read(count_sources) == 0
    await opened.close()


async def test_opening_waits_no_longer_than_for_a_write(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "BUSY_TIMEOUT_SECONDS", 0.05)
    other = hold(tmp_path / "footnote.db")
    with pytest.raises(StorageError, match="has been locked by another process"):
        await Database.open(tmp_path / "footnote.db")
    other.close()


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("mysql://host/name", "No database of kind 'mysql'"),
        ("not a url", "can't be read; write postgresql://"),
        ("postgresql://user:hunter2@127.0.0.1:1/name", r"postgresql://user:\*\*\*@127.0.0.1:1/name .*refused"),
        ("postgresql://user@127.0.0.1:1/name?password=hunter2", "can't be reached .* check that the server runs"),
    ],
)
async def test_a_url_that_leads_nowhere_is_one_clear_error_without_its_password(location, reason):
    with pytest.raises(StorageError, match=reason) as caught:
        await Database.open(location)
    assert "hunter2" not in str(caught.value)


async def test_a_missing_postgres_driver_says_how_to_install_it(monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("No module named 'psycopg'")

    monkeypatch.setattr(engines, "create_engine", fail)
    with pytest.raises(StorageError, match=r"pip install 'footnote\[postgres\]'"):
        await Database.open("postgresql://host/name")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            OperationalError("", None, psycopg.OperationalError("server closed\nthe connection")),
            "x can't be reached (server closed); check that the server runs, its URL and its password",
        ),
        (IntegrityError("", None, psycopg.IntegrityError("")), "x refused: IntegrityError"),
    ],
)
def test_other_errors_of_a_driver_become_one_line(error, sentence):
    assert str(to_storage_error(error, "x")) == f"The database {sentence}"


async def test_a_close_that_is_cancelled_still_releases_everything(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "footnote.db")
    reading, go_on = threading.Event(), threading.Event()

    def read(connection: object) -> None:
        reading.set()
        assert go_on.wait(30)

    under_way = asyncio.create_task(database.read(read))
    await asyncio.to_thread(reading.wait, 30)
    closing = asyncio.create_task(database.close())
    await asyncio.sleep(0.05)
    closing.cancel()
    go_on.set()
    await asyncio.wait({under_way, closing})

    assert closing.cancelled()
    assert database._engine.pool.checkedin() == 0
