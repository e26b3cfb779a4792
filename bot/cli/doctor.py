"""`doctor`: check every part that an answer needs."""

import asyncio
from dataclasses import asdict

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
    told = "\n".join(f"{'✓' if check.ok else '✗'} {check.name}: {check.detail}" for check in checks)
    session.show(checks, lambda checks: {"checks": [asdict(check) for check in checks]}, lambda checks: told)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
