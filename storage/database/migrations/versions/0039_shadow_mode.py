"""Shadow mode of auto-answers; channels that have them on stay live."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

_ONE_OF = "auto_answer IN ('off', 'shadow', 'live')"


def upgrade() -> None:
    op.create_index(op.f("ix_inbox_workspace_channel_code_seq"), "inbox", ["workspace", "channel", "code", "seq"])
    _replace(sa.Text(), "CASE WHEN {} THEN 'live' ELSE 'off' END")
    with op.batch_alter_table("channel_settings") as table:
        table.create_check_constraint(op.f("ck_channel_settings_auto_answer"), _ONE_OF)
        table.add_column(sa.Column("auto_answer_by", sa.Text(), nullable=False, server_default=""))
        table.add_column(sa.Column("auto_answer_since", sa.DateTime(timezone=True), nullable=True))
        table.add_column(sa.Column("auto_answer_reported", sa.DateTime(timezone=True), nullable=True))
    with op.batch_alter_table("channel_settings") as table:
        table.alter_column("auto_answer_by", server_default=None)


def downgrade() -> None:
    with op.batch_alter_table("channel_settings") as table:
        table.drop_constraint(op.f("ck_channel_settings_auto_answer"), type_="check")
        for name in ("auto_answer_by", "auto_answer_since", "auto_answer_reported"):
            table.drop_column(name)
    _replace(sa.Boolean(), "{} = 'live'")
    op.drop_index(op.f("ix_inbox_workspace_channel_code_seq"), "inbox")


def _replace(kind: sa.types.TypeEngine[object], value: str) -> None:
    """Give the column another type, with values made of the old ones."""
    op.add_column("channel_settings", sa.Column("changed", kind, nullable=True))
    op.execute(f"UPDATE channel_settings SET changed = {value.format('auto_answer')}")  # noqa: S608  # nosec B608
    with op.batch_alter_table("channel_settings") as table:
        table.drop_column("auto_answer")
    with op.batch_alter_table("channel_settings") as table:
        table.alter_column("changed", new_column_name="auto_answer", existing_type=kind, nullable=False)
