"""The quality of answers: `eval` over a file, `replay` of recorded answers, `verify` of exported ones."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

from bot.cli.questions import question_message, read_lines
from bot.cli.session import Session
from bot.runtime.system import to_json_text, write_line
from bot.service import operations as ops
from bot.service import quality, rooms
from bot.service.calls import Operations
from bot.service.local_operations import answer
from bot.service.quality import judge_claims, verify_answer
from bot.terminal.render import answer_view, claims_view, eval_view, rooms_view, verification_view
from core.domain.answer import Answer
from core.domain.corpus import SearchQuery
from core.domain.features import Replayed, StoredCassette
from core.errors import BadInput
from core.features.claim_evaluation import ClaimReport, read_claims
from core.features.evaluation import (
    LOOKUP,
    SEARCHED,
    EvaluationReport,
    FoundPage,
    GoldQuestion,
    evaluate,
    read_questions,
)
from core.features.room_evaluation import (
    Heard,
    LabelledScene,
    RoomReport,
    read_everyday,
    read_rooms,
    score_everyday,
    score_rooms,
)
from core.features.verification import NOT_AN_ANSWER, Verification
from core.serializers.objects import answer_json
from core.work.questions import FORM


def register(app: typer.Typer) -> None:
    app.command("eval")(evaluate_file)
    app.command("replay")(replay)
    app.command("verify")(verify)


CLAIMS, ROOMS, EVERYDAY = "claims", "rooms", "everyday"
KINDS = (CLAIMS, ROOMS, EVERYDAY)


def evaluate_file(
    context: typer.Context,
    questions: Annotated[
        Path,
        typer.Argument(
            help=f"Question file (JSON lines) with gold answers; or {', '.join(KINDS[:-1])} or {KINDS[-1]}, "
            "then a file of that kind."
        ),
    ],
    file: Annotated[
        Path | None,
        typer.Argument(help="JSON lines: sentences with quotes, conversations, or single messages; all with labels."),
    ] = None,
) -> None:
    """Measure retrieval and answers over a question file, the support check over claims, or manners among people."""
    session: Session = context.obj
    if file is not None:
        if str(questions) not in KINDS:
            raise typer.BadParameter(f"expected one question file, or one of {', '.join(KINDS)} and a file")
        if str(questions) == CLAIMS:
            _evaluate_claims(session, file)
        else:
            _evaluate_rooms(session, str(questions), file)
        return
    asked = read_questions(read_lines(questions))
    report = session.run(lambda operations: run_evaluation(operations, asked, session.notes))
    if not asked and not report.cases:  # a file without questions replays the regression cases
        raise BadInput(f"The question file {str(questions)!r} holds no question: {FORM}, one on each line.")
    session.show(report, EvaluationReport.to_json, eval_view)


def _evaluate_claims(session: Session, file: Path) -> None:
    """Print a verdict for each line as JSON; for people, the figures over the labels."""
    claims = read_claims(read_lines(file))
    judged = session.call(judge_claims, [line.claim for line in claims])
    report = ClaimReport(verdicts=list(zip(claims, judged, strict=True)))
    if session.as_json:
        for claim, judgement in report.verdicts:
            write_line(to_json_text({"id": claim.id, "verdict": judgement.verdict.value}))
    else:
        session.console.print(claims_view(report), markup=False)


def _evaluate_rooms(session: Session, kind: str, file: Path) -> None:
    read, score = (read_rooms, score_rooms) if kind == ROOMS else (read_everyday, score_everyday)
    scenes = read(read_lines(file))
    played = session.run(lambda operations: _play(operations, scenes, session.notes))
    session.show(score(played), RoomReport.to_json, rooms_view)


async def _play(
    operations: Operations, scenes: Sequence[LabelledScene], console: Console
) -> list[tuple[LabelledScene, list[Heard]]]:
    """Play each conversation, with progress on `console`."""
    columns = ("Playing", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    played = []
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("eval", total=len(scenes))
        for line in scenes:
            played.append((line, await operations.call(rooms.play_scene, line.scene)))
            bar.advance(task)
    return played


def verify(
    context: typer.Context,
    answer: Annotated[Path, typer.Argument(help="File with an answer, as `footnote ask --json` prints it.")],
) -> None:
    """Check an exported answer against the library: quotes, places, revisions, numbers and support."""
    session: Session = context.obj
    try:
        given = json.loads("\n".join(read_lines(answer)))
    except ValueError as error:
        raise BadInput(NOT_AN_ANSWER) from error
    if not isinstance(given, dict):
        raise BadInput(NOT_AN_ANSWER)
    found = session.call(verify_answer, given)
    session.show(found, Verification.to_json, verification_view)
    if found.problems:
        raise typer.Exit(1)


async def run_evaluation(
    operations: Operations, questions: Sequence[GoldQuestion], console: Console
) -> EvaluationReport:
    """Search and ask every question, each chain of follow-ups in its own conversation; then replay the kept cases.

    Progress goes to `console`.
    """
    documents = await operations.call(ops.list_documents, None)
    readable = {document.path for document in documents if document.revision is not None}
    await operations.call(quality.load_models, None)

    async def search(question: GoldQuestion) -> list[FoundPage]:
        return await operations.call(quality.search_for_evaluation, SearchQuery(text=question.question, limit=SEARCHED))

    async def ask(question: GoldQuestion, conversation_id: str | None) -> Answer:
        position = f"{question.document}={question.position}" if question.position and question.document else None
        message = question_message(operations.workspace, question.question)
        return await operations.call(answer, replace(message, conversation_id=conversation_id, position=position))

    async def page_text(page_id: str) -> str:
        return await operations.call(quality.read_page_text, page_id)

    async def in_table(question: GoldQuestion) -> bool:
        return question.type == LOOKUP and await operations.call(quality.is_in_table, question)

    columns = ("Asking", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("eval", total=len(questions))
        report = await evaluate(
            questions,
            search=search,
            ask=ask,
            page_text=page_text,
            documents=readable,
            in_table=in_table,
            on_question=lambda _: bar.advance(task),
        )
    played = await operations.call(quality.play_cases, None)
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
        _print_recordings(session, session.call(quality.list_recordings, None))
    elif keep and drop:
        raise BadInput("--keep and --drop exclude each other. Leave one out.")
    elif keep or drop:
        _set_case(session, answer, is_case=keep)
    else:
        _print_replayed(session, session.call(quality.replay, answer))


def _set_case(session: Session, answer: str, *, is_case: bool) -> None:
    stored = session.call(quality.set_case, quality.CaseChange(message_id=answer, is_case=is_case))
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
