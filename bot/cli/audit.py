"""`audit`: what admins and moderators did."""

from collections.abc import Sequence
from typing import Annotated

import typer

from bot.cli.session import Session
from bot.service import tokens as ops
from core.domain.audit import AuditEntry
from core.serializers.objects import Json


def register(app: typer.Typer) -> None:
    app.command("audit")(audit)


def audit(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Show at most this many.")] = 50,
    everywhere: Annotated[bool, typer.Option("--all", help="Show those of all workspaces.")] = False,
) -> None:
    """List what admins and moderators did in this workspace, newest first."""
    session: Session = context.obj
    found = session.call(ops.list_audit, ops.AuditRequest(is_everywhere=everywhere, limit=limit))
    session.show(found, lambda entries: {"entries": [*map(_to_json, entries)]}, _view)


def _to_json(entry: AuditEntry) -> Json:
    note = entry.note
    return {
        "id": entry.id,
        "done_at": entry.done_at.isoformat(),
        "workspace": note.workspace,
        "actor": note.actor,
        "action": note.deed.value,
        "about": note.about,
    }


def _view(entries: Sequence[AuditEntry]) -> str:
    return "\n".join(map(_line, entries)) or "No admin has changed anything in this workspace yet."


def _line(entry: AuditEntry) -> str:
    note = entry.note
    about = f": {note.about}" if note.about else ""
    return f"{entry.done_at:%Y-%m-%d %H:%M} UTC  {note.workspace}  {note.actor}  {note.deed.value}{about}"
