"""`audit` and `person`: the actions of admins and moderators; the data of a person, and their removal."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bot.cli.conversations import show_file
from bot.cli.session import Session
from bot.service import erasure
from bot.service import tokens as ops
from core.domain.audit import AuditEntry
from core.domain.identity import PersonOnPlatform
from core.features.erasure import PersonRemoval
from core.serializers.objects import Json

EXPORT = "export"
PersonId = Annotated[str, typer.Argument(metavar="ID", help="The person's ID on the platform.")]
PlatformName = Annotated[
    str, typer.Option("--platform", help="discord, slack, web, or as `footnote conversations --json` shows it.")
]


class ExportGroup(TyperGroup):
    """A group whose command for a word that names none is `export`: `footnote person ID`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, "--help"}:
            args = [EXPORT, *args]
        return super().parse_args(ctx, args)


person = typer.Typer(
    cls=ExportGroup, help="Export a person's data, or remove the person for good.", no_args_is_help=True
)


def register(app: typer.Typer) -> None:
    app.command("audit")(audit)
    app.add_typer(person, name="person")


def audit(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Show at most this many.")] = 50,
    everywhere: Annotated[bool, typer.Option("--all", help="Show those of all workspaces.")] = False,
) -> None:
    """List the actions of admins and moderators in this workspace, newest first."""
    session: Session = context.obj
    found = session.call(ops.list_audit, ops.AuditRequest(is_everywhere=everywhere, limit=limit))
    session.show(found, lambda entries: {"entries": [*map(_to_json, entries)]}, _view)


@person.command(EXPORT)
def person_data(
    context: typer.Context,
    id: PersonId,
    platform: PlatformName,
    output: Annotated[Path | None, typer.Option(help="Write to this file instead of printing.")] = None,
) -> None:
    """Export a person's data in this workspace as JSON: their texts and actions, and notes about them."""
    session: Session = context.obj
    wanted = PersonOnPlatform(workspace=session.settings.workspace, platform=platform, id=id)
    show_file(session, session.call(ops.export_person_data, wanted), output)


@person.command("remove")
def remove_person(
    context: typer.Context,
    id: PersonId,
    platform: PlatformName,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
) -> None:
    """Remove a person from this workspace: questions, answers, posts, kept answers, ratings, settings."""
    session: Session = context.obj
    workspace = session.settings.workspace
    session.confirm(f"Remove {id!r} of {platform} and all their questions from workspace {workspace!r}?", yes=yes)
    wanted = PersonOnPlatform(workspace=workspace, platform=platform, id=id)
    session.show(session.call(erasure.remove_person, wanted), PersonRemoval.to_json, str)


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
