"""`ask`: one question, or a batch of them, one answer a line."""

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from bot.commands.session import Session, to_json_text, write_line
from bot.machine.person import author_name
from bot.terminal.translate import NO_QUESTION
from core.domain.answer import Answer, AnswerStatus, QueryType
from core.domain.conversation import Circumstances, IncomingMessage, ThreadAddress
from core.domain.inbox import message_key
from core.errors import BadInput, FootnoteError

if TYPE_CHECKING:
    from bot.wiring.app import App

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


async def ask_once(app: "App", text: str) -> Answer:
    """The answer to one question, in a new conversation."""
    return await _answer(app, question_message(app.workspace, text))


async def _answer(app: "App", message: IncomingMessage) -> Answer:
    from core.inbox import to_command
    from core.work.progress import SilentProgress

    if to_command(message.text):
        raise BadInput(NO_QUESTION)
    return await app.answers.answer(message, SilentProgress())


def _print(session: Session, answer: Answer, *, verbose: bool) -> None:
    if session.as_json:
        from core.jsonable.objects import answer_json

        session.print_json(answer_json(answer))
        return
    from bot.terminal.render import answer_view

    session.console.print(answer_view(answer, verbose=verbose))


async def _batch(app: "App", session: Session, file: Path) -> None:
    from core.jsonable.objects import answer_json

    conversations: dict[str, str] = {}
    for number, line in _lines(file):
        line_id = f"line {number}"
        try:
            fields = _parse(line, number)
            line_id = str(fields.get("id", line_id))
            _check_question(fields, number)
            answer = await _answer(app, _to_message(fields, session.settings.workspace, conversations))
            conversations[line_id] = answer.conversation_id
        except FootnoteError as error:
            answer = Answer(status=AnswerStatus.ERROR, text=str(error))
        write_line(to_json_text(answer_json(answer, line_id)))


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"The question file {str(file)!r} can't be read: {error}.") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def _parse(line: str, number: int) -> Mapping[str, object]:
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(f"Line {number} is not JSON: {error}.") from error
    if not isinstance(fields, dict):
        raise BadInput(f'Line {number} is no object: write {{"id": "...", "question": "..."}}.')
    return cast(Mapping[str, object], fields)


def _check_question(fields: Mapping[str, object], number: int) -> None:
    if not isinstance(fields.get("question"), str):
        raise BadInput(f'Line {number} has no question: write {{"id": "...", "question": "..."}}.')


def _to_message(fields: Mapping[str, object], workspace: str, conversations: Mapping[str, str]) -> IncomingMessage:
    def text(*names: str) -> str | None:
        value = next((fields[name] for name in names if fields.get(name) not in (None, "")), None)
        return None if value is None else str(value)

    earlier = text("followup_of")
    if earlier is not None and earlier not in conversations:
        raise BadInput(f"followup_of names {earlier!r}, but no line before this one with that id was answered.")
    return replace(
        question_message(workspace, str(fields["question"])),
        conversation_id=conversations[earlier] if earlier else None,
        document=text("document"),
        journal=text("journal"),
        position=text("position", "reader_position"),
        strategy=text("strategy"),
    )
