"""Configured sources: `sync`, and their state (`sources`)."""

from typing import Annotated

import typer

from bot.cli.session import Session
from bot.service import operations as ops
from bot.terminal.reports import ingest_progress, sources_view, sync_view

FAILED = 1  # exit code when a source could not be synced

sources = typer.Typer(help="Manage the sources of documents.", invoke_without_command=True)


def register(app: typer.Typer) -> None:
    app.command("sync")(sync)
    app.add_typer(sources, name="sources")


def sync(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[SOURCE]...", help="Only these sources.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Refetch and reread everything, and accept sources that are now empty.")
    ] = False,
) -> None:
    """Sync the configured sources. One that fails keeps its documents, and the exit code is 1."""
    session: Session = context.obj
    with ingest_progress(session.notes) as progress:
        request = ops.SyncRequest(names=list(names or ()), force=force)
        reports = session.call(ops.sync, request, ops.report_ingest(progress))
    if session.as_json:
        session.print_json({"sources": [report.to_json() for report in reports]})
    else:
        session.console.print(sync_view(reports))
    if not all(report.is_good for report in reports):
        raise typer.Exit(FAILED)


@sources.callback()
def sources_default(context: typer.Context) -> None:
    """List the sources if no subcommand is given."""
    if context.invoked_subcommand is None:
        list_sources(context)


@sources.command("list")
def list_sources(context: typer.Context) -> None:
    """List the sources with their counts and their last sync."""
    session: Session = context.obj
    found = session.call(ops.list_sources, None)
    if session.as_json:
        session.print_json({"sources": [status.to_json() for status in found]})
    else:
        session.console.print(sources_view(found))


@sources.command("remove")
def remove_source(
    context: typer.Context, name: Annotated[str, typer.Argument(metavar="SOURCE", help="Name of the source.")]
) -> None:
    """Remove a source with all its documents. The files themselves stay."""
    session: Session = context.obj
    removed = session.call(ops.remove_source, name)
    session.print_removal(removed.removal)
    if removed.is_configured and not session.as_json:
        session.notes.print("The source is still configured: the next sync adds it again.", markup=False)
