"""The teams that installed the app, and codes that are good once."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "installation",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("team_id", sa.Text(), nullable=False),
        sa.Column("team_name", sa.Text(), nullable=False),
        sa.Column("team_url", sa.Text(), nullable=False),
        sa.Column("bot_user_id", sa.Text(), nullable=False),
        sa.Column("bot_id", sa.Text(), nullable=False),
        sa.Column("sealed_token", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("installed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("installed_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "team_id", name=op.f("pk_installation")),
    )
    op.create_table(
        "one_time_code",
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("code_hash", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("purpose", "code_hash", name=op.f("pk_one_time_code")),
    )


def downgrade() -> None:
    op.drop_table("one_time_code")
    op.drop_table("installation")
