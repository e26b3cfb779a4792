"""`doctor`: check every part that an answer needs."""

import asyncio
from dataclasses import asdict

import typer

from bot.cli.session import Session
from bot.service.doctor import check_parts, examine_config

OFF = "off:"  # begins the line of a platform that isn't set up
HINT = "`footnote init` sets up what is missing, step by step."


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor(context: typer.Context) -> None:
    """Check every part that an answer needs, and print a fix for each problem."""
    session: Session = context.obj
    if session.find_service():
        checks = session.call(check_parts, None)
    else:
        checks = asyncio.run(examine_config(session.settings, session.default_workspace))
    told = "\n".join(f"{'✓' if check.ok else '✗'} {check.name}: {check.detail}" for check in checks)
    if session.as_json:
        session.print_json({"checks": [asdict(check) for check in checks]})
    else:  # soft: a line break in a link would make it useless
        session.console.print(told, markup=False, soft_wrap=True)
        if any(not check.ok or check.detail.startswith(OFF) for check in checks):
            session.console.print(HINT, markup=False)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
