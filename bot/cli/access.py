"""`access explain`: access rights, and the reasons."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import typer

from bot.cli.session import Session
from bot.presentation.direct_threads import is_direct_thread
from bot.runtime.system import author_name
from bot.service.operations import explain_access
from bot.terminal.render import explanation_view
from core.domain.incoming import ThreadAddress
from core.errors import BadInput
from core.features.access_explanation import AccessQuestion, explanation_json

TERMINAL = "terminal"

access = typer.Typer(help="Explain who may read a source or document, and why.", no_args_is_help=True)


# The pattern of a platform's channel IDs, known without loading the platform, and an example.
CHANNEL_FORMATS: Mapping[str, tuple[str, str]] = {
    "discord": (r"[0-9]{1,20}", "discord:1234567890123456789"),
    "slack": (r"[A-Z][A-Z0-9]+", "slack:C0123ABCD"),
    "web": (r"(?:(?![A-Z])[\w-])+", "web:general"),
    TERMINAL: (r"chat|cli", "terminal:chat"),
    "api": (r"api", "api:api"),
}
_SHOWN = 80  # characters of the input


def register(app: typer.Typer) -> None:
    app.add_typer(access, name="access")


@access.callback()
def group() -> None:
    """Explain who may read a source or document, and why."""  # a group even with one command


@access.command("explain")
def explain(
    context: typer.Context,
    channel: Annotated[
        str | None, typer.Option(metavar="PLATFORM:ID", help="Channel to read in (default: this command line).")
    ] = None,
    thread: Annotated[str | None, typer.Option(metavar="ID", help="Thread of the channel.")] = None,
    person: Annotated[str | None, typer.Option(metavar="ID", help="Reader: their ID on the platform.")] = None,
    alone: Annotated[bool, typer.Option("--alone", help="Nobody else reads, as in a direct message.")] = False,
    document: Annotated[str | None, typer.Option(help="How much of this document (path, title or alias).")] = None,
) -> None:
    """Show which sources, and how much of books, may be read in a channel, and why."""
    session: Session = context.obj
    if thread is not None and channel is None:
        raise typer.BadParameter("--thread names a thread of a channel; add --channel")
    question = _question(session, channel, thread or "", person, alone=alone, document=document)
    session.show(session.call(explain_access, question), explanation_json, explanation_view)


def _question(
    session: Session, channel: str | None, thread: str, person: str | None, *, alone: bool, document: str | None
) -> AccessQuestion:
    """Return the question; without a channel the local user reads, as in every other command."""
    workspace = session.settings.workspace
    address = to_address(channel, thread, workspace) if channel is not None else None
    return AccessQuestion(
        workspace=workspace,
        address=address,
        reader=person or (author_name() if address is None else None),
        alone=alone or (address is not None and is_direct(address)),
        document=document,
    )


def to_address(channel: str, thread: str, workspace: str) -> ThreadAddress:
    """Read PLATFORM:ID in this workspace, or PLATFORM:WORKSPACE:ID[:THREAD]; `thread` "" is the channel.

    Raises BadInput for anything else, and for two threads.
    """
    platform, *rest = channel.strip().split(":", 3)
    shown = repr(channel[:_SHOWN])
    known = CHANNEL_FORMATS.get(platform)
    if known is None and rest:
        raise BadInput(f"Unknown platform {platform[:_SHOWN]!r}. Use one of {', '.join(CHANNEL_FORMATS)}.")
    if known is None or not rest:
        raise BadInput(f"{shown} isn't a channel. Write PLATFORM:ID, like {CHANNEL_FORMATS['slack'][1]}.")
    within, name, named_thread = (workspace, rest[0], "") if len(rest) == 1 else (rest[0], rest[1], "".join(rest[2:]))
    pattern, example = known
    if not within or not re.fullmatch(pattern, name):
        raise BadInput(
            f"{shown} isn't a channel of {platform}. Write PLATFORM:ID with the channel's ID, like {example}."
        )
    if named_thread and thread and named_thread != thread:
        raise BadInput(f"{shown} names thread {named_thread!r}, but --thread names {thread!r}. Leave one out.")
    return ThreadAddress(platform=platform, workspace=within, channel=name, thread=named_thread or thread)


def is_direct(address: ThreadAddress) -> bool:
    """Return whether only one person reads there. Discord's direct channels look like all others."""
    return address.platform == TERMINAL or is_direct_thread(replace(address, thread=address.thread or "any"))
