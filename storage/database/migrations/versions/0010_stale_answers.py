"""How far answers were compared with what their documents say now. Those there are already were not compared."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "citation_check",
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("checked_revision", sa.Text(), nullable=True),
        sa.Column("note_id", sa.Text(), nullable=True),
        sa.Column("lost", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["message_id"], ["message.id"], name=op.f("fk_citation_check_message_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("message_id", "document_id", name=op.f("pk_citation_check")),
    )
    op.create_index(op.f("ix_citation_check_document_id"), "citation_check", ["document_id"])
    op.create_index(op.f("ix_citation_check_note_id"), "citation_check", ["note_id"])
    op.execute(
        "INSERT INTO citation_check (message_id, document_id, lost)"
        " SELECT message_id, document_id, '[]' FROM message_document"
    )


def downgrade() -> None:
    op.drop_table("citation_check")
