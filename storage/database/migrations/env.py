"""Alembic's entry: runs the revisions on the connection it is handed.

To write a revision: `alembic -x url=sqlite:///scratch.db upgrade head`, change storage/database/tables, then
`alembic -x url=sqlite:///scratch.db revision --autogenerate -m "..." --rev-id 0002`, and set HEAD in
storage/database/schema.py.
"""

from typing import Any, Literal

from alembic import context
from sqlalchemy import Connection, create_engine
from sqlalchemy.types import TypeDecorator

from storage.database.tables import METADATA


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=METADATA,
        render_as_batch=True,  # SQLite changes tables by replacing them
        render_item=render_plain_types,
    )
    with context.begin_transaction():
        context.run_migrations()


def render_plain_types(kind: str, item: Any, autogen_context: Any) -> str | Literal[False]:
    """Revisions must not change when our column types do: they name the type underneath."""
    if kind == "type" and isinstance(item, TypeDecorator):
        return f"sa.{item.impl_instance!r}"
    return False


handed: Connection | None = context.config.attributes.get("connection")
if handed is not None:
    run(handed)
else:
    with create_engine(context.get_x_argument(as_dictionary=True)["url"]).begin() as own:
        run(own)
