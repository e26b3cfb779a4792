"""`footnote chat`: a conversation in the terminal, with the same entry point as every other platform.

The prompt runs in the main thread, answers in one event loop that lives as long as the chat: Ctrl+C only stops the
running answer; quit, exit and Ctrl+D leave.
"""

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

from bot.terminal.platform import Typed, to_typed
from bot.terminal.render import answer_view, footnote_links, markdown_view, running_view, stale_note, step_line
from core.domain.answer import Answer
from core.domain.conversation import Circumstances, Conversation, IncomingMessage, ThreadAddress, message_key
from core.domain.corpus import Document
from core.domain.features import ExportedFile, StaleAnswer
from core.domain.jobs import Job, JobKind
from core.errors import BadInput, FootnoteError
from core.ports import ProgressSink
from core.service.commands import CommandCall, CommandResult, Question
from core.text.words import is_number
from core.work.conversations import title_from
from core.work.questions import check_question

PROMPT = "> "


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    author: str
    document: str | None = None
    conversation_id: str | None = None
    new: bool = False
    title: str | None = None
    verbose: bool = False


class ChatService(Protocol):
    """The library, in this process or through the running service."""

    @property
    def workspace(self) -> str: ...

    async def find_document(self, name: str) -> Document:
        """Raises NotFound, and BadInput if several fit."""
        ...

    async def open_conversation(self, conversation_id: str) -> Conversation:
        """Raises NotFound."""
        ...

    async def list_conversations(self, document: str | None) -> list[Conversation]:
        """Return the conversations about a document, or all; most recently used first."""
        ...

    async def create_conversation(
        self, first: IncomingMessage, *, title: str, pinned_document_id: str | None
    ) -> Conversation: ...

    async def answer(self, message: IncomingMessage, progress: ProgressSink) -> Answer: ...

    async def run_command(self, call: CommandCall) -> CommandResult: ...

    async def list_stale(self, conversation_id: str) -> list[StaleAnswer]: ...


class TerminalChat:
    def __init__(
        self, service: ChatService, console: Console, options: ChatOptions, read_line: Callable[[str], str]
    ) -> None:
        self._service = service
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
        document = await self._service.find_document(options.document) if options.document else None
        if options.conversation_id:
            self._conversation = await self._service.open_conversation(options.conversation_id)
        elif not options.new:
            self._conversation = await self._pick()
        self._pinned_id = document.id if document else None
        if self._conversation is not None:
            self._console.print(Text(f"Conversation: {self._conversation.title}", style="bold"))
            await self._print_stale_note(self._conversation)

    async def _pick(self) -> Conversation | None:
        """Return one of the earlier conversations, if there are any and the reader picks one."""
        listed = await self._service.list_conversations(self._options.document)
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
            self._conversation = await self._service.create_conversation(
                self._message(question, None),
                title=self._options.title or title_from(question.text),
                pinned_document_id=self._pinned_id,
            )
        progress = _LiveProgress(self._console, verbose=self._options.verbose)
        with progress:
            answer = await self._service.answer(self._message(question, self._conversation), progress)
        self._console.print(answer_view(answer, verbose=self._options.verbose))
        self._conversation = await self._service.open_conversation(answer.conversation_id)

    async def _command(self, typed: Typed) -> None:
        call = CommandCall(
            name=typed.command,
            argument=typed.argument,
            workspace=self._service.workspace,
            conversation=self._conversation,
            author=self._options.author,
            is_admin=True,
            sees_all=True,
        )
        result = await self._service.run_command(call)
        if result.ask is not None:
            await self._ask(result.ask)
            return
        if result.file is not None:
            self._show_file(result.file)
        else:
            self._console.print(markdown_view(result.text))
        if result.citations:
            self._console.print(footnote_links(result.citations))
        if result.open_conversation is not None:
            self._conversation = result.open_conversation
            await self._print_stale_note(self._conversation)
        elif result.start_new:
            self._conversation = None

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
        found = await self._service.list_stale(conversation.id)
        if found:
            self._console.print(stale_note(found))

    def _message(self, question: Question, conversation: Conversation | None) -> IncomingMessage:
        address = ThreadAddress(
            platform="terminal", workspace=self._service.workspace, channel="chat", thread=uuid.uuid4().hex
        )
        key = message_key(address, uuid.uuid4().hex)
        message = IncomingMessage(
            address=address,
            author=self._options.author,
            text="",
            event_key=key,
            message_key=key,
            circumstances=Circumstances(direct=True),
        )
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
