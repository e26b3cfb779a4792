"""`chat`: a conversation in the terminal.

The prompt runs in the main thread, answers in one event loop that lives as long as the chat: Ctrl+C only stops the
running answer; quit, exit and Ctrl+D leave.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from bot.cli.questions import question_message
from bot.cli.session import Session
from bot.runtime.system import author_name
from bot.service import operations as ops
from bot.service.calls import AnswerProgress, Operations, Progress
from bot.service.local_operations import answer
from bot.terminal.console import complete_with_tab
from bot.terminal.platform import Typed, to_typed
from bot.terminal.render import answer_view, footnote_links, markdown_view, running_view, stale_note, step_line
from core.domain.conversation import Conversation
from core.domain.features import ExportedFile
from core.domain.incoming import IncomingMessage
from core.domain.jobs import Job, JobKind
from core.errors import BadInput, FootnoteError
from core.text.notation import is_number
from core.work.commands import CommandCall, Question
from core.work.history import title_from
from core.work.questions import check_question

PROMPT = "> "


def register(app: typer.Typer) -> None:
    app.command("chat")(chat)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    document: str | None = None
    conversation_id: str | None = None
    new: bool = False
    title: str | None = None
    verbose: bool = False


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
        document=document, conversation_id=conversation, new=new or title is not None, title=title, verbose=verbose
    )
    session: Session = context.obj
    with asyncio.Runner() as runner:
        operations = session.operations()
        try:
            runner.run(operations.open())
            TerminalChat(operations, session.console, options, input).run(runner)
        finally:
            runner.run(operations.close())


class TerminalChat:
    def __init__(
        self, operations: Operations, console: Console, options: ChatOptions, read_line: Callable[[str], str]
    ) -> None:
        self._call = operations.call
        self._workspace = operations.workspace
        self._console = console
        self._options = options
        self._read_line = read_line
        self._conversation: Conversation | None = None  # None: the next question starts one
        self._pinned_id: str | None = None
        self._typed_early: str | None = None  # instead of picking a conversation

    def run(self, runner: asyncio.Runner) -> None:
        """Chat until the reader leaves. Raises NotFound for an unknown conversation or document."""
        try:
            runner.run(self._begin())
        except EOFError:
            return
        complete_with_tab(lambda line: runner.run(self._complete(line)))
        self._console.print("Ask a question. /help lists commands; quit, exit or Ctrl+D leaves.", style="dim")
        while True:
            try:
                typed = to_typed(self._next_line())
            except EOFError:
                break
            except KeyboardInterrupt:
                self._console.print("(quit or Ctrl+D leaves)", style="dim")
                continue
            if typed.leave:
                break
            self._do(runner, typed)

    def _next_line(self) -> str:
        early, self._typed_early = self._typed_early, None
        return self._read_line(PROMPT) if early is None else early

    def _do(self, runner: asyncio.Runner, typed: Typed) -> None:
        try:
            if typed.command:
                runner.run(self._command(typed))
            elif typed.question:
                runner.run(self._ask(Question(text=typed.question)))
        except KeyboardInterrupt:
            self._console.print("Stopped.", style="yellow")
        except FootnoteError as error:
            self._console.print(Text(str(error), style="red"))

    async def _begin(self) -> None:
        options = self._options
        if options.document:
            self._pinned_id = (await self._call(ops.find_document, options.document)).id
        if options.conversation_id:
            self._conversation = await self._call(ops.open_conversation, options.conversation_id)
        elif not options.new:
            self._conversation = await self._pick()
        if self._conversation is not None:
            self._console.print(Text(f"Conversation: {self._conversation.title}", style="bold"))
            await self._print_stale_note(self._conversation)

    async def _pick(self) -> Conversation | None:
        """Return one of the earlier conversations, if there are any and the reader picks one."""
        listed = await self._call(ops.list_conversations, self._options.document)
        found = [item for item in listed if not item.is_channel_talk][:9]
        if not found:
            return None
        for number, item in enumerate(found, start=1):
            self._console.print(Text(f"  {number}. {item.title or '(no title)'}  {item.last_message_at:%Y-%m-%d}"))
        choice = self._read_line("Number to go on, Enter or a question for a new conversation: ").strip()
        if not is_number(choice):
            self._typed_early = choice or None
            return None
        if 1 <= int(choice) <= len(found):
            return found[int(choice) - 1]
        self._console.print(f"There is no {choice} in the list: your next question begins a new conversation.")
        return None

    async def _ask(self, question: Question) -> None:
        check_question(question.text)
        if self._conversation is None:
            first, title = self._message(question, None), self._options.title or title_from(question.text)
            new = ops.NewConversation(first=first, title=title, pinned_document_id=self._pinned_id)
            self._conversation = await self._call(ops.create_conversation, new)
        progress = _LiveProgress(self._console, verbose=self._options.verbose)
        with progress:
            answered = await self._call(answer, self._message(question, self._conversation), progress.report)
        self._console.print(answer_view(answered, verbose=self._options.verbose))
        self._conversation = await self._call(ops.open_conversation, answered.conversation_id)

    async def _command(self, typed: Typed) -> None:
        result = await self._call(ops.run_command, self._command_call(typed.command, typed.argument))
        if result.ask is not None:
            await self._ask(result.ask)
            return
        if result.file is not None:
            self._show_file(result.file)
        else:
            self._console.print(markdown_view(result.full_text))
        if result.citations:
            self._console.print(footnote_links(result.citations))
        if result.open_conversation is not None:
            self._conversation = result.open_conversation
            await self._print_stale_note(self._conversation)
        elif result.start_new:
            self._conversation = None

    def _command_call(self, name: str, argument: str) -> CommandCall:
        return CommandCall(
            name=name,
            argument=argument,
            workspace=self._workspace,
            conversation=self._conversation,
            author=author_name(),
            is_admin=True,
            sees_all=True,
        )

    async def _complete(self, line: str) -> list[str]:
        """Return the lines that continue a command; none for a question."""
        return await self._call(ops.complete_line, self._command_call("", line)) if line.startswith("/") else []

    def _show_file(self, file: ExportedFile) -> None:
        """Print a text file; write any other into the current folder, but never over an existing one."""
        if file.is_text:
            self._console.print(Text(file.data.decode()))
            return
        try:
            with Path(file.name).open("xb") as written:
                written.write(file.data)
        except OSError as error:
            raise BadInput(
                f"{file.name} can't be written here ({error.strerror}): move it away, or leave the chat and use "
                "footnote conversations export with --output."
            ) from error
        self._console.print(Text(f"Written: {file.name}"))

    async def _print_stale_note(self, conversation: Conversation) -> None:
        """Print a note about stale answers, which can't be sent while no chat is open."""
        found = await self._call(ops.list_stale, conversation.id)
        if found:
            self._console.print(stale_note(found))

    def _message(self, question: Question, conversation: Conversation | None) -> IncomingMessage:
        message = question_message(self._workspace, "", channel="chat")
        return question.on(replace(message, conversation_id=conversation.id if conversation else None))


class _LiveProgress:
    """The steps, then the growing draft without footnotes, until the answer is there; `verbose` keeps tool calls."""

    def __init__(self, console: Console, *, verbose: bool) -> None:
        self._console = console
        self._verbose = verbose
        self._draft = ""
        self._jobs: dict[str, Job] = {}
        self._live = Live(Text("…", style="dim"), console=console, transient=True, refresh_per_second=8)

    def __enter__(self) -> "_LiveProgress":
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def report(self, change: Progress) -> None:
        if isinstance(change, AnswerProgress):
            change.apply(self)

    def text(self, piece: str) -> None:
        self._draft += piece
        self._live.update(Text(self._draft))

    def reset(self) -> None:
        self._draft = ""
        self._live.update(running_view([*self._jobs.values()]))

    def step(self, job: Job) -> None:
        self._jobs[job.id] = job
        if not self._draft:
            self._live.update(running_view([*self._jobs.values()]))
        if self._verbose and job.status.is_final and job.kind is not JobKind.REQUEST:
            self._console.print(step_line(job))
