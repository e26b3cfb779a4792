"""Posts that are still to be deleted from their platform, since their conversation was."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "post_removal",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("waits_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["seq"], ["inbox.seq"], name=op.f("fk_post_removal_seq"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_post_removal")),
    )


def downgrade() -> None:
    op.drop_table("post_removal")
