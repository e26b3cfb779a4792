"""`access`: who may read what, and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.session import Session

if TYPE_CHECKING:
    from core.features.access_explanation import AccessQuestion

access = typer.Typer(help="Who may read what, and why.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.add_typer(access, name="access")


@access.callback()
def group() -> None:
    """Keeps `explain` a word of its own while it is the only one."""


@access.command("explain")
def explain(
    context: typer.Context,
    channel: Annotated[
        str | None, typer.Option(metavar="PLATFORM:ID", help="Where it is read (default: at this command line).")
    ] = None,
    thread: Annotated[str | None, typer.Option(metavar="ID", help="In this thread of the channel.")] = None,
    person: Annotated[str | None, typer.Option(metavar="ID", help="Who reads: their id on the platform.")] = None,
    alone: Annotated[bool, typer.Option("--alone", help="Nobody else reads along, as in a direct message.")] = False,
    document: Annotated[str | None, typer.Option(help="How much of this document: its path, title or alias.")] = None,
) -> None:
    """Tell which sources and how much of books may be read in a place, and why."""
    session: Session = context.obj
    if thread is not None and channel is None:
        raise typer.BadParameter("--thread names a thread of a channel: give --channel, too")
    question = _question(session, channel, thread or "", person, alone=alone, document=document)
    found = session.run(lambda app: app.explanations.of(question))
    if session.as_json:
        from core.features.access_explanation import explanation_json

        session.print_json(explanation_json(found))
        return
    from bot.terminal.render_access import explanation_view

    session.console.print(explanation_view(found))


def _question(
    session: Session, channel: str | None, thread: str, person: str | None, *, alone: bool, document: str | None
) -> "AccessQuestion":
    """Without a channel it is the person at this machine who reads, as with every other command."""
    from bot.cli.channel_names import is_direct, to_address
    from bot.runtime.local_user import author_name
    from core.features.access_explanation import AccessQuestion

    workspace = session.settings.workspace
    address = to_address(channel, thread, workspace) if channel is not None else None
    return AccessQuestion(
        workspace=workspace,
        address=address,
        reader=person or (author_name() if address is None else None),
        alone=alone or (address is not None and is_direct(address)),
        document=document,
    )
