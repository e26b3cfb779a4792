"""Questions of commands: one from the command line, or one on each line of a file."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bot.cli.session import Session
from bot.runtime.system import author_name, to_json_text, write_line
from bot.service.calls import Operations
from bot.service.local_operations import answer
from bot.terminal.platform import NO_QUESTION
from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import Circumstances, IncomingMessage, ThreadAddress, message_key
from core.errors import BadInput, FootnoteError
from core.serializers.objects import answer_json
from core.work.questions import FORM, QuestionLine, read_line, to_command

TERMINAL = "terminal"


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


async def answer_one(operations: Operations, message: IncomingMessage) -> Answer:
    """Answer a question. BadInput for a command."""
    if to_command(message.text):
        raise BadInput(NO_QUESTION)
    return await operations.call(answer, message)


async def answer_batch(operations: Operations, session: Session, file: Path) -> None:
    """Print an answer, or an error, for each question of a file."""
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
            answered = await answer_one(operations, _to_message(line, session.settings.workspace, conversations))
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
