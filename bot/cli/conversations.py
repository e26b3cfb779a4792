"""`conversations`: list, show, rename, delete, export, recap, stale."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.session import Session
from bot.runtime.system import author_name, write_line
from bot.service import operations as ops
from bot.service.calls import Operations
from bot.terminal.render import conversation_table, markdown_view, stale_view
from core.domain.features import ExportedFile
from core.errors import BadInput
from core.features.export import to_markdown
from core.features.staleness.stale_answers import stale_json
from core.serializers.conversations import conversation_json
from core.serializers.objects import citation_json
from core.work.commands import CommandCall, CommandResult

commands = typer.Typer(help="Manage the conversations of this workspace.", no_args_is_help=True)
ConversationId = Annotated[str, typer.Argument(metavar="ID", help="The conversation's ID.")]


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="conversations")


@commands.command("list")
def list_conversations(
    context: typer.Context, document: Annotated[str | None, typer.Option(help="Only those about this document.")] = None
) -> None:
    """List conversations, most recently used first."""
    session: Session = context.obj
    session.show(
        session.call(ops.list_conversations, document),
        lambda found: {"conversations": [conversation_json(item) for item in found]},
        conversation_table,
    )


@commands.command("show")
def show(context: typer.Context, conversation: ConversationId) -> None:
    """Show a conversation with its messages and footnotes."""
    session: Session = context.obj
    session.show(
        session.call(ops.show_conversation, conversation),
        lambda found: conversation_json(found.conversation, found.messages),
        lambda found: markdown_view(to_markdown(found.conversation, found.messages)),
    )


@commands.command("rename")
def rename(
    context: typer.Context, conversation: ConversationId, title: Annotated[str, typer.Argument(help="The new title.")]
) -> None:
    """Change the title of a conversation."""
    session: Session = context.obj
    renamed = session.call(ops.rename_conversation, ops.Renaming(conversation_id=conversation, title=title))
    session.show(renamed, conversation_json, lambda renamed: f"Renamed to “{renamed.title}”.")


@commands.command("delete")
def delete(context: typer.Context, conversation: ConversationId) -> None:
    """Delete a conversation with all its messages."""
    session: Session = context.obj
    session.call(ops.delete_conversation, conversation)
    session.show(conversation, lambda id: {"deleted": id}, lambda id: f"Deleted conversation {id}.")


@commands.command("export")
def export(
    context: typer.Context,
    conversation: ConversationId,
    format: Annotated[str, typer.Option(help="markdown, pdf or json.")] = "markdown",
    output: Annotated[Path | None, typer.Option(help="Write to this file instead of printing.")] = None,
) -> None:
    """Export a conversation as Markdown, PDF or JSON, with numbered sources."""
    session: Session = context.obj
    wanted = "json" if session.as_json else format
    file = session.call(ops.export, ops.ExportRequest(conversation_id=conversation, format=wanted))
    show_file(session, file, output)


def show_file(session: Session, file: ExportedFile, output: Path | None) -> None:
    """Write a file to a path, or print it."""
    if output is not None:
        _write(output, file.data)
        session.console.print(f"Written: {output}", markup=False)
    elif file.is_text:
        write_line(file.data.decode().rstrip("\n"))
    elif sys.stdout.isatty():
        raise BadInput(f"Can't show a PDF here. Write it to a file with --output {file.name}")
    else:
        sys.stdout.buffer.write(file.data)


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise BadInput(f"Can't write {path} ({error.strerror}). Name another file with --output.") from error


@commands.command("recap")
def recap(context: typer.Context, conversation: ConversationId) -> None:
    """Summarise the findings of a conversation, with footnotes that are proved again."""
    session: Session = context.obj

    async def work(operations: Operations) -> CommandResult:
        found = await operations.call(ops.open_conversation, conversation)
        call = CommandCall(
            name="recap", workspace=operations.workspace, conversation=found, author=author_name(), sees_all=True
        )
        return await operations.call(ops.run_command, call)

    session.show(
        session.run(work),
        lambda result: {"recap": result.text, "citations": [citation_json(item) for item in result.citations]},
        lambda result: markdown_view(result.text),
    )


@commands.command("stale")
def stale(context: typer.Context) -> None:
    """List answers that quote passages their documents no longer contain."""
    session: Session = context.obj
    found = session.call(ops.list_stale, None)
    session.show(found, lambda found: {"stale": [stale_json(item) for item in found]}, stale_view)
