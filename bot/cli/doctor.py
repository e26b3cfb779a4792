"""`doctor`: check every part that an answer needs."""

import asyncio

import typer

from bot.cli.session import Session
from bot.service.doctor import check_parts, examine_config


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor(context: typer.Context) -> None:
    """Check every part that an answer needs, and print a fix for each problem."""
    session: Session = context.obj
    if session.find_service():
        checks = session.call(check_parts, None)
    else:
        checks = asyncio.run(examine_config(session.settings))
    if session.as_json:
        session.print_json({"checks": [{"name": c.name, "ok": c.ok, "detail": c.detail} for c in checks]})
    else:
        for check in checks:
            session.console.print(f"{'✓' if check.ok else '✗'} {check.name}: {check.detail}", markup=False)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
