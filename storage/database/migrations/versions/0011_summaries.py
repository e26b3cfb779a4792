"""Summaries that were made once and are kept."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_OWNERS = {"document_id": "document", "page_id": "page", "conversation_id": "conversation"}


def upgrade() -> None:
    op.create_table(
        "summary",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        *(sa.Column(column, sa.Text(), nullable=True) for column in _OWNERS),
        sa.Column("text", sa.Text(), nullable=False),
        sa.CheckConstraint("kind IN ('document_line', 'section', 'rolling', 'thread')", name=op.f("ck_summary_kind")),
        sa.CheckConstraint(
            "coalesce(document_id, page_id, conversation_id) = subject", name=op.f("ck_summary_subject")
        ),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"fk_summary_{column}"), ondelete="CASCADE")
            for column, table in _OWNERS.items()
        ),
        sa.PrimaryKeyConstraint("workspace", "kind", "subject", name=op.f("pk_summary")),
    )
    for column in _OWNERS:
        op.create_index(op.f(f"ix_summary_{column}"), "summary", [column])


def downgrade() -> None:
    op.drop_table("summary")
