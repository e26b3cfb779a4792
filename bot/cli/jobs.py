"""`jobs`: the job trees of answers and ingests: list, show, cancel, retry."""

from typing import Annotated

import typer

from bot.cli.session import Session, by_default
from bot.service import operations as ops
from bot.service.local_operations import retry_job
from bot.terminal.render import job_trees
from core.domain.jobs import Job
from core.errors import InvalidState
from core.serializers.objects import job_json, job_tree_json

commands = typer.Typer(help="Show and control the job trees of answers.", invoke_without_command=True)
JobId = Annotated[str, typer.Argument(metavar="ID", help="The job's ID.")]


def register(app: typer.Typer) -> None:
    commands.callback()(by_default(list_jobs))
    app.add_typer(commands, name="jobs")


@commands.command("list")
def list_jobs(context: typer.Context) -> None:
    """List recent requests, newest first."""
    session: Session = context.obj
    _show(session, session.call(ops.list_jobs, None), roots_only=True)


@commands.command("show")
def show(context: typer.Context, job: JobId) -> None:
    """Show the whole tree that a job belongs to."""
    session: Session = context.obj
    found = session.call(ops.show_job, job)
    if session.as_json:
        session.print_json({"jobs": job_tree_json(found)})
    else:
        session.console.print(job_trees([found.jobs], found=found.found))


@commands.command("cancel")
def cancel(context: typer.Context, job: JobId) -> None:
    """Cancel an unfinished job."""
    session: Session = context.obj
    _show(session, [session.call(ops.cancel_job, job)])


@commands.command("retry")
def retry(context: typer.Context, job: JobId) -> None:
    """Ask the question of a failed or cancelled request again, in its conversation."""
    session: Session = context.obj
    answer = session.call(retry_job, job)
    if not answer.jobs:  # refused, or given up before its first step
        raise InvalidState(answer.text)
    _show(session, [list(answer.jobs)])


def _show(session: Session, trees: list[list[Job]], *, roots_only: bool = False) -> None:
    if session.as_json:
        shown = [(job, tree) for tree in trees for job in (tree[:1] if roots_only else tree)]
        session.print_json({"jobs": [job_json(job, tree) for job, tree in shown]})
    else:
        session.console.print(job_trees(trees, roots_only=roots_only))
