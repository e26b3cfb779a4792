"""Calls to Slack's Web API, and the meaning of each refusal.

Slack names its errors in https://docs.slack.dev/reference/methods. A refusal that a retry can cure becomes a
PlatformError; any other becomes AccessDenied, InvalidState or NotFound, as retries would only delay the thread.
slack_sdk's clients retry broken connections, which would double posts: retries are the caller's decision here.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.presentation.platform_parts import Pause
from core.errors import AccessDenied, FootnoteError, InvalidState, NotFound, PlatformError

# What is done when something goes wrong: the end of “I am not allowed to …”.
POST = "post"
READ = "read messages"
READ_FILE = "read the file"
LOOK_UP = "look people up"
OPEN_FORM = "open a form"
# Errors of slack_sdk's clients and of the connection below them.
UNREACHABLE = (SlackClientError, aiohttp.ClientError, OSError, TimeoutError)
# A place that stays closed however often it is tried.
CLOSED = (AccessDenied, InvalidState, NotFound)
PASSING = (408, 429)  # statuses of the 400s that waiting mends
RATE_LIMITED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
STREAM_RUNS = "streaming_state_conflict"  # an update of a message that is still streamed
STREAM_OVER = "message_not_in_streaming_state"
MESSAGE_GONE = "message_not_found"
EDIT_TOO_LATE = "edit_window_closed"
_FORM_OVER = InvalidState("Slack waits three seconds for a form, and they are over: do it again.")
_INSTALL_AGAIN = "an administrator has to install the app again"
_OUR_FAULT = "Slack refuses what I sent: that is a fault of Footnote, please tell who runs it."
# Names of errors -> what they mean. `_PASSING_NAMES` and RATE_LIMITED pass by themselves.
_MEANINGS: dict[str, FootnoteError] = {
    # the place
    "channel_not_found": NotFound("I can't see this channel: it was deleted, or I have to be invited with /invite."),
    "is_archived": InvalidState("This channel is archived: unarchive it, or ask in another one."),
    "not_in_channel": AccessDenied("I am not in this channel: invite me with /invite."),
    "thread_not_found": NotFound("The thread is gone: its first message was deleted. Ask in a new one."),
    "invalid_thread_ts": NotFound("The thread is gone: its first message was deleted. Ask in a new one."),
    "restricted_action": AccessDenied("This workspace does not let me post here: an administrator can change that."),
    "restricted_action_read_only_channel": AccessDenied("This channel is read-only: ask in another one."),
    "restricted_action_thread_only_channel": AccessDenied("Only replies are allowed in this channel: ask in a thread."),
    "restricted_action_non_threadable_channel": AccessDenied("This channel allows no threads: ask in another one."),
    "restricted_action_thread_locked": AccessDenied("This thread is locked: unlock it, or ask in a new one."),
    "method_not_supported_for_channel_type": InvalidState("Slack does not allow that in this kind of channel."),
    "external_channel_migrating": PlatformError("Slack is moving this channel: trying again."),
    # people
    "messages_tab_disabled": AccessDenied(
        "I can't write to you directly: an administrator has to switch on the app's Messages tab."
    ),
    "cannot_dm_bot": AccessDenied("I can't write to another bot directly: ask in a channel."),
    "user_disabled": AccessDenied("I can't write to this person: the account was deactivated."),
    "user_not_found": NotFound("Slack does not know this person in this workspace."),
    "users_not_found": NotFound("Slack does not know this person in this workspace."),
    "user_not_visible": NotFound("I may not see this person."),
    "bot_not_found": NotFound("Slack does not know this bot."),
    "user_not_in_channel": InvalidState("You are not in this channel: join it, or ask me directly."),
    # the installation
    "token_revoked": AccessDenied(f"My access to this Slack workspace was revoked: {_INSTALL_AGAIN}."),
    "token_expired": AccessDenied(f"My access to this Slack workspace has run out: {_INSTALL_AGAIN}."),
    "invalid_auth": AccessDenied(f"Slack does not take my token: {_INSTALL_AGAIN}."),
    "not_authed": AccessDenied(f"Slack does not take my token: {_INSTALL_AGAIN}."),
    "account_inactive": AccessDenied(f"I was removed from this Slack workspace: {_INSTALL_AGAIN}."),
    "team_access_not_granted": AccessDenied(f"I have no access to this Slack workspace: {_INSTALL_AGAIN}."),
    "access_denied": AccessDenied(f"I have no access to this Slack workspace: {_INSTALL_AGAIN}."),
    "no_permission": AccessDenied(f"I am not allowed to do that in this Slack workspace: {_INSTALL_AGAIN}."),
    "ekm_access_denied": AccessDenied("The administrators of this workspace have stopped messages for now."),
    "org_login_required": PlatformError("Slack is moving this workspace: trying again."),
    "team_added_to_org": PlatformError("Slack is moving this workspace: trying again."),
    "not_allowed_token_type": AccessDenied("Slack wants another kind of token here: check the [slack] configuration."),
    "invalid_client_id": AccessDenied("Slack does not know the app: check client_id in the [slack] configuration."),
    "bad_client_secret": AccessDenied("Slack refuses the app's secret: check the [slack] configuration."),
    "bad_redirect_uri": InvalidState("The app does not list this address: add it to its redirect URLs."),
    "invalid_code": InvalidState("This installation has expired: begin it again."),
    "code_already_used": InvalidState("This installation was finished before: begin it again."),
    # messages
    MESSAGE_GONE: NotFound("The message is gone: it was deleted."),
    "cant_update_message": AccessDenied("That message is not mine: I can't change it."),
    "cant_delete_message": AccessDenied("I am not allowed to delete that message."),
    "message_not_owned_by_app": AccessDenied("That message is not mine: I can't change it."),
    EDIT_TOO_LATE: InvalidState("This workspace does not let messages be changed so late."),
    STREAM_RUNS: PlatformError("The message is still being written: trying again."),
    STREAM_OVER: InvalidState("Slack has ended the message while it was being written."),
    "already_reacted": InvalidState("I have reacted to that message already."),
    "no_reaction": InvalidState("There is no such reaction to take away."),
    # forms and replies to interactions
    "expired_trigger_id": _FORM_OVER,
    "exchanged_trigger_id": _FORM_OVER,
    "trigger_expired": _FORM_OVER,
    "trigger_exchanged": _FORM_OVER,
    "invalid_trigger_id": _FORM_OVER,
    "expired_url": InvalidState("Slack's half hour for answering this in its place is over: do it again."),
    "used_url": InvalidState("Slack takes no more replies to this: do it again."),
    "hash_conflict": InvalidState("The form was changed meanwhile: do it again."),
    "not_found": NotFound("The form is gone: it was closed. Open it again."),
    "push_limit_reached": InvalidState("Too many forms lie on each other: close one."),
    # files
    "file_not_found": NotFound("The file is gone: it was deleted, or is not shared where I am."),
    "file_deleted": NotFound("The file is gone: it was deleted."),
    "cant_delete_file": AccessDenied("That file is not mine: I can't delete it."),
    # ours
    "no_text": InvalidState(_OUR_FAULT),
    "msg_too_long": InvalidState(_OUR_FAULT),
    "msg_blocks_too_long": InvalidState(_OUR_FAULT),
    "invalid_blocks": InvalidState(_OUR_FAULT),
    "invalid_blocks_format": InvalidState(_OUR_FAULT),
    "invalid_chunks": InvalidState(_OUR_FAULT),
    "invalid_arguments": InvalidState(_OUR_FAULT),
    "invalid_cursor": InvalidState(_OUR_FAULT),
    "invalid_metadata_format": InvalidState(_OUR_FAULT),
    "invalid_metadata_schema": InvalidState(_OUR_FAULT),
    "metadata_too_large": InvalidState(_OUR_FAULT),
    "markdown_text_conflict": InvalidState(_OUR_FAULT),
    "missing_recipient_team_id": InvalidState(_OUR_FAULT),
    "missing_recipient_user_id": InvalidState(_OUR_FAULT),
    "invalid_response_action": InvalidState(_OUR_FAULT),
    "unknown_method": InvalidState(_OUR_FAULT),
}
# Slack's own troubles.
_PASSING_NAMES = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "too_many_websockets"}
)
# All that are translated_errors; another name is told to people as it stands.
KNOWN_NAMES = frozenset({*_MEANINGS, *_PASSING_NAMES, *RATE_LIMITED, "missing_scope"})
TIMEOUT_SECONDS = 15  # of one call; a post with its retries has 60
PATIENCE_SECONDS = 10.0  # that a call waits in place, all its pauses together, when Slack asks for one
Reply = TypeVar("Reply")


def to_error(error: Exception, doing: str) -> FootnoteError:
    """Our error for a refusal or a broken connection while `doing` something, such as “post”."""
    response = getattr(error, "response", None)
    if isinstance(error, SlackClientError) and response is not None:
        return _refusal(_status(response), _body(response), getattr(response, "headers", None) or {}, doing)
    return PlatformError(f"Slack can't be reached to {doing} ({type(error).__name__}): trying again.")


def to_refusal(status: int, name: str, headers: Mapping[str, str], doing: str) -> FootnoteError:
    """The same for a reply that did not come through slack_sdk's client. `name` is "" where Slack gave none."""
    return _refusal(status, {"error": name} if name else {}, headers, doing)


