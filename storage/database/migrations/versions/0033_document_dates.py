"""Days of documents. Those read before have the day in their file's name; the others get theirs when read again."""

import re

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")
_DOCUMENT = sa.table(
    "document", sa.column("id", sa.Text()), sa.column("path", sa.Text()), sa.column("dated", sa.Text())
)


def upgrade() -> None:
    op.add_column("document", sa.Column("dated", sa.Text(), nullable=True))
    connection = op.get_bind()
    for row in connection.execute(sa.select(_DOCUMENT.c.id, _DOCUMENT.c.path)).all():
        if (day := _DAY.search(row.path.rsplit("/", 1)[-1])) is not None:
            dated = f"{day[1]}-{day[3]}-{day[4]}"
            connection.execute(_DOCUMENT.update().where(_DOCUMENT.c.id == row.id).values(dated=dated))


def downgrade() -> None:
    op.drop_column("document", "dated")
