"""`eval` and `doctor`: is it good, and does it work?"""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.session import Session


def register(app: typer.Typer) -> None:
    app.command("eval")(evaluate)
    app.command("doctor")(doctor)


def evaluate(
    context: typer.Context,
    questions: Annotated[Path, typer.Argument(help="A question file (JSON lines) with gold answers.")],
) -> None:
    """Measure retrieval and answers over a question file."""
    session: Session = context.obj
    from bot.cli.eval_report import load_questions, require_something, run_evaluation

    asked = load_questions(questions)
    report = session.run(lambda app: run_evaluation(app, asked, session.notes))
    require_something(report, asked, questions)
    if session.as_json:
        session.print_json(report.to_json())
        return
    from bot.terminal.render import eval_view

    session.console.print(eval_view(report))


def doctor(context: typer.Context) -> None:
    """Check configuration, database, models, index and provider; each problem comes with its fix."""
    session: Session = context.obj
    import asyncio
    from contextlib import AsyncExitStack
    from functools import partial

    from bot.service.doctor import Check, examine
    from bot.wiring.parts import build_parts

    async def main() -> list[Check]:
        if remote := session.remote():
            checks: list[Check] = await remote.doctor()
            return checks
        async with AsyncExitStack() as stack:
            return await examine(partial(build_parts, session.settings, stack))

    checks = asyncio.run(main())
    if session.as_json:
        session.print_json({"checks": [{"name": c.name, "ok": c.ok, "detail": c.detail} for c in checks]})
    else:
        for check in checks:
            session.console.print(f"{'✓' if check.ok else '✗'} {check.name}: {check.detail}", markup=False)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
