"""`jobs`: the trees behind answers and ingests: list, show, cancel, retry."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.session import Session
from core.domain.jobs import Job
from core.errors import InvalidState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.wiring.parts import Parts

commands = typer.Typer(help="The job trees behind answers.", invoke_without_command=True)
JobId = Annotated[str, typer.Argument(metavar="ID", help="The job's id.")]


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="jobs")


@commands.callback()
def default(context: typer.Context) -> None:
    """Without a word more: list the recent ones."""
    if context.invoked_subcommand is None:
        list_jobs(context)


@commands.command("list")
def list_jobs(context: typer.Context) -> None:
    """List recent requests, newest first."""
    _show(context, lambda app: app.jobs.recent(app.workspace), roots_only=True)


@commands.command("show")
def show(context: typer.Context, job: JobId) -> None:
    """Show the whole tree a job belongs to."""

    async def work(app: "Parts") -> list[list[Job]]:
        return [await app.jobs.tree(job, app.workspace)]

    _show(context, work)


@commands.command("cancel")
def cancel(context: typer.Context, job: JobId) -> None:
    """Cancel a job that has not ended."""

    async def work(app: "Parts") -> list[list[Job]]:
        return [await app.jobs.cancel(job, app.workspace)]

    _show(context, work)


@commands.command("retry")
def retry(context: typer.Context, job: JobId) -> None:
    """Ask the question of a failed or cancelled request again, in its conversation."""
    from core.work.progress import SilentProgress

    async def work(app: "Parts") -> list[list[Job]]:
        answer = await app.jobs.retry(job, app.workspace, SilentProgress())
        if not answer.jobs:  # refused, or given up before any step was taken
            raise InvalidState(answer.text)
        return [list(answer.jobs)]

    _show(context, work)


def _show(
    context: typer.Context, work: "Callable[[Parts], Awaitable[list[list[Job]]]]", *, roots_only: bool = False
) -> None:
    session: Session = context.obj
    trees = session.run(work)
    if session.as_json:
        from core.serializers.objects import job_json

        shown = [(job, tree) for tree in trees for job in (tree[:1] if roots_only else tree)]
        session.print_json({"jobs": [job_json(job, tree) for job, tree in shown]})
        return
    from bot.terminal.render import job_trees

    session.console.print(job_trees(trees, roots_only=roots_only))
