"""The process that works on a document added through a chat."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("addition", sa.Column("owner", sa.Text(), nullable=True))
    op.add_column("addition", sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("addition", "lease_until")
    op.drop_column("addition", "owner")
