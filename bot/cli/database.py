"""`db`: the state of database and search index, a check, backups, and a rebuilt index."""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.session import Session, by_default
from bot.service import operations as ops
from bot.terminal.reports import ingest_progress, repair_line, size_text, storage_view
from bot.wiring.parts import restore as restore_backup
from core.domain.ingest_report import RepairReport
from core.errors import InvalidState
from core.features.maintenance import StorageStatus

FAULTY = 1  # exit code when the check finds a problem

commands = typer.Typer(
    help="Show, check, back up and rebuild the database and its search index.", invoke_without_command=True
)


def register(app: typer.Typer) -> None:
    commands.callback()(by_default(status))
    app.add_typer(commands, name="db")


@commands.command("status")
def status(context: typer.Context) -> None:
    """Show the contents of the database, and whether the search index matches."""
    session: Session = context.obj
    session.show(session.call(ops.show_storage, None), StorageStatus.to_json, storage_view)


@commands.command("check")
def check(context: typer.Context) -> None:
    """Check the database and index, and print a fix for each problem. Exits with 1 if it finds any."""
    session: Session = context.obj
    faults = session.call(ops.check_storage, None)
    told = "\n".join(f"✗ {line}" for line in faults) or "No problems found."
    session.show(faults, lambda faults: {"ok": not faults, "faults": faults}, lambda faults: told)
    if faults:
        raise typer.Exit(FAULTY)


@commands.command("reindex")
def reindex(
    context: typer.Context,
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Delete the index first, as for another embedding model.")
    ] = False,
) -> None:
    """Add missing passages to the search index from the database, without reading any files."""
    session: Session = context.obj
    with ingest_progress(session.notes) as progress:
        report = session.call(ops.reindex, from_scratch, ops.report_ingest(progress))
    session.show(report, RepairReport.to_json, repair_line)


@commands.command("backup")
def back_up(context: typer.Context, file: Annotated[Path, typer.Argument(help="A new zip file.")]) -> None:
    """Write database, kept answers, uploads and signing key to one file, also while the service runs."""
    session: Session = context.obj
    target = file.expanduser().absolute()
    size = session.call(ops.back_up, target)
    told = f"{target}: {size_text(size)}. To restore it, run `footnote db restore`."
    session.show(size, lambda size: {"file": str(target), "bytes": size}, lambda size: told)


@commands.command("restore")
def restore(context: typer.Context, file: Annotated[Path, typer.Argument(help="File written by `db backup`.")]) -> None:
    """Unpack a backup into an empty data directory, and build its search index."""
    session: Session = context.obj
    session.require_no_service()
    if session.settings.database_url() is not None:
        raise InvalidState(
            "The configuration names a PostgreSQL database: restore that one with pg_restore, then build the search "
            "index with `footnote db reindex`."
        )
    names = restore_backup(session.settings, file.expanduser())
    if not session.as_json:
        session.console.print(f"{session.settings.data_path}: {', '.join(names)}", markup=False)
    reindex(context)
