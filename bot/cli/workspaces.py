"""`workspaces`: the documents and readers of each workspace, and the servers and teams bound to it."""

from collections.abc import Sequence
from typing import Annotated

import typer

from bot.cli.session import Session, by_default
from bot.service import erasure
from bot.service import operations as ops
from bot.terminal.reports import workspaces_view
from core.access.availability import ingest_command, not_connected
from core.access.bindings import BoundTeam
from core.features.erasure import WorkspaceRemoval
from core.features.workspaces import WorkspaceState, find_unread

workspaces = typer.Typer(help="Choose which servers and teams read which documents.", invoke_without_command=True)
PlatformName = Annotated[str, typer.Argument(metavar="PLATFORM", help="discord or slack.")]
TeamName = Annotated[str, typer.Argument(metavar="NAME", help="The server or team: its name, or its ID.")]


def register(app: typer.Typer) -> None:
    workspaces.callback()(by_default(list_workspaces))
    app.add_typer(workspaces, name="workspaces")


@workspaces.command("list")
def list_workspaces(context: typer.Context) -> None:
    """List the workspaces: their documents, and the places that read them."""
    session: Session = context.obj
    states = session.call(ops.list_workspaces, None)
    session.show(states, lambda found: {"workspaces": [state.to_json() for state in found]}, workspaces_view)
    if not session.as_json:
        for sentence in find_unread(states):
            session.notes.print(sentence, markup=False, soft_wrap=True)


@workspaces.command("bind")
def bind(
    context: typer.Context,
    platform: PlatformName,
    name: TeamName,
    workspace: Annotated[str, typer.Argument(metavar="WORKSPACE", help="The workspace that it reads from now on.")],
) -> None:
    """Let a Discord server or a Slack team read a workspace."""
    session: Session = context.obj
    request = ops.Binding(platform=platform.lower(), name=name, workspace=workspace)
    _show(session, session.call(ops.bind_workspace, request))


@workspaces.command("unbind")
def unbind(context: typer.Context, platform: PlatformName, name: TeamName) -> None:
    """Let a Discord server or a Slack team read its own workspace again."""
    session: Session = context.obj
    request = ops.Binding(platform=platform.lower(), name=name, workspace=None)
    _show(session, session.call(ops.bind_workspace, request))


@workspaces.command("remove")
def remove(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The workspace.")],
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
) -> None:
    """Remove a workspace: documents, conversations, posts, settings. Its folders elsewhere stay."""
    session: Session = context.obj
    state = session.call(erasure.find_workspace, name)
    count = "its document" if state.documents == 1 else f"its {state.documents} documents"
    session.confirm(f"Remove the workspace {name!r}, {count}, and all its conversations?", yes=yes)
    removed = session.call(erasure.remove_workspace, name)
    session.show(removed.removal, WorkspaceRemoval.to_json, str)
    if removed.is_configured and not session.as_json:
        session.notes.print("The configuration still names it: the next sync may add its sources again.", markup=False)


def _show(session: Session, done: ops.Bound) -> None:
    if session.as_json:
        session.print_json({"workspaces": [state.to_json() for state in done.states]})
        return
    change = f"{done.team.label} now reads {done.team.workspace!r}. {_reach(done.team, done.states)}"
    session.console.print(change, markup=False, soft_wrap=True)  # a broken command couldn't be copied


def _reach(one: BoundTeam, states: Sequence[WorkspaceState]) -> str:
    if not one.team.is_connected:
        return not_connected(one.label)
    default = next((state.name for state in states if state.is_default), None)
    documents = next((state.documents for state in states if state.name == one.workspace), 0)
    if not documents:
        return f"It has no documents yet. Add some: `{ingest_command(one.workspace, default)}`."
    count = "its document" if documents == 1 else f"its {documents} documents"
    return (
        f"Every channel there can read {count}; an admin can limit a channel with /settings sources. "
        "Conversations and settings from before stay in the workspace it read until now."
    )
