"""`db`: how database and search index are, whether they are sound; a backup, and the index built again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.session import Session

if TYPE_CHECKING:
    from bot.wiring.parts import Parts
    from core.domain.ingest_report import RepairReport
    from core.features.maintenance import StorageStatus

FAULTY = 1  # exit code when something is wrong

commands = typer.Typer(
    help="The database and its search index: how they are, a check, backups.", invoke_without_command=True
)


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="db")


@commands.callback()
def default(context: typer.Context) -> None:
    """Without a word more: how they are."""
    if context.invoked_subcommand is None:
        status(context)


@commands.command("status")
def status(context: typer.Context) -> None:
    """Show what the database holds, and whether the search index holds the same."""
    session: Session = context.obj

    async def work(app: "Parts") -> "StorageStatus":
        return await app.upkeep.status()

    found = session.run(work)
    if session.as_json:
        session.print_json(found.to_json())
        return
    from bot.terminal.storage import status_view

    session.console.print(status_view(found))


@commands.command("check")
def check(context: typer.Context) -> None:
    """Read everything and say what is wrong, each with its fix; the exit code is 1 then."""
    session: Session = context.obj

    async def work(app: "Parts") -> list[str]:
        return await app.upkeep.check()

    faults = session.run(work)
    if session.as_json:
        session.print_json({"ok": not faults, "faults": faults})
    else:
        for line in faults or ["All is well."]:
            session.console.print(f"✗ {line}" if faults else line, markup=False)
    if faults:
        raise typer.Exit(FAULTY)


@commands.command("reindex")
def reindex(
    context: typer.Context,
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Throw the index away first, as for another embedding model.")
    ] = False,
) -> None:
    """Build what the search index lacks from the database alone; no file is read for it."""
    session: Session = context.obj
    from bot.terminal.progress import ingest_progress

    async def work(app: "Parts") -> "RepairReport":
        if from_scratch:
            await app.clear_index()
        return await app.upkeep.reindex(progress)

    with ingest_progress(session.notes) as progress:
        report = session.run(work)
    if session.as_json:
        session.print_json(report.to_json())
        return
    from bot.terminal.storage import repair_line

    session.console.print(repair_line(report), markup=False)


@commands.command("backup")
def back_up(context: typer.Context, file: Annotated[Path, typer.Argument(help="A new zip file.")]) -> None:
    """Write database, kept answers and signing key to one file, also while the service runs."""
    session: Session = context.obj
    target = file.expanduser().absolute()

    async def work(app: "Parts") -> int:
        return await app.upkeep.back_up(target)

    size = session.run(work)
    if session.as_json:
        session.print_json({"file": str(target), "bytes": size})
        return
    from bot.terminal.storage import size_text

    session.console.print(f"{target}: {size_text(size)}. `footnote db restore` brings it back.", markup=False)


@commands.command("restore")
def restore(context: typer.Context, file: Annotated[Path, typer.Argument(help="What `db backup` wrote.")]) -> None:
    """Unpack a backup into an empty data directory, and build the search index from it."""
    session: Session = context.obj
    from bot.wiring.parts import restore as unpack

    session.require_no_service()
    names = unpack(session.settings, file.expanduser())
    if not session.as_json:
        session.console.print(f"{session.settings.data_path}: {', '.join(names)}", markup=False)
    reindex(context)
