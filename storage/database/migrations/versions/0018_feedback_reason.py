"""What was wrong with an answer that was rated as not helpful."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("feedback", sa.Column("reason", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("feedback", "reason")
