"""The `footnote` command: parses, hands over to a command, maps errors to exit codes (0 ok, 1 a clear error, 2 usage).

Global options may stand anywhere on the line: `footnote ask "..." --json` equals `footnote --json ask "..."`.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.commands import asking, chatting, conversing, demonstrating, jobs, library, quality
from bot.session import Session
from core.errors import FootnoteError

GLOBAL_VALUES = ("--config", "--data-dir", "--workspace")
GLOBAL_FLAGS = ("--json",)

app = typer.Typer(
    name="footnote",
    help="Answers with numbered footnotes from a team's own documents, each proved to be a verbatim passage.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def main_options(
    context: typer.Context,
    config: Annotated[Path | None, typer.Option(help="The configuration file (default: config.toml here).")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Where database and index live (or FOOTNOTE_DATA_DIR).")] = None,
    workspace: Annotated[str | None, typer.Option(help="The workspace to work in (default: local).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")] = False,
) -> None:
    """Global options; they may stand before or after the command."""
    context.obj = Session(config=config, data_dir=data_dir, workspace=workspace, as_json=json)


for module in (asking, chatting, library, conversing, jobs, quality, demonstrating):
    module.register(app)


def main() -> None:
    """Entry point of the console command."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line; gives its exit code."""
    try:
        app(args=hoist_globals(arguments), standalone_mode=True)
    except FootnoteError as error:
        print(f"footnote: {error}", file=sys.stderr)  # noqa: T201 - the terminal is where errors go
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 1
    return 0


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
