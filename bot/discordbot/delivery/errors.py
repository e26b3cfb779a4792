"""The meaning of Discord's refusals (https://discord.com/developers/docs/topics/opcodes-and-status-codes).

A refusal that may pass becomes a PlatformError, which is retried. All others become AccessDenied, InvalidState or
NotFound: retrying them would only hold up the thread.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
import discord

from core.errors import AccessDenied, FootnoteError, InvalidState, NotFound, PlatformError, PlatformUnreachable

UNKNOWN_CHANNEL = 10003
UNKNOWN_MESSAGE = 10008
UNKNOWN_WEBHOOK = 10015  # an interaction's token has expired
MISSING_ACCESS = 50001
NO_DIRECT_MESSAGES = 50007
MISSING_PERMISSIONS = 50013
INVALID_TOKEN = 50027  # the same, as some calls put it
WRONG_KIND_OF_CHANNEL = 50024  # such as a thread on a message of a voice channel's chat
THREAD_ARCHIVED = 50083
THREAD_EXISTS = 160004
THREAD_LOCKED = 160005
TOO_MANY_THREADS = 160006

GATEWAY_STATUSES = (502, 503, 504)  # Discord as a whole is down
TRANSIENT = (408, 429)  # statuses of the 400s that are worth a retry

_MEANINGS: dict[int, FootnoteError] = {
    UNKNOWN_CHANNEL: NotFound("The channel or thread was deleted, or I can no longer see it."),
    UNKNOWN_WEBHOOK: InvalidState("Discord's 15 minutes for this command are over. Use it again."),
    INVALID_TOKEN: InvalidState("Discord's 15 minutes for this command are over. Use it again."),
    MISSING_ACCESS: AccessDenied("I can't see this channel. Allow me “View Channel” there."),
    NO_DIRECT_MESSAGES: AccessDenied("I can't send you a direct message. Allow direct messages from this server."),
    THREAD_ARCHIVED: InvalidState("This thread is archived and I can't reopen it. Allow me “Manage Threads”."),
    THREAD_LOCKED: InvalidState("This thread is locked. Unlock it, or ask in the channel."),
    TOO_MANY_THREADS: InvalidState("This server has too many threads. Archive some, or ask in a thread."),
}


def to_error(error: Exception, doing: str) -> FootnoteError:
    """Return our error for a refusal or a broken connection while `doing` something, such as “open a thread”."""
    if isinstance(error, discord.RateLimited):
        return PlatformError("Discord asks for a pause.", retry_after_seconds=error.retry_after)
    if isinstance(error, discord.HTTPException):
        if error.code == MISSING_PERMISSIONS:
            return AccessDenied(f"I am not allowed to {doing} here: {permissions_for(doing)}.")
        if known := _MEANINGS.get(error.code):
            return known
        if error.status == 403:
            return AccessDenied(f"Discord does not let me {doing} here ({error.text or error.status}): check my role.")
        if error.status == 404:
            return NotFound(f"Discord does not know where to {doing}: it was deleted.")
        if 400 <= error.status < 500 and error.status not in TRANSIENT:
            return InvalidState(f"Discord refuses to {doing} here ({error.text or error.status}): try another channel.")
        kind = PlatformUnreachable if error.status in GATEWAY_STATUSES else PlatformError
        return kind(f"Discord did not {doing} ({error.status}): trying again.")
    return PlatformUnreachable(f"Discord can't be reached to {doing} ({type(error).__name__}): trying again.")


def code_of(error: BaseException) -> int | None:
    """Return Discord's code behind a core error."""
    return error.__cause__.code if isinstance(error.__cause__, discord.HTTPException) else None


@contextmanager
def translated_errors(doing: str) -> Iterator[None]:
    """Raise our errors for Discord's."""
    try:
        yield
    except (discord.HTTPException, discord.RateLimited, aiohttp.ClientError, TimeoutError, OSError) as error:
        raise to_error(error, doing) from error
    except RuntimeError as error:  # aiohttp's, of a client that was closed after its connection ended for good
        if "closed" not in str(error):
            raise
        raise to_error(error, doing) from error


def require_history(channel: object) -> None:
    """Raise AccessDenied without “Read Message History”, for which Discord itself would show an empty channel.

    A client that only posts doesn't know permissions, so it isn't checked.
    """
    if not isinstance(channel, discord.Thread | discord.abc.GuildChannel):
        return
    me: discord.Member | None = channel.guild.me
    if me is not None and not channel.permissions_for(me).read_message_history:
        raise AccessDenied(f"I am not allowed to {READ} here: {permissions_for(READ)}.")


# Errors of a destination that stays closed, however often it is tried.
CLOSED = (AccessDenied, InvalidState, NotFound)
# Codes of a refused thread, where a reply in the channel may be possible.
NO_THREADS = frozenset({MISSING_PERMISSIONS, WRONG_KIND_OF_CHANNEL, TOO_MANY_THREADS})

OPEN_THREAD = "open a thread"
RENAME = "rename the thread"
POST = "post"
READ = "read messages"
REOPEN = "reopen the archived thread"

_PERMISSIONS = {
    OPEN_THREAD: "give my role “Create Public Threads” and “Send Messages in Threads”",
    POST: "give my role “Send Messages” and “Send Messages in Threads”",
    READ: "give my role “Read Message History”",
    REOPEN: "give my role “Manage Threads”",
}


def permissions_for(doing: str) -> str:
    """Return advice that names the missing permissions as Discord's settings show them."""
    return _PERMISSIONS.get(doing, "check the permissions of my role")
