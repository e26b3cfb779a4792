"""Replies of models about pieces of documents, their cost, and parts of an extraction that a bound left out."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("extraction", sa.Column("warning", sa.Text(), nullable=True))
    op.create_table(
        "model_reading",
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("piece", sa.Text(), nullable=False),
        sa.Column("extractor", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_model_reading_document_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("document_id", "piece", "extractor", name=op.f("pk_model_reading")),
    )
    op.create_table(
        "model_spending",
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_model_spending")),
    )


def downgrade() -> None:
    op.drop_table("model_spending")
    op.drop_table("model_reading")
    op.drop_column("extraction", "warning")
