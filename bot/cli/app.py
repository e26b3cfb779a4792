"""The `footnote` command: parses, calls a command, maps errors to exit codes (0 ok, 1 a clear error, 2 usage).

Global options may come anywhere on the line: `footnote ask "..." --json` equals `footnote --json ask "..."`.
"""

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import CompletionItem, TyperGroup  # type: ignore[attr-defined] # the result type of shell_complete
from typer.main import get_group

from bot.cli.session import Session, to_path
from core.errors import FootnoteError
from core.text.markup import printable

GLOBAL_VALUES = ("--config", "--data-dir", "--workspace")
GLOBAL_FLAGS = ("--json",)
USAGE, INTERRUPTED = 2, 130  # exit codes
# Heading of `--help` -> command -> its module and its short help. Only the module of the command that runs is
# imported: together they take most of a second.
GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Ask": {
        "ask": ("ask", "Ask the library a question."),
        "chat": ("chat", "Chat with the library in the terminal."),
        "search": ("library", "Search pages by meaning and by words."),
        "page": ("library", "Show a page by its ID, or by document and number."),
        "facts": ("extracting", "Answer from extracted data only: rows with proved footnotes."),
        "conversations": ("conversations", "Manage the conversations of this workspace."),
    },
    "Library": {
        "ingest": ("library", "Read documents into the library."),
        "documents": ("library", "Manage the documents of the library."),
        "sync": ("sync", "Sync the configured sources."),
        "sources": ("sync", "Manage the sources of documents."),
        "workspaces": ("workspaces", "Choose which servers and teams read which documents."),
        "extract": ("extracting", "Extract data from documents that changed, or whose extractors did."),
        "extracts": ("extracting", "List extracted data, with page, span and values."),
        "ontology": ("extracting", "Show the kinds of entities and relations, and the aliases of each entity."),
    },
    "Run": {
        "init": ("init", "Set Footnote up, step by step: platform, documents, model."),
        "demo": ("demo", "Try Footnote on a small sample library, in the browser."),
        "serve": ("serve", "Run the service: web pages, API, chat platforms and worker."),
        "link": ("serve", "Print a new link that opens the web app once, in one browser."),
        "worker": ("serve", "Run only a worker, next to `footnote serve`."),
        "manifest": ("manifest", "Print app manifests, to paste on the platform's site."),
        "config": ("config", "Print the configuration's keys, with their defaults."),
    },
    "Look after": {
        "doctor": ("doctor", "Check every part that an answer needs, and print a fix for each problem."),
        "db": ("database", "Show, check, back up and rebuild the database and its search index."),
        "tokens": ("tokens", "Manage the API tokens of people."),
        "audit": ("audit", "List the actions of admins and moderators."),
        "person": ("audit", "Export a person's data, or remove the person for good."),
        "access": ("access", "Explain who may read a source or document, and why."),
        "jobs": ("jobs", "Show and control the job trees of answers."),
        "stats": ("library", "Show the most and least cited documents, and unanswered questions."),
        "eval": ("eval", "Measure retrieval and answers over a question file."),
        "verify": ("eval", "Check an exported answer against the library."),
        "replay": ("eval", "Repeat a recorded answer from its recording, and show differences."),
    },
}
COMMANDS = {name: command for commands in GROUPS.values() for name, command in commands.items()}


class LazyGroup(TyperGroup):
    """The commands of COMMANDS, each imported when it is first needed."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            found = typer.Typer(rich_markup_mode=None)
            import_module(f"bot.cli.{COMMANDS[cmd_name][0]}").register(found)
            self.commands.update(get_group(found).commands)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, COMMANDS))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), summary) for name, (_, summary) in commands.items()])

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete a command's name without importing the commands: that takes a second for each Tab."""
        if not incomplete[:1].isalnum() and incomplete:
            return super().shell_complete(ctx, incomplete)
        return [
            CompletionItem(name, help=summary) for name, (_, summary) in COMMANDS.items() if name.startswith(incomplete)
        ]


app = typer.Typer(
    name="footnote",
    cls=LazyGroup,
    help="Answers with numbered footnotes from a team's own documents, each proved to be a verbatim passage.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"footnote {version('footnote')}")  # noqa: T201 - the requested output
        raise typer.Exit


@app.callback()
def main_options(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            help="Configuration file (default: config.toml in the current folder).", parser=to_path, metavar="PATH"
        ),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder of database and index (or FOOTNOTE_DATA_DIR).", parser=to_path, metavar="PATH"),
    ] = None,
    workspace: Annotated[str | None, typer.Option(help="Workspace to use (default: local).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Global options, before or after the command."""
    if workspace == "":
        raise typer.BadParameter("workspace name can't be empty; omit --workspace to use the configured one")
    context.obj = Session(config=config, data_dir=data_dir, workspace=workspace, as_json=json)


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    unreadable = next((word for word in arguments if not _is_text(word) and not os.path.lexists(word)), None)
    if unreadable is not None:
        return _fail(f"{unreadable!r} isn't valid UTF-8. Check what you typed or pasted", code=USAGE)
    try:
        app(args=hoist_globals(arguments), standalone_mode=True)
    except FootnoteError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _fail("stopped", code=INTERRUPTED)
    except BrokenPipeError:  # the reader of the output closed it
        return 1
    except OSError as error:  # a full disk, a missing folder: a command can't repair that
        return _fail(f"system error: {error}")
    except SystemExit as done:
        if done.code == INTERRUPTED:
            return _fail("stopped", code=INTERRUPTED)
        return done.code if isinstance(done.code, int) else 1
    return 0


def _is_text(word: str) -> bool:
    """Return whether an argument is valid UTF-8. Only file names may be anything else."""
    return word.encode("utf-8", "replace").decode() == word


def _fail(sentence: str, *, code: int = 1) -> int:
    print(f"footnote: {printable(sentence)}", file=sys.stderr)  # noqa: T201 - errors go to the terminal
    return code


def hoist_globals(arguments: list[str]) -> list[str]:
    """Move global options to the front. Arguments behind `--` stay in place."""
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
