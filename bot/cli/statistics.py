"""`stats`: usage of the library."""

from typing import Annotated

import typer

from bot.cli.session import Session
from bot.service.operations import show_statistics
from bot.terminal.reports import statistics_view
from core.errors import BadInput
from core.features.statistics import statistics_json

MAX_DAYS = 36_500


def register(app: typer.Typer) -> None:
    app.command("stats")(stats)


def stats(
    context: typer.Context, days: Annotated[float, typer.Option(help="Questions of the last so many days.")] = 90
) -> None:
    """Show the most and least cited documents, and unanswered questions."""
    session: Session = context.obj
    if not 0 < days <= MAX_DAYS:
        raise BadInput(f"--days must be above 0, and at most {MAX_DAYS}.")
    session.show(session.call(show_statistics, days), statistics_json, statistics_view)
