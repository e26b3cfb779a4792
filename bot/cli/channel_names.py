"""Channels as they are written on a command line: `slack:C0123ABCD`, or a whole thread address as lists show it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.presentation.direct_threads import is_direct_thread
from core.domain.conversation import ThreadAddress
from core.errors import BadInput

TERMINAL = "terminal"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """How the ids of a platform's channels look. No platform is loaded for it."""

    pattern: str
    example: str


FORMS: Mapping[str, _Form] = {
    "discord": _Form(pattern=r"[0-9]{1,20}", example="discord:1234567890123456789"),
    "slack": _Form(pattern=r"[A-Z][A-Z0-9]+", example="slack:C0123ABCD"),
    "web": _Form(pattern=r"(?:(?![A-Z])[\w-])+", example="web:general"),
    TERMINAL: _Form(pattern=r"chat|cli", example="terminal:chat"),
    "api": _Form(pattern=r"api", example="api:api"),
}
_FORM = "write it as PLATFORM:ID"
_SHOWN = 80  # characters of what somebody wrote


def to_address(channel: str, thread: str, workspace: str) -> ThreadAddress:
    """The address of PLATFORM:ID in this workspace, or of PLATFORM:WORKSPACE:ID[:THREAD]; `thread` "" is the channel.

    Raises BadInput for what is none, and for two threads.
    """
    platform, *rest = channel.strip().split(":", 3)
    shown = repr(channel[:_SHOWN])
    form = FORMS.get(platform)
    if form is None and rest:
        raise BadInput(f"There is no platform {platform[:_SHOWN]!r}: write the channel with one of {', '.join(FORMS)}.")
    if form is None or not rest:
        raise BadInput(f"{shown} is no channel: {_FORM}, like {FORMS['slack'].example}.")
    within, name, said = (workspace, rest[0], "") if len(rest) == 1 else (rest[0], rest[1], "".join(rest[2:]))
    if not within or not re.fullmatch(form.pattern, name):
        raise BadInput(f"{shown} is no channel of {platform}: {_FORM} with the channel's id, like {form.example}.")
    if said and thread and said != thread:
        raise BadInput(f"{shown} names the thread {said!r}, and --thread names {thread!r}: leave one out.")
    return ThreadAddress(platform=platform, workspace=within, channel=name, thread=said or thread)


def is_direct(address: ThreadAddress) -> bool:
    """Whether one person alone reads there, as far as its channel tells: Discord's direct ones look like all others."""
    return address.platform == TERMINAL or is_direct_thread(replace(address, thread=address.thread or "any"))
