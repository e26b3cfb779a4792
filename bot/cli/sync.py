"""Configured sources: `sync`, and how they stand (`sources`)."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.session import Session

if TYPE_CHECKING:
    from bot.wiring.parts import Parts
    from core.features.syncing import SourceStatus, SyncReport
    from core.knowledge.library import Removal

FAILED = 1  # exit code when a source could not be synced

sources = typer.Typer(help="Where documents come from.", invoke_without_command=True)


def register(app: typer.Typer) -> None:
    app.command("sync")(sync)
    app.add_typer(sources, name="sources")


def sync(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[SOURCE]...", help="Only these sources.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Fetch and read everything anew, even an emptied one.")
    ] = False,
) -> None:
    """Bring the sources of the configuration up to date; one that fails keeps its documents, and the exit code is 1."""
    session: Session = context.obj
    from bot.terminal.progress import ingest_progress

    async def work(app: "Parts") -> "list[SyncReport]":
        return await app.syncs.sync(app.workspace, list(names or ()), force=force, progress=progress)

    with ingest_progress(session.notes) as progress:
        reports = session.run(work)
    if session.as_json:
        session.print_json({"sources": [report.to_json() for report in reports]})
    else:
        from bot.terminal.render_syncs import sync_view

        session.console.print(sync_view(reports))
    if not all(report.is_good for report in reports):
        raise typer.Exit(FAILED)


@sources.callback()
def sources_default(context: typer.Context) -> None:
    """Without a word more: list them."""
    if context.invoked_subcommand is None:
        list_sources(context)


@sources.command("list")
def list_sources(context: typer.Context) -> None:
    """List the sources with their counts and their last sync."""
    session: Session = context.obj

    async def work(app: "Parts") -> "list[SourceStatus]":
        return await app.syncs.overview(app.workspace)

    found = session.run(work)
    if session.as_json:
        session.print_json({"sources": [status.to_json() for status in found]})
        return
    from bot.terminal.render_syncs import status_view

    session.console.print(status_view(found))


@sources.command("remove")
def remove_source(
    context: typer.Context, name: Annotated[str, typer.Argument(metavar="SOURCE", help="The source's name.")]
) -> None:
    """Remove a source with all its documents; the files themselves stay."""
    session: Session = context.obj

    async def work(app: "Parts") -> "tuple[Removal, bool]":
        removal = await app.library.remove_source(app.workspace, name)
        await app.syncs.forget(app.workspace, name)
        left = await app.syncs.overview(app.workspace)
        return removal, any(status.name == name for status in left)

    removal, is_configured = session.run(work)
    if session.as_json:
        session.print_json(
            {"removed": removal.name, "documents": removal.documents, "conversations": removal.conversations}
        )
        return
    session.console.print(str(removal), markup=False)
    if is_configured:
        session.notes.print("It is still in the configuration: the next sync brings it back.", markup=False)
