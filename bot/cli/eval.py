"""`eval`: the quality of retrieval and answers over a question file, searched and asked as the commands do."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

from bot.cli.ask import question_message, read_lines
from bot.cli.session import Session
from bot.service import operations as ops
from bot.service.calls import Operations, answer
from bot.terminal.render import eval_view
from core.domain.answer import Answer
from core.domain.corpus import SearchQuery
from core.errors import BadInput
from core.features.evaluation import SEARCHED, EvaluationReport, FoundPage, GoldQuestion, evaluate, read_questions
from core.work.questions import FORM


def register(app: typer.Typer) -> None:
    app.command("eval")(evaluate_file)


def evaluate_file(
    context: typer.Context,
    questions: Annotated[Path, typer.Argument(help="Question file (JSON lines) with gold answers.")],
) -> None:
    """Measure retrieval and answers over a question file."""
    session: Session = context.obj
    asked = read_questions(read_lines(questions))
    report = session.run(lambda operations: run_evaluation(operations, asked, session.notes))
    if not asked and not report.cases:  # a file without questions replays the regression cases
        raise BadInput(f"The question file {str(questions)!r} holds no question: {FORM}, one on each line.")
    session.show(report, EvaluationReport.to_json, eval_view)


async def run_evaluation(
    operations: Operations, questions: Sequence[GoldQuestion], console: Console
) -> EvaluationReport:
    """Search and ask every question, each chain of follow-ups in its own conversation; then replay the kept cases.

    Progress goes to `console`.
    """
    documents = await operations.call(ops.list_documents, None)
    readable = {document.path for document in documents if document.revision is not None}

    async def search(question: GoldQuestion) -> list[FoundPage]:
        return await operations.call(ops.search_for_evaluation, SearchQuery(text=question.question, limit=SEARCHED))

    async def ask(question: GoldQuestion, conversation_id: str | None) -> Answer:
        position = f"{question.document}={question.position}" if question.position and question.document else None
        message = question_message(operations.workspace, question.question)
        return await operations.call(answer, replace(message, conversation_id=conversation_id, position=position))

    async def page_text(page_id: str) -> str:
        return await operations.call(ops.read_page_text, page_id)

    columns = ("Asking", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("eval", total=len(questions))
        report = await evaluate(
            questions,
            search=search,
            ask=ask,
            page_text=page_text,
            documents=readable,
            on_question=lambda _: bar.advance(task),
        )
    played = await operations.call(ops.play_cases, None)
    return replace(report, cases=played)
