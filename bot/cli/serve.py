"""`serve` and `worker`: the service, and a worker alone, until they are told to stop."""

import asyncio
import os
import socket
import sys
import webbrowser
from collections.abc import Callable
from typing import NoReturn

import typer

from bot.cli.session import Session, to_json_text, write_line
from bot.config.sections import WebConfig


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)
    app.command("worker")(worker)


def serve(context: typer.Context) -> None:
    """Run the service: pages, API, worker. Ctrl+C stops it; unfinished work goes on at the next start."""
    session: Session = context.obj

    def ready(url: str) -> None:
        if session.as_json:
            write_line(to_json_text({"url": url, "pid": os.getpid()}))
        else:
            write_line(f"Footnote is ready: {url}")

    run_service(session, ready)


def worker(context: typer.Context) -> None:
    """Run a worker alone, beside `footnote serve`: needs [database] url (PostgreSQL) and [index] url."""
    session: Session = context.obj
    from bot.runtime.logs import log_to_stderr
    from bot.service.worker import LoneWorker

    def ready() -> None:
        write_line(to_json_text({"pid": os.getpid()}) if session.as_json else "The Footnote worker is ready.")

    async def main() -> None:
        log_to_stderr()
        await LoneWorker(session.settings, ready).run()

    asyncio.run(main())
    _leave()


def run_service(session: Session, ready: Callable[[str], None], examples: tuple[str, ...] = ()) -> None:
    """Serve until a signal; `ready` is told the pages' address."""
    from bot.runtime.logs import log_to_stderr
    from bot.service.service import Service

    log_to_stderr()

    async def main() -> None:
        await Service(session.settings, ready, examples).run()

    asyncio.run(main())
    _leave()


def _leave() -> NoReturn:
    """End the process: all is stored and closed, and to take interpreter and models apart can take some seconds."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)


def is_taken(settings: WebConfig) -> bool:
    """Whether the configured port can't be had now."""
    try:
        socket.create_server((settings.host, settings.port)).close()
    except OSError:
        return True
    return False


def open_browser(url: str) -> bool:
    """Show an address where somebody sits at a terminal with a display; whether it was shown."""
    has_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    has_display = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    return has_terminal and has_display and webbrowser.open(url)