def name_of(error: BaseException) -> str | None:
    """Slack's name for what is behind an error of ours."""
    cause = error.__cause__
    return _body(getattr(cause, "response", None)).get("error") if cause is not None else None


@contextmanager
def translated_errors(doing: str) -> Iterator[None]:
    """Raises our error for Slack's."""
    try:
        yield
    except UNREACHABLE as error:
        raise to_error(error, doing) from error


def _refusal(status: int, body: Mapping[str, Any], headers: Mapping[str, str], doing: str) -> FootnoteError:
    name = str(body.get("error") or "")
    if status == 429 or name in RATE_LIMITED:
        return PlatformError("Slack asks for a pause.", retry_after_seconds=_retry_after(headers))
    if status >= 500 or status in PASSING or name in _PASSING_NAMES:
        return PlatformError(f"Slack did not {doing} ({name or status}): trying again.")
    if name == "missing_scope":
        needed = body.get("needed") or "of the manifest"
        return AccessDenied(f"I am not allowed to {doing}: give the app the scope {needed}, and install it again.")
    if known := _MEANINGS.get(name):
        return _copy(known)
    if status == 403:
        return AccessDenied(f"Slack does not let me {doing} here ({name or status}): check the app's permissions.")
    if status == 404:
        return NotFound(f"Slack does not know where to {doing}: it was deleted.")
    return InvalidState(f"Slack refuses to {doing} here ({name or status}): try another channel.")


