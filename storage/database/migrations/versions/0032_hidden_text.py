"""Sentences about omitted text of a document that a reader of its file can't see."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("document", sa.Column("hidden", sa.Text(), nullable=False, server_default="[]"))


def downgrade() -> None:
    op.drop_column("document", "hidden")
