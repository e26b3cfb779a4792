"""Threads that a moderator muted."""

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _allow("normal", "muted", "held", "listening")


def downgrade() -> None:
    op.execute("UPDATE thread_listening SET listening = 'muted' WHERE listening = 'held'")
    _allow("normal", "muted", "listening")


def _allow(*values: str) -> None:
    listed = ", ".join(f"'{value}'" for value in values)
    with op.batch_alter_table("thread_listening") as threads:
        threads.drop_constraint(op.f("ck_thread_listening_listening"), type_="check")
        threads.create_check_constraint(op.f("ck_thread_listening_listening"), f"listening IN ({listed})")
