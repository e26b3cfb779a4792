"""`replay`: make recorded answers again without a network, and keep some as regression cases."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.session import Session
from core.errors import BadInput

if TYPE_CHECKING:
    from core.domain.features import StoredCassette
    from core.features.replay.replaying import Replayed


def register(app: typer.Typer) -> None:
    app.command("replay")(replay)


def replay(
    context: typer.Context,
    answer: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The answer's message id, or how it begins; none: list.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep it as a regression case, which eval plays.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Keep it no longer.")] = False,
) -> None:
    """Make a recorded answer again from its recording alone; says what differs."""
    session: Session = context.obj
    if answer is None:
        if keep or drop:
            raise BadInput("Which answer? Write its id: `footnote replay` lists them.")
        _print_list(session, session.run(lambda app: app.cassettes.list_runs(app.workspace)))
        return
    if keep and drop:
        raise BadInput("--keep and --drop can't both be meant: leave one out.")
    if keep or drop:
        stored = session.run(lambda app: app.cassettes.set_case(answer, app.workspace, is_case=keep))
        said = "is a regression case now: `footnote eval` plays it" if keep else "is no regression case any more"
        if session.as_json:
            session.print_json({"id": stored.message_id, "is_case": keep})
        else:
            session.console.print(f"“{stored.question}” {said}.", markup=False)
        return
    _print_replayed(session, session.run(lambda app: app.cassettes.replay(answer, app.workspace)))


def _print_list(session: Session, runs: "list[StoredCassette]") -> None:
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
        session.console.print("No runs are recorded: ask something, with replay.record on.")


def _to_json(run: "StoredCassette") -> dict[str, object]:
    return {
        "id": run.message_id,
        "question": run.question,
        "recorded_at": run.recorded_at.isoformat(),
        "is_case": run.is_case,
    }


def _print_replayed(session: Session, played: "Replayed") -> None:
    """The answer as it comes out now; exit code 1 where it is not the recorded one to the byte."""
    if session.as_json:
        from core.serializers.objects import answer_json

        session.print_json({"equal": played.is_equal, "difference": played.difference, **answer_json(played.answer)})
    else:
        from bot.terminal.render import answer_view

        session.console.print(answer_view(played.answer))
        session.console.print(played.difference or "Equal to the recorded answer, to the byte.", markup=False)
    if not played.is_equal:
        raise typer.Exit(1)
