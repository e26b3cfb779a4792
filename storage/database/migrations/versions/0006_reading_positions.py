"""How far channels and people have read."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "reading_position",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("last_page", sa.Integer(), nullable=False),
        sa.CheckConstraint("last_page >= 1", name=op.f("ck_reading_position_last_page")),
        sa.PrimaryKeyConstraint(
            "workspace", "platform", "channel", "person", "document_id", name=op.f("pk_reading_position")
        ),
    )


def downgrade() -> None:
    op.drop_table("reading_position")
