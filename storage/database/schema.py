"""Migration of an opened database to the newest schema: one cheap check, and Alembic's revisions if needed."""

import threading
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text

from core.errors import StorageError

if TYPE_CHECKING:
    from alembic.config import Config

# The newest revision in migrations/versions. A constant, so that opening a current database needs no Alembic (0.1 s).
HEAD = "0041"

# An arbitrary, unique number on a PostgreSQL server: "footnote" in ASCII.
POSTGRES_LOCK = 0x666F6F746E6F7465

# Alembic's `context` and `op` are module-wide: one migration at a time in a process.
_ONE_AT_A_TIME = threading.Lock()


def bring_to_head(engine: Engine, name: str) -> None:
    """Migrate the database called `name` in messages; safe when several processes open it at once.

    Raises StorageError for a database of a newer Footnote and for one with foreign tables.
    """
    with engine.connect() as connection:
        if stored_revision(connection, name) == HEAD:
            return
    with _ONE_AT_A_TIME, engine.connect() as connection:
        connection.detach()  # not for the pool: its foreign keys are off
        _leave_foreign_keys_off(connection)
        with connection.begin():
            _upgrade(connection, name)


def stored_revision(connection: Connection, name: str) -> str | None:
    """Return the revision of the database; None when it is empty."""
    tables = inspect(connection).get_table_names()
    if "alembic_version" in tables:
        found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        return found
    if tables:
        raise StorageError(
            f"The database {name} holds tables that are not Footnote's ({', '.join(sorted(tables)[:3])}); "
            "choose another data directory or database"
        )
    return None


def alembic_config(connection: Connection) -> "Config":
    """Return the configuration with which Alembic runs the packaged revisions on this connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "storage:database/migrations")
    config.attributes["connection"] = connection
    return config


def _upgrade(connection: Connection, name: str) -> None:
    """Check the revision again and migrate, in a transaction that excludes other processes."""
    from alembic import command
    from alembic.script import ScriptDirectory

    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": POSTGRES_LOCK})
    revision = stored_revision(connection, name)
    config = alembic_config(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        raise StorageError(
            f"The database {name} was written by a newer Footnote (its schema is {revision}, this one knows {HEAD}); "
            "update Footnote, or choose another data directory"
        )
    command.upgrade(config, "head")


def _leave_foreign_keys_off(connection: Connection) -> None:
    """Switch foreign keys off: SQLite changes a table by replacing it, and dropping it would delete referring rows.

    The switch works only outside a transaction, so it bypasses SQLAlchemy, which would begin one.
    """
    if connection.dialect.name == "sqlite":
        cursor = connection.connection.cursor()
        cursor.execute("PRAGMA foreign_keys=OFF")
        cursor.close()
