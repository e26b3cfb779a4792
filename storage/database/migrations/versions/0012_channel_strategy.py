"""How questions of a channel are answered."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("channel_settings", sa.Column("strategy", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("channel_settings", "strategy")
