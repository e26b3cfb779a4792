"""`manifest`: what a chat platform has to know of the app, to be pasted there."""

from typing import Annotated

import typer

from bot.cli.session import Session, write_line

commands = typer.Typer(help="App manifests, to be pasted where the app is made.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="manifest")


@commands.callback()
def default() -> None:
    """App manifests, to be pasted where the app is made."""


@commands.command("slack")
def slack(
    context: typer.Context,
    url: Annotated[
        str | None, typer.Option(help="The public https address, where Slack is to send requests there.")
    ] = None,
) -> None:
    """Print the manifest of the Slack app: for Socket Mode, or for requests to --url or web.public_url."""
    session: Session = context.obj
    import yaml

    from bot.config.slack import public_address
    from bot.slackbot.events.manifest import build_manifest

    settings = session.settings
    by_socket = url is None and settings.slack.transport == "socket"
    manifest = build_manifest(by_socket=by_socket, url=public_address(url or settings.web.public_url, by_socket))
    if session.as_json:
        session.print_json(manifest)
        return
    write_line(yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=120).rstrip())
