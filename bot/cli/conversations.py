"""`conversations`: list, show, rename, delete, export, stale."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.session import Session, write_line
from bot.runtime.local_user import author_name
from core.domain.conversation import Conversation, Message
from core.errors import BadInput

if TYPE_CHECKING:
    from bot.wiring.parts import Parts
    from core.service.commands import CommandResult

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
    from core.serializers.objects import conversation_json

    async def work(app: "Parts") -> list[Conversation]:
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
    from core.features.export import to_markdown
    from core.serializers.objects import conversation_json

    async def work(app: "Parts") -> tuple[Conversation, list[Message]]:
        return await app.histories.show(conversation, app.workspace, await app.scope())

    found, messages = session.run(work)
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
    from core.serializers.objects import conversation_json

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
    format: Annotated[str, typer.Option(help="markdown, pdf or json.")] = "markdown",
    output: Annotated[Path | None, typer.Option(help="Write into this file instead of printing.")] = None,
) -> None:
    """Give a conversation as Markdown, PDF or JSON, with numbered sources."""
    session: Session = context.obj
    from core.domain.features import ExportedFile
    from core.features.export import export_conversation

    async def exported(app: "Parts") -> ExportedFile:
        found, messages = await app.histories.show(conversation, app.workspace, await app.scope())
        return await export_conversation(found, messages, "json" if session.as_json else format)

    file = session.run(exported)
    if output is not None:
        _write(output, file.data)
        session.console.print(f"Written: {output}", markup=False)
    elif file.is_text:
        write_line(file.data.decode().rstrip("\n"))
    elif sys.stdout.isatty():
        raise BadInput(f"A PDF can't be shown here: write it into a file with --output {file.name}")
    else:
        sys.stdout.buffer.write(file.data)


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise BadInput(f"{path} can't be written ({error.strerror}): name another file with --output.") from error


@commands.command("recap")
def recap(context: typer.Context, conversation: ConversationId) -> None:
    """Tell what was found in a conversation so far, with footnotes proved anew."""
    session: Session = context.obj
    from core.serializers.objects import citation_json
    from core.service.commands import CommandCall

    async def work(app: "Parts") -> "CommandResult":
        found, _ = await app.conversations.show(conversation, app.workspace)
        return await app.commands.run(
            CommandCall(name="recap", workspace=app.workspace, conversation=found, author=author_name(), sees_all=True)
        )

    told = session.run(work)
    if session.as_json:
        session.print_json({"recap": told.text, "citations": [citation_json(item) for item in told.citations]})
        return
    from bot.terminal.render import markdown_view

    session.console.print(markdown_view(told.text))


@commands.command("stale")
def stale(context: typer.Context) -> None:
    """List answers whose documents do not say any more what they quote."""
    session: Session = context.obj
    from core.features.staleness.listing import stale_json

    found = session.run(lambda app: app.staleness.list_stale(app.workspace))
    if session.as_json:
        session.print_json({"stale": [stale_json(item) for item in found]})
        return
    from bot.terminal.render import stale_view

    session.console.print(stale_view(found))
