"""Where pages stand in their books; and reading positions before a book's first page."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("page", sa.Column("place", sa.Text(), nullable=True))
    _allow_from(0)


def downgrade() -> None:
    op.execute("UPDATE reading_position SET last_page = 1 WHERE last_page < 1")
    _allow_from(1)
    op.drop_column("page", "place")


def _allow_from(least: int) -> None:
    with op.batch_alter_table("reading_position") as positions:
        positions.drop_constraint(op.f("ck_reading_position_last_page"), type_="check")
        positions.create_check_constraint(op.f("ck_reading_position_last_page"), f"last_page >= {least}")
