"""`ask`: one question, or a batch of them with one answer on each line."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.session import Session, to_json_text, write_line
from bot.runtime.system import author_name
from bot.service.calls import Operations, answer
from bot.terminal.platform import NO_QUESTION
from core.domain.answer import Answer, AnswerStatus, QueryType
from core.domain.incoming import Circumstances, IncomingMessage, ThreadAddress, message_key
from core.errors import BadInput, FootnoteError
from core.serializers.objects import answer_json
from core.work.questions import FORM, QuestionLine, read_line, to_command

TERMINAL = "terminal"


def register(app: typer.Typer) -> None:
    app.command("ask")(ask)


def ask(
    context: typer.Context,
    question: Annotated[str | None, typer.Argument(help="Your question.")] = None,
    conversation: Annotated[str | None, typer.Option(help="Continue this conversation (ID).")] = None,
    document: Annotated[str | None, typer.Option(help="Answer only from this document (path, title or alias).")] = None,
    journal: Annotated[str | None, typer.Option(help="Answer only from this journal.")] = None,
    type: Annotated[QueryType, typer.Option(help="Kind of answer.")] = QueryType.QUESTION,
    position: Annotated[str | None, typer.Option(help='How far you have read: "[DOCUMENT=]page or chapter".')] = None,
    model: Annotated[str | None, typer.Option(help="Use another model of the provider.")] = None,
    strategy: Annotated[
        str | None, typer.Option(help="Use another strategy: tool_use, always_retrieve, deep or auto.")
    ] = None,
    batch: Annotated[Path | None, typer.Option(help="JSON-lines file of questions; prints one answer a line.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="List all documents that were searched.")] = False,
) -> None:
    """Ask the library a question. The answer has numbered footnotes."""
    session: Session = context.obj
    if (question is None) == (batch is None):
        raise typer.BadParameter("give a question, or --batch with a file")
    if document and journal:
        raise typer.BadParameter("--document and --journal exclude each other")
    if batch is not None:
        session.run(lambda operations: _batch(operations, session, batch))
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
    answered = session.run(lambda operations: _answer(operations, message))
    if session.as_json:
        session.print_json(answer_json(answered))
    else:
        from bot.terminal.render import answer_view  # rich slows the start down

        session.console.print(answer_view(answered, verbose=verbose))
    if answered.status is AnswerStatus.ERROR:
        raise typer.Exit(1)


def question_message(workspace: str, text: str, *, channel: str = "cli") -> IncomingMessage:
    """Return a question from the command line, in a thread of its own."""
    address = ThreadAddress(platform=TERMINAL, workspace=workspace, channel=channel, thread=uuid.uuid4().hex)
    key = message_key(address, uuid.uuid4().hex)
    return IncomingMessage(
        address=address,
        author=author_name(),
        text=text,
        event_key=key,
        message_key=key,
        circumstances=Circumstances(direct=True),
    )


async def _answer(operations: Operations, message: IncomingMessage) -> Answer:
    if to_command(message.text):
        raise BadInput(NO_QUESTION)
    return await operations.call(answer, message)


async def _batch(operations: Operations, session: Session, file: Path) -> None:
    conversations: dict[str, str] = {}
    numbers: dict[str, int] = {}  # line numbers by ID
    for number, text in enumerate(read_lines(file), start=1):
        if not text.strip():
            continue
        line_id = f"line {number}"
        try:
            line = read_line(text, number)
            line_id = line.id
            if line_id in numbers:
                _warn_repeated(session, line_id, numbers[line_id], number)
            numbers[line_id] = number
            conversations.pop(line_id, None)
            answered = await _answer(operations, _to_message(line, session.settings.workspace, conversations))
            conversations[line_id] = answered.conversation_id
        except FootnoteError as error:
            answered = Answer(status=AnswerStatus.ERROR, text=str(error))
        write_line(to_json_text(answer_json(answered, line_id)))
    if not numbers:
        session.notes.print(f"{str(file)!r} holds no question: {FORM}, one on each line.", markup=False)


def read_lines(file: Path) -> list[str]:
    """Return the lines of a question file, empty ones too. BadInput if it can't be read."""
    try:
        return file.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        reason = f"{error.strerror or error}. Check the path"
    except UnicodeDecodeError:
        reason = "it isn't UTF-8 text. Save it as UTF-8, with one JSON object on each line"
    raise BadInput(f"Can't read the question file {str(file)!r}: {reason}.")


def _warn_repeated(session: Session, line_id: str, earlier: int, number: int) -> None:
    session.notes.print(
        f"Lines {earlier} and {number} have the same id {line_id!r}. Follow-ups after line {number} continue the "
        "later one. Give each line its own id.",
        markup=False,
    )


def _to_message(line: QuestionLine, workspace: str, conversations: Mapping[str, str]) -> IncomingMessage:
    earlier, document, journal = line.text("followup_of"), line.text("document"), line.text("journal")
    if earlier is not None and earlier not in conversations:
        raise BadInput(f"followup_of names {earlier!r}, but no earlier line with that id was answered.")
    if document and journal:
        raise BadInput(f"Line {line.number} names a document and a journal. Leave one of them out.")
    return replace(
        question_message(workspace, line.question),
        conversation_id=conversations[earlier] if earlier else None,
        document=document,
        journal=journal,
        position=line.text("position", "reader_position"),
        strategy=line.text("strategy"),
    )
