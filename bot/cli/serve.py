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
from bot.service.restarts import Restarts
from bot.service.service import Service, SetupHost
from bot.service.worker import work_alone
from bot.setup.wizard import open_wizard
from bot.web.pages.setup import SetupRun
from bot.web.security import SetupDoor


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)
    app.command("worker")(worker)


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

    def ready(url: str, setup_link: str) -> None:
        if session.as_json:
            write_line(to_json_text({"url": url, "pid": os.getpid(), "setup": setup_link}))
        else:
            write_line(f"Footnote is ready: {url}")
            write_line(f"Set it up or change it: {setup_link} (opens once)")

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


def run_services(session: Session, load: Callable[[], Config], ready: Callable[[str, str], None]) -> None:
    """Serve until a signal, with a new configuration after set-up; `ready` takes the pages' address and set-up link."""
    open_session = partial(open_wizard, session.config, session.data_dir, session.workspace)
    _run(Restarts(load, ready, SetupHost(run=SetupRun(door=SetupDoor()), open_wizard=open_session)).run())


def run_service(session: Session, ready: Callable[[str], None], examples: tuple[str, ...] = ()) -> None:
    """Serve until a signal, without set-up; `ready` takes the address of the pages."""
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
