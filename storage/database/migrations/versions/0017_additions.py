"""Documents added through a chat, and the places that the bot greets."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_KINDS = "kind IN ('file', 'link')"
_STATES = "state IN ('proposed', 'accepted', 'reading', 'read', 'failed', 'refused', 'dismissed', 'undone')"


def upgrade() -> None:
    op.create_table(
        "greeting",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("is_greeted", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "place", name=op.f("pk_greeting")),
    )
    op.create_table(
        "addition",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("author_name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("is_settled", sa.Boolean(), nullable=False),
        sa.Column("post_ref", sa.Text(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=False),
        sa.Column("decided_by_name", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.CheckConstraint(_KINDS, name=op.f("ck_addition_kind")),
        sa.CheckConstraint(_STATES, name=op.f("ck_addition_state")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_addition")),
    )
    op.create_index(op.f("ix_addition_workspace_state"), "addition", ["workspace", "state"])
    op.create_index(op.f("ix_addition_platform_is_settled"), "addition", ["platform", "is_settled"])


def downgrade() -> None:
    op.drop_table("addition")
    op.drop_table("greeting")
