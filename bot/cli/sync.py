"""Configured sources: `sync`, and their state (`sources`)."""

from collections.abc import Sequence
from typing import Annotated

import typer

from bot.cli.library import ask_readers
from bot.cli.session import Session, by_default
from bot.service import operations as ops
from bot.terminal.reports import ingest_progress, sources_view, sync_view
from core.domain.corpus import Source
from core.domain.readers import READER_FORMS, parse_readers, readers_label
from core.features.syncing import SourceStatus, SyncReport
from core.knowledge.library import Removal

FAILED = 1  # exit code when a source could not be synced

sources = typer.Typer(help="Manage the sources of documents.", invoke_without_command=True)


def register(app: typer.Typer) -> None:
    app.command("sync")(sync)
    sources.callback()(by_default(list_sources))
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
    chosen = _choose_readers(session, names or ())
    with ingest_progress(session.notes) as progress:
        request = ops.SyncRequest(names=list(names or ()), force=force, readers=chosen)
        reports = session.call(ops.sync, request, ops.report_ingest(progress))
    session.show(reports, _sources_json, sync_view)
    if not all(report.is_good for report in reports):
        raise typer.Exit(FAILED)


def _choose_readers(session: Session, names: Sequence[str]) -> dict[str, frozenset[str]]:
    """Ask at a terminal for the readers of new sources whose configuration doesn't set them."""
    if not session.is_interactive:
        return {}
    chosen = dict[str, frozenset[str]]()
    for found in session.call(ops.list_sources, None):
        is_wanted = found.spec is not None and (found.name in names if names else found.spec.enabled)
        if is_wanted and found.spec and found.readers is None and found.spec.readers is None:
            try:
                chosen[found.name] = ask_readers(session, repr(found.name), frozenset())
            except EOFError:
                return chosen
    return chosen


def _sources_json(found: Sequence[SyncReport | SourceStatus]) -> dict[str, object]:
    return {"sources": [item.to_json() for item in found]}


@sources.command("list")
def list_sources(context: typer.Context) -> None:
    """List the sources with their counts and their last sync."""
    session: Session = context.obj
    found = session.call(ops.list_sources, None)
    reason = None if found or session.as_json else session.call(ops.explain_empty, None)
    session.show(found, _sources_json, lambda found: reason or sources_view(found))


@sources.command("remove")
def remove_source(
    context: typer.Context, name: Annotated[str, typer.Argument(metavar="SOURCE", help="Name of the source.")]
) -> None:
    """Remove a source with all its documents. The files themselves stay."""
    session: Session = context.obj
    removed = session.call(ops.remove_source, name)
    session.show(removed.removal, Removal.to_json, str)
    if removed.is_configured and not session.as_json:
        session.notes.print("The source is still configured: the next sync adds it again.", markup=False)


@sources.command("readers")
def set_readers(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="SOURCE", help="Name of the source.")],
    readers: Annotated[
        list[str] | None, typer.Argument(metavar="[READER]...", help=f"Who may read it in chats: {READER_FORMS}.")
    ] = None,
    nobody: Annotated[bool, typer.Option("--nobody", help="Close it for everybody but this machine.")] = False,
) -> None:
    """Show or set who may read a source. A chat shows it only where all who can read the place are among them."""
    session: Session = context.obj
    if readers or nobody:
        change = ops.ReadersChange(source=name, readers=parse_readers(readers or ()))
        found = session.call(ops.set_readers, change)
    else:
        found = session.call(ops.find_source, name)
    session.show(found, _readers_json, lambda found: f"{found.name}: {readers_label(found.readers)}")


def _readers_json(source: Source) -> dict[str, object]:
    return {"source": source.name, "readers": sorted(source.readers)}
