"""The quality of answers: `eval` over a question file, `replay` of recorded answers without a network."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

from bot.cli.questions import question_message, read_lines
from bot.cli.session import Session
from bot.service import operations as ops
from bot.service.calls import Operations
from bot.service.local_operations import answer
from bot.terminal.render import answer_view, eval_view
from core.domain.answer import Answer
from core.domain.corpus import SearchQuery
from core.domain.features import Replayed, StoredCassette
from core.errors import BadInput
from core.features.evaluation import SEARCHED, EvaluationReport, FoundPage, GoldQuestion, evaluate, read_questions
from core.serializers.objects import answer_json
from core.work.questions import FORM


def register(app: typer.Typer) -> None:
    app.command("eval")(evaluate_file)
    app.command("replay")(replay)


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


def replay(
    context: typer.Context,
    answer: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="Message ID of the answer, or its beginning. Leave out to list."),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep it as a regression case for eval.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Remove it from the regression cases.")] = False,
) -> None:
    """Repeat a recorded answer from its recording, and show differences."""
    session: Session = context.obj
    if answer is None:
        if keep or drop:
            raise BadInput("Missing answer ID. Run `footnote replay` to list recorded answers.")
        _print_recordings(session, session.call(ops.list_recordings, None))
    elif keep and drop:
        raise BadInput("--keep and --drop exclude each other. Leave one out.")
    elif keep or drop:
        _set_case(session, answer, is_case=keep)
    else:
        _print_replayed(session, session.call(ops.replay, answer))


def _set_case(session: Session, answer: str, *, is_case: bool) -> None:
    stored = session.call(ops.set_case, ops.CaseChange(message_id=answer, is_case=is_case))
    state = "is now a regression case. `footnote eval` replays it" if is_case else "is no longer a regression case"
    session.show(
        stored,
        lambda stored: {"id": stored.message_id, "is_case": is_case},
        lambda stored: f"“{stored.question}” {state}.",
    )


def _print_recordings(session: Session, runs: list[StoredCassette]) -> None:
    if session.as_json:
        shown = [
            {
                "id": run.message_id,
                "question": run.question,
                "recorded_at": run.recorded_at.isoformat(),
                "is_case": run.is_case,
            }
            for run in runs
        ]
        session.print_json({"runs": shown})
        return
    for run in runs:
        mark = "case " if run.is_case else ""
        line = f"{run.message_id}  {run.recorded_at:%Y-%m-%d %H:%M} UTC  {mark}{run.question}"
        session.console.print(line, markup=False, soft_wrap=True)
    if not runs:
        session.console.print("No recorded answers. Set replay.record, then ask a question.")


def _print_replayed(session: Session, played: Replayed) -> None:
    """Print the repeated answer. Exits with 1 unless it equals the recorded one byte for byte."""
    if session.as_json:
        session.print_json({"equal": played.is_equal, "difference": played.difference, **answer_json(played.answer)})
    else:
        session.console.print(answer_view(played.answer))
        session.console.print(played.difference or "Identical to the recorded answer.", markup=False)
    if not played.is_equal:
        raise typer.Exit(1)
