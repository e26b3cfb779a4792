"""`conversations`: list, show, rename, delete, export, stale."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.session import Session, write_line
from core.domain.conversation import Conversation
from core.errors import BadInput

if TYPE_CHECKING:
    from bot.wiring import App

commands = typer.Typer(help="The conversations of this workspace.", no_args_is_help=True)
ConversationId = Annotated[str, typer.Argument(metavar="ID", help="The conversation's id.")]


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="conversations")


@commands.command("list")
def list_conversations(
    context: typer.Context,
    document: Annotated[str | None, typer.Option(help="Only those about this document.")] = None,
) -> None:
    """List conversations, most recently used first."""
    session: Session = context.obj
    from core.jsonable import conversation_json

    async def work(app: "App") -> list[Conversation]:
        document_id = (await app.find_document(document)).id if document else None
        return await app.conversations.list_conversations(app.workspace, document_id)

    found = session.run(work)
    if session.as_json:
        session.print_json({"conversations": [conversation_json(item) for item in found]})
        return
    from bot.terminal.render import conversation_table

    session.console.print(conversation_table(found))


@commands.command("show")
def show(context: typer.Context, conversation: ConversationId) -> None:
    """Show a conversation with its messages and footnotes."""
    session: Session = context.obj
    from core.export import to_markdown
    from core.jsonable import conversation_json

    found, messages = session.run(lambda app: app.conversations.show(conversation, app.workspace))
    if session.as_json:
        session.print_json(conversation_json(found, messages))
        return
    from bot.terminal.render import markdown_view

    session.console.print(markdown_view(to_markdown(found, messages)))


@commands.command("rename")
def rename(
    context: typer.Context, conversation: ConversationId, title: Annotated[str, typer.Argument(help="The new title.")]
) -> None:
    """Give a conversation another title."""
    session: Session = context.obj
    from core.jsonable import conversation_json

    renamed = session.run(lambda app: app.conversations.rename(conversation, app.workspace, title))
    if session.as_json:
        session.print_json(conversation_json(renamed))
        return
    session.console.print(f"Renamed to “{renamed.title}”.", markup=False)


@commands.command("delete")
def delete(context: typer.Context, conversation: ConversationId) -> None:
    """Delete a conversation with all its messages."""
    session: Session = context.obj
    session.run(lambda app: app.conversations.delete(conversation, app.workspace))
    if session.as_json:
        session.print_json({"deleted": conversation})
        return
    session.console.print(f"Deleted conversation {conversation}.", markup=False)


@commands.command("export")
def export(
    context: typer.Context,
    conversation: ConversationId,
    format: Annotated[str, typer.Option(help="markdown or json.")] = "markdown",
) -> None:
    """Print a conversation as Markdown or JSON, with numbered sources."""
    session: Session = context.obj
    from core.export import FORMATS, to_json, to_markdown

    if session.as_json:
        format = "json"
    if format not in FORMATS:
        raise BadInput(f"There is no export format {format!r}: use {' or '.join(FORMATS)}.")
    found, messages = session.run(lambda app: app.conversations.show(conversation, app.workspace))
    write_line((to_json if format == "json" else to_markdown)(found, messages).rstrip("\n"))


@commands.command("stale")
def stale(context: typer.Context) -> None:
    """List answers whose documents do not say any more what they quote."""
    session: Session = context.obj
    from core.stale_listing import stale_json

    found = session.run(lambda app: app.staleness.list_stale(app.workspace))
    if session.as_json:
        session.print_json({"stale": [stale_json(item) for item in found]})
        return
    from bot.terminal.render import stale_view

    session.console.print(stale_view(found))
