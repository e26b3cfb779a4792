"""`ask`: one question, or a batch of them, one answer a line."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.question_files import read_lines
from bot.cli.session import Session, to_json_text, write_line
from bot.runtime.local_user import author_name
from bot.terminal.translate import NO_QUESTION
from core.domain.answer import Answer, AnswerStatus, QueryType
from core.domain.conversation import Circumstances, IncomingMessage, ThreadAddress, message_key
from core.errors import BadInput, FootnoteError
from core.work.question_lines import FORM, QuestionLine, read_line

if TYPE_CHECKING:
    from bot.wiring.parts import Parts

TERMINAL = "terminal"


def register(app: typer.Typer) -> None:
    app.command("ask")(ask)


def ask(
    context: typer.Context,
    question: Annotated[str | None, typer.Argument(help="What you want to know.")] = None,
    conversation: Annotated[str | None, typer.Option(help="Go on in this conversation (its id).")] = None,
    document: Annotated[
        str | None, typer.Option(help="Answer from this document alone (path, title or alias).")
    ] = None,
    journal: Annotated[str | None, typer.Option(help="Answer from this journal alone.")] = None,
    type: Annotated[QueryType, typer.Option(help="What kind of answer.")] = QueryType.QUESTION,
    position: Annotated[str | None, typer.Option(help='How far you have read: "[DOCUMENT=]page or chapter".')] = None,
    model: Annotated[str | None, typer.Option(help="Another model of the provider.")] = None,
    strategy: Annotated[
        str | None, typer.Option(help="Another way to answer: tool_use, always_retrieve, deep or auto.")
    ] = None,
    batch: Annotated[Path | None, typer.Option(help="A JSON-lines file of questions; one answer a line.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Name all documents that were looked at.")] = False,
) -> None:
    """Ask the library a question; the answer has numbered footnotes."""
    session: Session = context.obj
    if (question is None) == (batch is None):
        raise typer.BadParameter("give a question, or --batch with a file")
    if document and journal:
        raise typer.BadParameter("--document and --journal exclude each other")
    if batch is not None:
        session.run(lambda app: _batch(app, session, batch))
        return
    message = replace(
        question_message(session.settings.workspace, question or ""),
        conversation_id=conversation,
        document=document,
        journal=journal,
        query_type=type,
        position=position,
        model=model,
        strategy=strategy,
    )
    answer = session.run(lambda app: _answer(app, message))
    _print(session, answer, verbose=verbose)
    if answer.status is AnswerStatus.ERROR:
        raise typer.Exit(1)


def question_message(workspace: str, text: str) -> IncomingMessage:
    """A question from the command line, in a thread of its own."""
    address = ThreadAddress(platform=TERMINAL, workspace=workspace, channel="cli", thread=uuid.uuid4().hex)
    key = message_key(address, uuid.uuid4().hex)
    return IncomingMessage(
        address=address,
        author=author_name(),
        text=text,
        event_key=key,
        message_key=key,
        circumstances=Circumstances(direct=True),
    )


async def ask_once(app: "Parts", text: str) -> Answer:
    """The answer to one question, in a new conversation."""
    return await _answer(app, question_message(app.workspace, text))


async def _answer(app: "Parts", message: IncomingMessage) -> Answer:
    from core.service.inbox import to_command
    from core.work.progress import SilentProgress

    if to_command(message.text):
        raise BadInput(NO_QUESTION)
    return await app.answers.answer(message, SilentProgress())


def _print(session: Session, answer: Answer, *, verbose: bool) -> None:
    if session.as_json:
        from core.serializers.objects import answer_json

        session.print_json(answer_json(answer))
        return
    from bot.terminal.render import answer_view

    session.console.print(answer_view(answer, verbose=verbose))


async def _batch(app: "Parts", session: Session, file: Path) -> None:
    from core.serializers.objects import answer_json

    conversations: dict[str, str] = {}
    numbers: dict[str, int] = {}  # lines of ids
    for number, text in enumerate(read_lines(file), start=1):
        if not text.strip():
            continue
        line_id = f"line {number}"
        try:
            line = read_line(text, number)
            line_id = line.id
            if line_id in numbers:
                _tell_repeated(session, line_id, numbers[line_id], number)
            numbers[line_id] = number
            conversations.pop(line_id, None)
            answer = await _answer(app, _to_message(line, session.settings.workspace, conversations))
            conversations[line_id] = answer.conversation_id
        except FootnoteError as error:
            answer = Answer(status=AnswerStatus.ERROR, text=str(error))
        write_line(to_json_text(answer_json(answer, line_id)))
    if not numbers:
        session.notes.print(f"{str(file)!r} holds no question: {FORM}, one on each line.", markup=False)


def _tell_repeated(session: Session, line_id: str, earlier: int, number: int) -> None:
    session.notes.print(
        f"Lines {earlier} and {number} have the same id {line_id!r}: what follows it from here on "
        "follows the later one. Give each line an id of its own.",
        markup=False,
    )


def _to_message(line: QuestionLine, workspace: str, conversations: Mapping[str, str]) -> IncomingMessage:
    earlier, document, journal = line.text("followup_of"), line.text("document"), line.text("journal")
    if earlier is not None and earlier not in conversations:
        raise BadInput(f"followup_of names {earlier!r}, but no line before this one with that id was answered.")
    if document and journal:
        raise BadInput(f"Line {line.number} names a document and a journal: leave one of them out.")
    return replace(
        question_message(workspace, line.question),
        conversation_id=conversations[earlier] if earlier else None,
        document=document,
        journal=journal,
        position=line.text("position", "reader_position"),
        strategy=line.text("strategy"),
    )
