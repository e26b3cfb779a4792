"""Readers of sources, and of documents with fewer readers than their source."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("source", sa.Column("readers", sa.Text(), nullable=False, server_default='["members"]'))
    # Until now each source was open to its whole workspace, guests included: it stays so until its readers are set.
    op.execute("""UPDATE source SET readers = '["everyone"]'""")
    op.create_table(
        "document_readers",
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("readers", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["source.id"], name=op.f("fk_document_readers_source_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_document_readers")),
    )


def downgrade() -> None:
    op.drop_table("document_readers")
    op.drop_column("source", "readers")
