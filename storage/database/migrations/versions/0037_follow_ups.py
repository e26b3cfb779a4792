"""Which follow-ups of a channel's threads need no mention."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

_ONE_OF = "follow_ups IN ('named', 'asker', 'all')"


def upgrade() -> None:
    with op.batch_alter_table("channel_settings") as table:
        table.add_column(sa.Column("follow_ups", sa.Text(), nullable=False, server_default="asker"))
        table.create_check_constraint(op.f("ck_channel_settings_follow_ups"), _ONE_OF)
    with op.batch_alter_table("channel_settings") as table:
        table.alter_column("follow_ups", server_default=None)


def downgrade() -> None:
    with op.batch_alter_table("channel_settings") as table:
        table.drop_constraint(op.f("ck_channel_settings_follow_ups"), type_="check")
        table.drop_column("follow_ups")
