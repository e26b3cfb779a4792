"""The newest messages of a thread are found without a walk through all there ever were."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(op.f("ix_inbox_thread_seq"), "inbox", ["thread", "seq"])


def downgrade() -> None:
    op.drop_index(op.f("ix_inbox_thread_seq"), table_name="inbox")
