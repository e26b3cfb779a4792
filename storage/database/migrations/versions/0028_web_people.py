"""People who signed in to the web app, whose messages keep their author when their name changes."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "web_person",
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("identity", name=op.f("pk_web_person")),
    )


def downgrade() -> None:
    op.drop_table("web_person")
