"""`serve` and `worker`: the service, or only its worker, until a signal stops it."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Annotated, Any, NoReturn

import typer

from bot.cli.session import Session
from bot.config import Config
from bot.runtime.logs import log_to_stderr
from bot.runtime.system import to_json_text, write_line
from bot.service.operations import new_web_link
from bot.service.restarts import Restarts
from bot.service.service import Entrance, Service, SetupHost
from bot.service.tokens import end_sessions
from bot.service.worker import work_alone
from bot.setup.wizard import open_wizard
from bot.web.pages.setup import SetupRun


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)
    app.command("worker")(worker)
    app.command("link")(web_link)


def serve(
    context: typer.Context,
    port: Annotated[
        int | None,
        typer.Option(help="Port of the web pages; 0: any free one (default: [web] port).", min=0, max=65_535),
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address of the web pages (default: [web] host).")] = None,
) -> None:
    """Run the service: web pages, API, chat platforms and worker. Press Ctrl+C to stop; unfinished work resumes at the
    next start.
    """
    session: Session = context.obj
    typed = {"port": port, "host": host}
    changed = {key: value for key, value in typed.items() if value is not None}

    def load() -> Config:
        settings = session.load()
        return settings.model_copy(update={"web": settings.web.model_copy(update=changed)})

    def ready(entrance: Entrance) -> None:
        if session.as_json:
            links = {"link": entrance.link, "setup": entrance.setup_link}
            write_line(to_json_text({"url": entrance.url, "pid": os.getpid(), **links}))
        else:
            write_line(f"Footnote is ready: {entrance.link} (opens once; for another browser: footnote link)")
            write_line(f"Set it up or change it: {entrance.setup_link} (opens once)")

    run_services(session, load, ready)


def worker(context: typer.Context) -> None:
    """Run only a worker, next to `footnote serve`. Needs [database] url (PostgreSQL) and [index] url."""
    session: Session = context.obj

    def ready() -> None:
        write_line(to_json_text({"pid": os.getpid()}) if session.as_json else "The Footnote worker is ready.")

    async def main() -> None:
        log_to_stderr()
        await work_alone(session.settings, ready)

    asyncio.run(main())
    _leave()


def web_link(
    context: typer.Context,
    setup: Annotated[bool, typer.Option("--setup", help="Open the set-up pages.")] = False,
    sign_out_all: Annotated[
        bool, typer.Option("--sign-out-all", help="Sign all browsers out first, of everybody.")
    ] = False,
) -> None:
    """Print a new link that opens the web app once, in one browser."""
    session: Session = context.obj
    if sign_out_all:
        session.call(end_sessions, None)
    link = session.call(new_web_link, setup)
    if session.as_json:
        session.print_json({"link": link})
    else:
        write_line(link)


def run_services(session: Session, load: Callable[[], Config], ready: Callable[[Entrance], None]) -> None:
    """Serve until a signal, with a new configuration after set-up; `ready` takes the way to the pages."""
    open_session = partial(open_wizard, session.config, session.data_dir, session.workspace)
    _run(Restarts(load, ready, SetupHost(run=SetupRun(), open_wizard=open_session)).run())


def run_service(session: Session, ready: Callable[[Entrance], None], examples: tuple[str, ...] = ()) -> None:
    """Serve until a signal, without set-up; `ready` takes the way to the pages."""
    _run(Service(session.settings, ready, examples).run())


def _run(service: Coroutine[Any, Any, None]) -> None:
    log_to_stderr()
    asyncio.run(service)
    _leave()


def _leave() -> NoReturn:
    """End the process at once: all is stored and closed, and unloading models takes seconds."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)
