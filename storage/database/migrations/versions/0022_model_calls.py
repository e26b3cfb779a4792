"""The ledger of model calls."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_PURPOSES = "purpose IN ('answer', 'section', 'summary', 'line', 'recap', 'extraction', 'other')"
_TEXTS = ("id", "day", "workspace", "channel", "person", "answer", "purpose", "model")
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def upgrade() -> None:
    op.create_table(
        "model_call",
        *(sa.Column(name, sa.Text(), nullable=False) for name in _TEXTS),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reserved_tokens", sa.Integer(), nullable=False),
        sa.Column("reserved_micros", sa.BigInteger(), nullable=True),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in _TOKENS),
        sa.Column("cost_micros", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(_PURPOSES, name=op.f("ck_model_call_purpose")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_call")),
    )
    op.create_index(op.f("ix_model_call_day"), "model_call", ["day"])
    op.create_index(op.f("ix_model_call_workspace_day"), "model_call", ["workspace", "day"])


def downgrade() -> None:
    op.drop_table("model_call")
