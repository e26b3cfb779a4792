"""`manifest`: app manifests for chat platforms."""

from typing import Annotated

import typer
import yaml

from bot.cli.session import Session
from bot.config.slack import public_address
from bot.runtime.system import write_line
from bot.slackbot.events.manifest import build_manifest

commands = typer.Typer(help="Print app manifests, to paste on the platform's site.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="manifest")


@commands.callback()
def default() -> None:
    """Print app manifests, to paste on the platform's site."""  # a group even with one command


@commands.command("slack")
def slack(
    context: typer.Context,
    assistant: Annotated[
        bool,
        typer.Option(
            "--assistant",
            help="For an app made before July 2026 with the assistant view, which Slack ends in February 2027.",
        ),
    ] = False,
    url: Annotated[str | None, typer.Option(help="Public https address, if Slack sends requests there.")] = None,
) -> None:
    """Print the manifest of the Slack app: for Socket Mode, or for requests to --url or web.public_url."""
    session: Session = context.obj
    settings = session.settings
    by_socket = url is None and settings.slack.transport == "socket"
    manifest = build_manifest(
        by_socket=by_socket,
        url=public_address(url or settings.web.public_url, by_socket),
        is_assistant=assistant,
    )
    if session.as_json:
        session.print_json(manifest)
        return
    write_line(yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=120).rstrip())
