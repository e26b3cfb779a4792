"""`chat`: a conversation in the terminal."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

import typer

from bot.cli.session import Session
from bot.runtime.system import author_name
from bot.service import operations as ops
from bot.service.calls import AnswerProgress, Operations, Progress, answer
from bot.terminal.client import ChatOptions, TerminalChat
from core.domain.answer import Answer
from core.domain.conversation import Conversation, IncomingMessage
from core.domain.corpus import Document
from core.domain.features import StaleAnswer
from core.ports import ProgressSink
from core.service.commands import CommandCall, CommandResult


def register(app: typer.Typer) -> None:
    app.command("chat")(chat)


def chat(
    context: typer.Context,
    document: Annotated[str | None, typer.Option(help="Talk only about this document.")] = None,
    conversation: Annotated[str | None, typer.Option(help="Continue this conversation (ID).")] = None,
    new: Annotated[bool, typer.Option("--new", help="Start a new conversation.")] = False,
    title: Annotated[str | None, typer.Option(help="Title of the new conversation.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show tool calls.")] = False,
) -> None:
    """Chat with the library in the terminal. Ctrl+C stops an answer; Ctrl+D leaves."""
    if conversation and new:
        raise typer.BadParameter("--conversation and --new exclude each other")
    options = ChatOptions(
        author=author_name(),
        document=document,
        conversation_id=conversation,
        new=new or title is not None,
        title=title,
        verbose=verbose,
    )
    session: Session = context.obj
    with asyncio.Runner() as runner:
        operations = session.operations()
        try:
            runner.run(operations.open())
            TerminalChat(ChatOperations(operations), session.console, options, input).run(runner)
        finally:
            runner.run(operations.close())


@dataclass(frozen=True, slots=True)
class ChatOperations:
    """Implements bot.terminal.client.ChatService."""

    operations: Operations

    @property
    def workspace(self) -> str:
        return self.operations.workspace

    async def find_document(self, name: str) -> Document:
        return await self.operations.call(ops.find_document, name)

    async def open_conversation(self, conversation_id: str) -> Conversation:
        return await self.operations.call(ops.open_conversation, conversation_id)

    async def list_conversations(self, document: str | None) -> list[Conversation]:
        return await self.operations.call(ops.list_conversations, document)

    async def create_conversation(
        self, first: IncomingMessage, *, title: str, pinned_document_id: str | None
    ) -> Conversation:
        request = ops.NewConversation(first=first, title=title, pinned_document_id=pinned_document_id)
        return await self.operations.call(ops.create_conversation, request)

    async def answer(self, message: IncomingMessage, progress: ProgressSink) -> Answer:
        def report(change: Progress) -> None:
            if isinstance(change, AnswerProgress):
                change.apply(progress)

        return await self.operations.call(answer, message, report)

    async def run_command(self, call: CommandCall) -> CommandResult:
        return await self.operations.call(ops.run_command, call)

    async def list_stale(self, conversation_id: str) -> list[StaleAnswer]:
        return await self.operations.call(ops.list_stale, conversation_id)
