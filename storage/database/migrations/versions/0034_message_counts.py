"""Counts of messages without results of tools."""

from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

_COUNT = (
    "UPDATE conversation SET message_count = "
    "(SELECT count(*) FROM message WHERE message.conversation_id = conversation.id{})"
)


def upgrade() -> None:
    op.execute(_COUNT.format(" AND message.role <> 'tool_result'"))


def downgrade() -> None:
    op.execute(_COUNT.format(""))
