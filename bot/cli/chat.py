"""`chat`: a conversation in the terminal."""

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.session import Session
from bot.runtime.local_user import author_name

if TYPE_CHECKING:
    from bot.terminal.client import ChatOptions


def register(app: typer.Typer) -> None:
    app.command("chat")(chat)


def chat(
    context: typer.Context,
    document: Annotated[str | None, typer.Option(help="Talk about this document alone.")] = None,
    conversation: Annotated[str | None, typer.Option(help="Go on in this conversation (its id).")] = None,
    new: Annotated[bool, typer.Option("--new", help="Start a new conversation.")] = False,
    title: Annotated[str | None, typer.Option(help="The new conversation's title.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show tool calls.")] = False,
) -> None:
    """Chat with the library in the terminal; Ctrl+C stops an answer, Ctrl+D leaves."""
    if conversation and new:
        raise typer.BadParameter("--conversation and --new exclude each other")
    from bot.terminal.client import ChatOptions

    options = ChatOptions(
        author=author_name(),
        document=document,
        conversation_id=conversation,
        new=new or title is not None,
        title=title,
        verbose=verbose,
    )
    run_chat(context.obj, options)


def run_chat(session: Session, options: "ChatOptions") -> None:
    """Run the chat until the user leaves."""
    from bot.terminal.client import TerminalChat

    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            parts = runner.run(stack.enter_async_context(session.open()))
            TerminalChat(parts, session.console, options, input).run(runner)
        finally:
            runner.run(stack.aclose())
