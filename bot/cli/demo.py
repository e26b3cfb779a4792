"""`demo`: the bundled sample library, ready for questions, without keys or servers."""

import os
import socket
import sys
import tomllib
import webbrowser
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated

import typer

from bot.cli.questions import question_message
from bot.cli.serve import run_service
from bot.cli.session import Session
from bot.config import Config
from bot.config.sections import IndexConfig, SlackConfig, WebConfig
from bot.service import operations as ops
from bot.service.calls import Operations
from bot.service.local_operations import answer
from bot.service.samples import add_sample_library
from bot.service.service_lock import find_service
from bot.terminal.render import answer_view
from bot.terminal.reports import ingest_progress
from core.domain.answer import Answer
from core.serializers.objects import answer_json

DEMO_FOLDER = "demo"  # inside the data directory, so that the demo never mixes with one's own library
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question that the sample library answers well, and the quote that answers it."""

    question: str
    document: str
    quote: str


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo(
    context: typer.Context,
    once: Annotated[
        bool, typer.Option("--once", help="Answer the three example questions, print the answers and exit.")
    ] = False,
    serve: Annotated[bool, typer.Option("--serve", help="Start the service even without a terminal.")] = False,
) -> None:
    """Try Footnote on a small sample library, in the browser."""
    if once and serve:
        raise typer.BadParameter("--once and --serve exclude each other")
    session: Session = context.obj
    session.settings = _demo_settings(session.settings)
    running = find_service(session.settings.data_path)
    _ingest(session)
    examples = load_examples()
    if once or not (serve or (sys.stdin.isatty() and sys.stdout.isatty())):
        _answer_examples(session, examples)
    elif running is not None and running.url:
        _show(session, session.call(ops.new_web_link, False))
    else:
        run_service(session, lambda entrance: _show(session, entrance.link), tuple(item.question for item in examples))


class DemoConfig(Config):
    """Everything in one folder, without the servers and chat platforms of the configuration.

    With tokens, Slack would send the demo questions that are meant for the user's own bot.
    """

    def database_url(self) -> None:
        return None

    def discord_token(self) -> None:
        return None

    def slack_token(self) -> None:
        return None

    def slack_app_token(self) -> None:
        return None


def _demo_settings(settings: Config) -> Config:
    """Return settings with a folder of their own, that listen only on this machine; on any port if theirs is taken."""
    web = settings.web.model_copy(update={"host": LOOPBACK, "open_to_network": False, "public_url": None})
    if _is_taken(web):
        web = web.model_copy(update={"port": 0})
    index = IndexConfig(rerank=settings.index.rerank)
    changed = {"data_dir": settings.data_path / DEMO_FOLDER, "web": web, "index": index, "slack": SlackConfig()}
    return DemoConfig(**{**dict(settings), **changed})


def _show(session: Session, link: str) -> None:
    shown = "opening in your browser" if _open_browser(link) else "opens once; for another browser: footnote demo"
    session.console.print(f"Footnote is ready: {link} ({shown})", markup=False, soft_wrap=True)


def load_examples() -> list[Example]:
    """Return the example questions that ship with the sample library."""
    text = (files("bot") / "sample_library" / "examples.toml").read_text(encoding="utf-8")
    return [Example(**item) for item in tomllib.loads(text)["example"]]


def _ingest(session: Session) -> None:
    with ingest_progress(session.notes) as progress:
        report = session.call(add_sample_library, None, ops.report_ingest(progress))
    total = report.added + report.updated + report.unchanged
    session.notes.print(f"The sample library is ready: {total} documents in {report.seconds:.1f} s.", markup=False)


def _answer_examples(session: Session, examples: list[Example]) -> None:
    async def work(operations: Operations) -> list[Answer]:
        questions = [question_message(operations.workspace, example.question) for example in examples]
        return [await operations.call(answer, question) for question in questions]

    answers = session.run(work)
    if session.as_json:
        session.print_json([answer_json(answered) for answered in answers])
        return
    for example, answered in zip(examples, answers, strict=True):
        session.console.print(f"\nQ: {example.question}", style="bold", markup=False)
        session.console.print(answer_view(answered))


def _is_taken(settings: WebConfig) -> bool:
    """Return whether another process uses the configured port."""
    try:
        socket.create_server((settings.host, settings.port)).close()
    except OSError:
        return True
    return False


def _open_browser(url: str) -> bool:
    """Open an address if there is a terminal and a display; return whether it was opened."""
    has_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    has_display = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    return has_terminal and has_display and webbrowser.open(url)
