"""`config`: the example configuration, which ships with the package."""

from importlib.resources import files

import typer

from bot.cli.session import Session
from bot.runtime.system import write_line

commands = typer.Typer(help="Print the configuration's keys, with their defaults.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="config")


@commands.callback()
def default() -> None:
    """Print the configuration's keys, with their defaults."""  # a group even with one command


@commands.command("example")
def example(context: typer.Context) -> None:
    """Print an example configuration: the ten keys that matter, then every key with its default."""
    session: Session = context.obj
    text = (files("bot.config") / "config.example.toml").read_text(encoding="utf-8")
    if session.as_json:
        session.print_json({"config.toml": text})
    else:
        write_line(text.rstrip())
