"""`ask`: one question, or a batch of them with one answer on each line."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.questions import answer_batch, answer_one, question_message
from bot.cli.session import Session
from core.domain.answer import AnswerStatus, QueryType
from core.serializers.objects import answer_json


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
        session.run(lambda operations: answer_batch(operations, session, batch))
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
    answered = session.run(lambda operations: answer_one(operations, message))
    if session.as_json:
        session.print_json(answer_json(answered))
    else:
        from bot.terminal.render import answer_view  # rich slows the start down

        session.console.print(answer_view(answered, verbose=verbose))
    if answered.status is AnswerStatus.ERROR:
        raise typer.Exit(1)
