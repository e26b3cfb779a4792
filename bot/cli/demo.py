"""`demo`: the bundled sample library, ready to ask; no keys, no servers."""

import sys
import tomllib
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.serve import is_taken, open_browser, run_service
from bot.cli.session import Session
from bot.config import Config
from bot.config.sections import IndexConfig, SlackConfig

if TYPE_CHECKING:
    from bot.wiring.parts import Parts
    from core.domain.answer import Answer
    from core.domain.ingest_report import IngestReport

SAMPLES = "sample library"  # the source's name
DEMO_FOLDER = "demo"  # inside the data directory, so that the demo never mixes with one's own library
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question that the sample library answers well, and where the answer stands."""

    question: str
    document: str
    quote: str


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo(
    context: typer.Context,
    once: Annotated[
        bool, typer.Option("--once", help="Answer the three example questions, print them, leave.")
    ] = False,
    serve: Annotated[bool, typer.Option("--serve", help="Serve, even where nobody sits at a terminal.")] = False,
) -> None:
    """Try Footnote on a small sample library, in the browser."""
    from bot.control.service_lock import find_service

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
        _show(session, running.url)
    else:
        run_service(session, lambda url: _show(session, url), tuple(item.question for item in examples))


class DemoConfig(Config):
    """Everything in one folder: no server that the configuration names ever holds the sample library.

    Nor does any chat platform hear of it: Slack would give the demo questions that people ask their own bot.
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
    """The demo has its own folder, and never listens beyond this machine; where its port is taken, it takes any."""
    web = settings.web.model_copy(update={"host": LOOPBACK, "open_to_network": False, "public_url": None})
    if is_taken(web):
        web = web.model_copy(update={"port": 0})
    index = IndexConfig(rerank=settings.index.rerank)
    changed = {"data_dir": settings.data_path / DEMO_FOLDER, "web": web, "index": index, "slack": SlackConfig()}
    return DemoConfig(**{**dict(settings), **changed})


def _show(session: Session, url: str) -> None:
    shown = " (your browser opens it)" if open_browser(url) else ""
    session.console.print(f"Footnote is ready: {url}{shown}", markup=False, soft_wrap=True)


def load_examples() -> list[Example]:
    """The example questions that ship with the sample library."""
    text = (files("bot") / "sample_library" / "examples.toml").read_text(encoding="utf-8")
    return [Example(**item) for item in tomllib.loads(text)["example"]]


def _ingest(session: Session) -> None:
    from bot.terminal.progress import ingest_progress

    with as_file(files("bot") / "sample_library" / "documents") as folder, ingest_progress(session.notes) as progress:
        location = str(Path(folder).resolve())

        async def work(app: "Parts") -> "IngestReport":
            await _forget_moved(app, location)
            return await app.ingest([Path(folder)], source=SAMPLES, kind="auto", force=False, progress=progress)

        report = session.run(work)
    total = report.added + report.updated + report.unchanged
    session.notes.print(f"The sample library is ready: {total} documents in {report.seconds:.1f} s.", markup=False)


async def _forget_moved(app: "Parts", location: str) -> None:
    """Where another copy of Footnote ran the demo, its sample library gives way: one source has one folder."""
    known = next((source for source in await app.library.sources(app.workspace) if source.name == SAMPLES), None)
    if known is not None and known.location != location:
        await app.library.remove_source(app.workspace, SAMPLES)


def _answer_examples(session: Session, examples: list[Example]) -> None:
    from bot.cli.ask import ask_once

    async def work(app: "Parts") -> list["Answer"]:
        return [await ask_once(app, example.question) for example in examples]

    answers = session.run(work)
    if session.as_json:
        from core.serializers.objects import answer_json

        session.print_json([answer_json(answer) for answer in answers])
        return
    from bot.terminal.render import answer_view

    for example, answer in zip(examples, answers, strict=True):
        session.console.print(f"\nQ: {example.question}", style="bold", markup=False)
        session.console.print(answer_view(answer))
