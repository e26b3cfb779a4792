"""The `footnote` command: parses, hands over to a command, maps errors to exit codes (0 ok, 1 a clear error, 2 usage).

Global options may stand anywhere on the line: `footnote ask "..." --json` equals `footnote --json ask "..."`.
"""

import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from bot.cli import access, database, extracting, jobs, library, manifest, quality, statistics
from bot.cli import ask as asking
from bot.cli import chat as chatting
from bot.cli import conversations as conversing
from bot.cli import demo as demonstrating
from bot.cli import replay as replaying
from bot.cli import serve as serving
from bot.cli import sync as syncing
from bot.cli.paths import to_path
from bot.cli.session import Session
from core.errors import FootnoteError

GLOBAL_VALUES = ("--config", "--data-dir", "--workspace")
GLOBAL_FLAGS = ("--json",)
USAGE, INTERRUPTED = 2, 130  # exit codes

app = typer.Typer(
    name="footnote",
    help="Answers with numbered footnotes from a team's own documents, each proved to be a verbatim passage.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"footnote {version('footnote')}")  # noqa: T201 - what was asked for
        raise typer.Exit


@app.callback()
def main_options(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(help="The configuration file (default: config.toml here).", parser=to_path, metavar="PATH"),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Where database and index live (or FOOTNOTE_DATA_DIR).", parser=to_path, metavar="PATH"),
    ] = None,
    workspace: Annotated[str | None, typer.Option(help="The workspace to work in (default: local).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Global options; they may stand before or after the command."""
    if workspace == "":
        raise typer.BadParameter("an empty name is none: leave --workspace out for the one of the configuration")
    context.obj = Session(config=config, data_dir=data_dir, workspace=workspace, as_json=json)


for module in (
    asking,
    chatting,
    library,
    syncing,
    extracting,
    conversing,
    jobs,
    quality,
    replaying,
    statistics,
    access,
    database,
    serving,
    demonstrating,
    manifest,
):
    module.register(app)


def run(arguments: list[str]) -> int:
    """Run one command line; gives its exit code."""
    unreadable = next((word for word in arguments if not _is_text(word) and not os.path.lexists(word)), None)
    if unreadable is not None:
        return _fail(f"{unreadable!r} is not valid UTF-8: check what was typed or pasted", code=USAGE)
    try:
        app(args=hoist_globals(arguments), standalone_mode=True)
    except FootnoteError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _fail("stopped", code=INTERRUPTED)
    except BrokenPipeError:  # whoever read the output has what they wanted
        return 1
    except OSError as error:  # the output's disk is full, a folder is gone: nothing a command could do about it
        return _fail(f"the system refused: {error}")
    except SystemExit as done:
        if done.code == INTERRUPTED:
            return _fail("stopped", code=INTERRUPTED)
        return done.code if isinstance(done.code, int) else 1
    return 0


def _is_text(word: str) -> bool:
    """Whether an argument was valid UTF-8: names of files need not be, all else is stored and must be."""
    return word.encode("utf-8", "replace").decode() == word


def _fail(sentence: str, *, code: int = 1) -> int:
    print(f"footnote: {sentence}", file=sys.stderr)  # noqa: T201 - the terminal is where errors go
    return code


def hoist_globals(arguments: list[str]) -> list[str]:
    """The arguments with global options moved to the front; nothing behind `--` is touched."""
    front: list[str] = []
    rest: list[str] = []
    queue = list(arguments)
    while queue:
        word = queue.pop(0)
        if word == "--":
            rest += [word, *queue]
            break
        if word in GLOBAL_FLAGS or word.startswith(tuple(f"{name}=" for name in GLOBAL_VALUES)):
            front.append(word)
        elif word in GLOBAL_VALUES:
            front += [word, *queue[:1]]
            queue = queue[1:]
        else:
            rest.append(word)
    return front + rest
