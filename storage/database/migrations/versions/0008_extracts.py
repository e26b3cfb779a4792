"""What extractors find in documents."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TYPES = "'meeting', 'table', 'api', 'financial', 'entity', 'relation', 'anchor', 'page'"


def upgrade() -> None:
    op.create_table(
        "extraction",
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("extractor", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("extracts", sa.Integer(), nullable=False),
        sa.Column("extracted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint("version >= 1 AND extracts >= 0", name=op.f("ck_extraction_counts")),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_extraction_document_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("document_id", "extractor", name=op.f("pk_extraction")),
    )
    op.create_table(
        "extract",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("page_id", sa.Text(), nullable=False),
        sa.Column("extractor", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("schema_name", sa.Text(), nullable=False),
        sa.Column("last_page", sa.Integer(), nullable=False),
        sa.Column("span_start", sa.Integer(), nullable=False),
        sa.Column("span_end", sa.Integer(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.CheckConstraint(f"type IN ({TYPES})", name=op.f("ck_extract_type")),
        sa.CheckConstraint("span_start >= 0 AND span_end >= span_start", name=op.f("ck_extract_span")),
        sa.CheckConstraint("confidence >= 0 AND confidence <= 1", name=op.f("ck_extract_confidence")),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_extract_document_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name=op.f("fk_extract_page_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extract")),
    )
    op.create_index(op.f("ix_extract_document_id_extractor"), "extract", ["document_id", "extractor"])
    op.create_index(op.f("ix_extract_page_id"), "extract", ["page_id"])
    op.create_index(op.f("ix_extract_type"), "extract", ["type"])


def downgrade() -> None:
    op.drop_table("extract")
    op.drop_table("extraction")
