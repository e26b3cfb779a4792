"""Recorded runs, to be played again."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "cassette",
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("is_case", sa.Boolean(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["message_id"], ["message.id"], name=op.f("fk_cassette_message_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_cassette")),
    )
    op.create_index(op.f("ix_cassette_workspace"), "cassette", ["workspace"])
    op.create_index(op.f("ix_cassette_recorded_at"), "cassette", ["recorded_at"])
    op.create_table(
        "cassette_document",
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["message_id"], ["cassette.message_id"], name=op.f("fk_cassette_document_message_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_cassette_document_document_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("message_id", "document_id", name=op.f("pk_cassette_document")),
    )
    op.create_index(op.f("ix_cassette_document_document_id"), "cassette_document", ["document_id"])


def downgrade() -> None:
    op.drop_table("cassette_document")
    op.drop_table("cassette")
