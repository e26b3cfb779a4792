"""Groups of people who signed in, and the readers that the person of an API token is; known tokens read all."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("web_person", sa.Column("groups", sa.Text(), nullable=False, server_default="[]"))
    op.add_column("api_token", sa.Column("readers", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("api_token", "readers")
    op.drop_column("web_person", "groups")
