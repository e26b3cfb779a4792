"""`stats`: how the library is used."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.session import Session
from core.errors import BadInput

if TYPE_CHECKING:
    from bot.wiring.parts import Parts
    from core.domain.features import Statistics


def register(app: typer.Typer) -> None:
    app.command("stats")(stats)


def stats(
    context: typer.Context,
    days: Annotated[float, typer.Option(help="Questions of so many last days.")] = 90,
) -> None:
    """What is cited most and never, and what people asked that the documents do not say."""
    session: Session = context.obj
    if not 0 < days <= 36_500:
        raise BadInput("--days has to be above 0, and at most 36500.")

    async def work(app: "Parts") -> "Statistics":
        return await app.statistics.of(await app.scope(), days)

    found = session.run(work)
    if session.as_json:
        from core.features.statistics import statistics_json

        session.print_json(statistics_json(found))
        return
    from bot.terminal.statistics import statistics_view

    session.console.print(statistics_view(found))
