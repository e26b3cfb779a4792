"""API tokens that read metrics alone."""

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _allow("metrics", "read", "ask", "admin")


def downgrade() -> None:
    op.execute("DELETE FROM api_token WHERE scope = 'metrics'")
    _allow("read", "ask", "admin")


def _allow(*values: str) -> None:
    listed = ", ".join(f"'{value}'" for value in values)
    with op.batch_alter_table("api_token") as tokens:
        tokens.drop_constraint(op.f("ck_api_token_scope"), type_="check")
        tokens.create_check_constraint(op.f("ck_api_token_scope"), f"scope IN ({listed})")
