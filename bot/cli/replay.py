"""`replay`: repeat recorded answers without a network, and keep some as regression cases."""

from typing import Annotated

import typer

from bot.cli.session import Session
from bot.service import operations as ops
from bot.terminal.render import answer_view
from core.domain.features import Replayed, StoredCassette
from core.errors import BadInput
from core.serializers.objects import answer_json


def register(app: typer.Typer) -> None:
    app.command("replay")(replay)


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
        _print_list(session, session.call(ops.list_recordings, None))
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


def _print_list(session: Session, runs: list[StoredCassette]) -> None:
    if session.as_json:
        session.print_json({"runs": [_to_json(run) for run in runs]})
        return
    for run in runs:
        mark = "case " if run.is_case else ""
        session.console.print(
            f"{run.message_id}  {run.recorded_at:%Y-%m-%d %H:%M} UTC  {mark}{run.question}",
            markup=False,
            soft_wrap=True,
        )
    if not runs:
        session.console.print("No recorded answers. Set replay.record, then ask a question.")


def _to_json(run: StoredCassette) -> dict[str, object]:
    return {
        "id": run.message_id,
        "question": run.question,
        "recorded_at": run.recorded_at.isoformat(),
        "is_case": run.is_case,
    }


def _print_replayed(session: Session, played: Replayed) -> None:
    """Print the repeated answer. Exits with 1 unless it equals the recorded one byte for byte."""
    if session.as_json:
        session.print_json({"equal": played.is_equal, "difference": played.difference, **answer_json(played.answer)})
    else:
        session.console.print(answer_view(played.answer))
        session.console.print(played.difference or "Identical to the recorded answer.", markup=False)
    if not played.is_equal:
        raise typer.Exit(1)
