"""Kept answers with their author, their place and a reviewer; the ones kept before become proposals."""

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_REVIEW = timedelta(days=90)  # longer than for new ones, which are announced
_DISCORD = re.compile(r"https://(?:\w+\.)?discord(?:app)?\.com/channels/\d+/(\d+)/")
_SLACK = re.compile(r"https://[^/]+\.slack\.com/archives/(\w+)/(?:[^?]*\?(?:[^#]*&)?thread_ts=([\d.]+))?")
_ENDING = re.compile(r"\n+Kept by ([^\n]+) on (\d{4}-\d\d-\d\d)\.\s*$")

_TEXTS = (
    *("id", "workspace", "state", "platform", "channel", "thread", "said_by", "said_by_name", "author"),
    *("author_name", "decided_by", "decided_by_name", "answer_id", "origin", "document_id", "link"),
)
_TIMES = ("created_at", "changed_at", "expires_at")
_LAST = ("readers", "rests_on", "question", "text")
_TABLE = sa.table(
    "kept_answer",
    *(sa.column(name, sa.DateTime(timezone=True)) for name in _TIMES),
    *(sa.column(name) for name in (*_TEXTS, *_LAST)),
)


def upgrade() -> None:
    op.create_table(
        "kept_answer",
        *(sa.Column(name, sa.Text(), nullable=False) for name in _TEXTS),
        *(sa.Column(name, sa.DateTime(timezone=True), nullable=False) for name in _TIMES),
        *(sa.Column(name, sa.Text(), nullable=False) for name in _LAST),
        sa.CheckConstraint("state IN ('proposed', 'accepted', 'declined')", name=op.f("ck_kept_answer_state")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_kept_answer")),
    )
    op.create_index(op.f("ix_kept_answer_workspace_created_at"), "kept_answer", ["workspace", "created_at"])
    op.create_index(op.f("ix_kept_answer_document_id"), "kept_answer", ["document_id"])
    if rows := list(_earlier(op.get_bind())):
        op.bulk_insert(_TABLE, rows)
    # Their document stays hidden in a source of this kind, until the service removes it.
    kept = "(SELECT source_id FROM document WHERE kind = 'kept')"
    op.execute(f"UPDATE source SET kind = 'kept' WHERE name = 'kept answers' AND id IN {kept}")  # nosec B608  # noqa: S608 - constants


def downgrade() -> None:
    op.execute("UPDATE source SET kind = 'folder' WHERE kind = 'kept'")
    op.drop_table("kept_answer")


def _earlier(connection: sa.Connection) -> Iterator[dict[str, Any]]:
    """Yield the kept answers of earlier versions as proposals: only the pages of their document hold them."""
    pages = connection.execute(
        sa.text(
            "SELECT source.workspace, page.title, page.text, page.deep_link FROM page"
            " JOIN document ON document.id = page.document_id AND document.revision = page.revision"
            " JOIN source ON source.id = document.source_id"
            " WHERE document.kind = 'kept' AND source.name = 'kept answers' ORDER BY page.number"
        )
    )
    now = datetime.now(UTC)
    for workspace, title, text, link in pages.all():
        ending, link = _ENDING.search(text), link or ""
        name = ending[1] if ending else ""
        body = (text[: ending.start()] if ending else text).removeprefix(f"## {title}").strip()
        yield {
            "id": hashlib.sha256(f"{workspace}\x1f{link}".encode()).hexdigest()[:32],
            "workspace": workspace,
            "state": "proposed",
            **_place(connection, workspace, link),
            **dict.fromkeys(("said_by", "author", "decided_by", "decided_by_name"), ""),
            **dict.fromkeys(("said_by_name", "author_name"), name),
            **dict.fromkeys(("answer_id", "origin", "document_id"), ""),
            "link": link,
            "created_at": now,
            "changed_at": now,
            "expires_at": now + _REVIEW,
            "rests_on": "{}",
            "question": title,
            "text": body,
        }


def _place(connection: sa.Connection, workspace: str, link: str) -> dict[str, str]:
    """Return the place of a message by its address, and its readers: none if its thread may be private."""
    if found := _SLACK.match(link):
        readers = json.dumps([f"channel:{found[1]}"])
        return {"platform": "slack", "channel": found[1], "thread": found[2] or "", "readers": readers}
    if (found := _DISCORD.match(link)) is None:
        return {"platform": "", "channel": "", "thread": "", "readers": "[]"}
    known = sa.text(
        "SELECT channel FROM conversation WHERE platform = 'discord' AND workspace = :workspace AND thread = :thread"
    )
    parent = connection.execute(known, {"workspace": workspace, "thread": found[1]}).scalar()
    if parent is not None:
        return {"platform": "discord", "channel": parent, "thread": found[1], "readers": "[]"}
    readers = json.dumps([f"channel:{found[1]}"])
    return {"platform": "discord", "channel": found[1], "thread": "", "readers": readers}
