"""`serve` and `worker`: the service, or only its worker, until a signal stops it."""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

from bot.cli.session import Session
from bot.runtime.logs import log_to_stderr
from bot.runtime.system import to_json_text, write_line
from bot.service.service import Service
from bot.service.worker import work_alone


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
    settings = session.settings
    session.settings = settings.model_copy(update={"web": settings.web.model_copy(update=changed)})

    def ready(url: str) -> None:
        if session.as_json:
            write_line(to_json_text({"url": url, "pid": os.getpid()}))
        else:
            write_line(f"Footnote is ready: {url}")

    run_service(session, ready)


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


def run_service(session: Session, ready: Callable[[str], None], examples: tuple[str, ...] = ()) -> None:
    """Serve until a signal; `ready` takes the address of the pages."""
    log_to_stderr()

    async def main() -> None:
        await Service(session.settings, ready, examples).run()

    asyncio.run(main())
    _leave()


def _leave() -> NoReturn:
    """End the process at once: all is stored and closed, and unloading models takes seconds."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)
