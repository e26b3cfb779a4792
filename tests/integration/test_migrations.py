"""A database made by the migrations is the one the code describes."""

import os
import sqlite3
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, inspect, text

from bot.presentation.direct_threads import is_direct_thread
from core.access.scopes import Access
from core.domain.conversation import Role
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.kept_answers import KeptState
from core.domain.service import AutoAnswer, ChannelSettings
from core.errors import StorageError
from storage.database import Database
from storage.database.schema import HEAD, alembic_config
from storage.database.stores import Stores
from storage.database.tables import METADATA, TABLES
from tests.builders import build_conversation, build_document, build_message, build_pages, build_source
from tests.postgres import postgres_schema


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A new database, opened once."""
    await (await Database.open(tmp_path / "footnote.db")).close()
    return tmp_path / "footnote.db"


def constraints(engine: Engine) -> dict[str, tuple[object, ...]]:
    """What compare_metadata does not look at: CHECK constraints, and what ON DELETE does."""
    inspector = inspect(engine)
    return {
        table: (
            sorted(
                (check["name"], " ".join(check["sqltext"].split())) for check in inspector.get_check_constraints(table)
            ),
            sorted((key["name"], str(key["options"])) for key in inspector.get_foreign_keys(table)),
            inspector.get_pk_constraint(table),
        )
        for table in inspector.get_table_names()
        if table != "alembic_version"
    }


def tables(path: Path) -> list[str]:
    engine = create_engine(f"sqlite:///{path}")
    names = inspect(engine).get_table_names()
    engine.dispose()
    return names


def test_the_newest_revision_is_the_one_the_code_asks_for():
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        assert ScriptDirectory.from_config(alembic_config(connection)).get_current_head() == HEAD
    engine.dispose()


def test_migrated_tables_equal_the_declared_ones(path, tmp_path):
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, METADATA) == []
    declared = create_engine(f"sqlite:///{tmp_path / 'declared.db'}")
    METADATA.create_all(declared)
    assert constraints(engine) == constraints(declared)
    assert len(constraints(engine)) == len(TABLES)
    engine.dispose()
    declared.dispose()


def test_all_revisions_can_be_undone_and_done_again(path):
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        command.downgrade(alembic_config(connection), "base")
        left = inspect(connection).get_table_names()
        command.upgrade(alembic_config(connection), "head")
    engine.dispose()
    assert left == ["alembic_version"]


async def test_a_database_of_a_newer_footnote_is_one_clear_error(path):
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(StorageError, match=r"newer Footnote \(its schema is 9999.*update Footnote"):
        await Database.open(path)


async def test_somebody_elses_tables_are_left_alone(tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE source (id)")
    connection.close()
    with pytest.raises(StorageError, match=r"not Footnote's \(source\)"):
        await Database.open(tmp_path / "other.db")
    assert tables(tmp_path / "other.db") == ["source"]


async def test_an_interrupted_migration_leaves_an_empty_database(tmp_path, monkeypatch):
    def fail(*_: object) -> None:
        raise OSError("power cut")

    monkeypatch.setattr(command, "upgrade", lambda config, head: (create_half(config), fail()))
    with pytest.raises(OSError, match="power cut"):
        await Database.open(tmp_path / "footnote.db")
    assert tables(tmp_path / "footnote.db") == []


def create_half(config) -> None:
    config.attributes["connection"].execute(text("CREATE TABLE source (id)"))


def test_opening_a_current_database_imports_no_alembic(path):
    code = (
        "import asyncio, sys, pathlib; from storage.database import Database\n"
        "async def main():\n"
        f"    await (await Database.open(pathlib.Path({str(path)!r}))).close()\n"
        "asyncio.run(main())\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('alembic', 'mako')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=os.getcwd())
    assert done.stdout.strip() == "[]"


def test_several_processes_may_open_a_new_data_directory_at_once(tmp_path):
    code = (
        "import asyncio, sys, pathlib\n"
        "from storage.database import Database\n"
        "from storage.database.repositories.conversations import SqlConversationRepository\n"
        "from tests.builders import build_conversation, build_message\n"
        "async def main(name):\n"
        f"    database = await Database.open(pathlib.Path({str(tmp_path / 'data' / 'footnote.db')!r}))\n"
        "    conversations = SqlConversationRepository(database)\n"
        "    await conversations.add(build_conversation(name))\n"
        "    for number in range(10):\n"
        "        await conversations.append(name, [build_message(f'{name}-{number}')])\n"
        "    await database.close()\n"
        "asyncio.run(main(sys.argv[1]))"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, f"c{number}"]) for number in range(4)]
    assert [process.wait(timeout=60) for process in processes] == [0, 0, 0, 0]
    with sqlite3.connect(tmp_path / "data" / "footnote.db") as connection:
        assert connection.execute("SELECT count(*) FROM message").fetchone() == (40,)
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(HEAD,)]
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_answers_kept_before_there_were_reviewers_become_proposals_that_no_search_finds(
    kind: str, tmp_path: Path
) -> None:
    with nullcontext(tmp_path / "footnote.db") if kind == "sqlite" else postgres_schema() as location:
        database = await Database.open(location)
        stores = Stores(database, is_direct_thread)
        source = build_source("kept answers", location=str(tmp_path))
        document = build_document("Kept answers.md", source, title="Kept answers", kind="kept")
        links = (
            "https://discord.com/channels/5/7/9",
            "https://discord.com/channels/5/8/9",
            "https://a.slack.com/archives/C1/p2",
        )
        texts = [f"## Who {n}?\n\nIt was {n}.\n\nKept by Ada L. on 2025-01-02." for n in range(len(links))]
        pages = [
            replace(page, title=f"Who {n}?", deep_link=link)
            for n, (page, link) in enumerate(zip(build_pages(document, *texts), links, strict=True))
        ]
        address = ThreadAddress(platform="discord", workspace="local", channel="7", thread="8")
        await stores.conversations.add(build_conversation(address=address))
        await stores.corpus.save_source(source)
        await stores.corpus.switch_revision(document, pages, [])
        await database.write(lambda connection: command.downgrade(alembic_config(connection), "0028"))
        await database.close()

        migrated = await Database.open(location)
        stores = Stores(migrated, is_direct_thread)
        kept = await stores.kept.list_kept("local")
        shown = await stores.corpus.list_readable(await Access(stores.corpus, stores.settings).scope("local"))
        await migrated.close()

    assert shown == []
    assert {one.state for one in kept} == {KeptState.PROPOSED}
    assert {(one.question, one.text, one.said_by_name) for one in kept} == {
        (f"Who {n}?", f"It was {n}.", "Ada L.") for n in range(3)
    }
    assert {one.link: (str(one.address), sorted(one.readers)) for one in kept} == {
        links[0]: ("discord:local:7:", ["channel:7"]),
        links[1]: ("discord:local:7:8", []),
        links[2]: ("slack:local:C1:", ["channel:C1"]),
    }


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_earlier_libraries_get_dates_from_names_and_counts_of_what_was_said(kind: str, tmp_path: Path) -> None:
    with nullcontext(tmp_path / "footnote.db") if kind == "sqlite" else postgres_schema() as location:
        database = await Database.open(location)
        stores, source = Stores(database, is_direct_thread), build_source()
        await stores.corpus.save_source(source)
        for path in ("a/2026-06-09-council.md", "20260512.md", "99991234.md", "2026-06-09/plan.md"):
            document = build_document(path, source)
            await stores.corpus.switch_revision(document, build_pages(document, "Text."), [])
        tool = build_message("m2", "", role=Role.TOOL_RESULT)
        await stores.conversations.add(build_conversation(), [build_message("m1"), tool, build_message("m3")])
        await database.write(lambda connection: command.downgrade(alembic_config(connection), "0032"))
        await database.close()

        migrated = await Database.open(location)
        stores = Stores(migrated, is_direct_thread)
        documents = await stores.corpus.list_documents("local")
        conversation = await stores.conversations.get("c1", "local")
        await migrated.close()

    dates = {document.path: document.dated for document in documents}
    assert dates == {
        "a/2026-06-09-council.md": "2026-06-09",
        "20260512.md": "2026-05-12",
        "99991234.md": None,
        "2026-06-09/plan.md": None,
    }
    assert conversation.message_count == 2


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_auto_answers_that_were_on_stay_live(kind: str, tmp_path: Path) -> None:
    with nullcontext(tmp_path / "footnote.db") if kind == "sqlite" else postgres_schema() as location:
        database = await Database.open(location)
        stores = Stores(database, is_direct_thread)
        channels = {name: ChannelAddress(platform="slack", workspace="local", channel=name) for name in AutoAnswer}
        for mode in AutoAnswer:
            await stores.settings.save_channel(channels[mode], ChannelSettings(auto_answer=mode, language="German"))
        await database.write(lambda connection: command.downgrade(alembic_config(connection), "0038"))
        await database.close()

        migrated = await Database.open(location)
        found = {mode: await Stores(migrated, is_direct_thread).settings.channel(channels[mode]) for mode in AutoAnswer}
        await migrated.close()

    live = ChannelSettings(auto_answer=AutoAnswer.LIVE, language="German")
    off = replace(live, auto_answer=AutoAnswer.OFF)
    assert found == {AutoAnswer.OFF: off, AutoAnswer.SHADOW: off, AutoAnswer.LIVE: live}