def _copy(error: FootnoteError) -> FootnoteError:
    """Each is raised with a cause of its own."""
    return type(error)(*error.args)


def _status(response: Any) -> int:
    """Of slack_sdk's reply, or of aiohttp's where its body could not be read."""
    status = getattr(response, "status_code", None) or getattr(response, "status", None)
    return status if isinstance(status, int) else 0


def _body(response: Any) -> Mapping[str, Any]:
    """Empty for what is no JSON object, such as an error page of a proxy."""
    data = getattr(response, "data", response)
    return data if isinstance(data, Mapping) else {}


def _retry_after(headers: Mapping[str, str]) -> float:
    """Seconds; Slack always names them, whoever stands in between may not."""
    told = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    return float(told) if told.isdigit() else 1.0


def build_client(token: str | None, base_url: str | None = None) -> AsyncWebClient:
    """A client for one token. It repeats nothing by itself. `base_url`: of another Slack than slack.com."""
    return AsyncWebClient(
        token=token, base_url=base_url or AsyncWebClient.BASE_URL, timeout=TIMEOUT_SECONDS, retry_handlers=[]
    )


async def call(
    doing: str,
    make: Callable[[], Awaitable[Reply]],
    *,
    pause: Pause = asyncio.sleep,
    patience_seconds: float = PATIENCE_SECONDS,
) -> Reply:
    """What `make` gives. Where Slack asks for a short pause (429), nothing was carried out: it is made again after it.

    Raises core errors; a PlatformError with `retry_after_seconds` where the pause is longer than the patience left.
    `doing` as in errors.py.
    """
    while True:
        try:
            with translated_errors(doing):
                return await make()
        except PlatformError as error:
            asked = error.retry_after_seconds
            cost = max(asked or 0.0, 1.0)
            if asked is None or cost > patience_seconds:
                raise
            patience_seconds -= cost
        await pause(asked)
