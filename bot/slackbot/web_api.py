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
from core.errors import AccessDenied, FootnoteError, InvalidState, NotFound, PlatformError, PlatformUnreachable

# Actions, each completing “I'm not allowed to …”.
POST = "post"
READ = "read messages"
READ_FILE = "read the file"
SEND_FILES = "send files"
DELETE_FILE = "delete files"
LOOK_UP = "look people up"
OPEN_FORM = "open a form"
REACT = "react"
# Errors of slack_sdk's clients and of the connection below them.
UNREACHABLE = (SlackClientError, aiohttp.ClientError, OSError, TimeoutError)
# Refusals that a retry doesn't change.
CLOSED = (AccessDenied, InvalidState, NotFound)
PASSING = (408, 429)  # 4xx statuses that a retry can cure
RATE_LIMITED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
STREAM_RUNS = "streaming_state_conflict"  # an update of a message that is still streamed
STREAM_OVER = "message_not_in_streaming_state"
STREAM_STOPPED = "stopped_by_user"
MESSAGE_GONE = "message_not_found"
EDIT_TOO_LATE = "edit_window_closed"


class LayoutRefused(InvalidState):
    """Slack refused the blocks or the length of a message: it may take the same words in another form."""


_FORM_OVER = InvalidState("Slack's three seconds for opening a form are over. Try again.")
_INSTALL_AGAIN = "Ask an administrator to install the app again"
_OUR_FAULT = "Slack refused my message because of a fault in Footnote. Tell your Footnote admin."
# Refusals of a form that is opened too late.
_LATE_TRIGGERS = (
    "expired_trigger_id", "exchanged_trigger_id", "trigger_expired", "trigger_exchanged", "invalid_trigger_id",
)  # fmt: skip
_LAYOUTS = ("msg_too_long", "msg_blocks_too_long", "invalid_blocks", "invalid_blocks_format", "invalid_attachments")
# Refusals of a malformed request.
_FAULTS = """
    no_text invalid_chunks invalid_arguments
    invalid_cursor invalid_limit invalid_metadata_format invalid_metadata_schema metadata_too_large
    markdown_text_conflict missing_recipient_team_id missing_recipient_user_id invalid_response_action unknown_method
""".split()
# Slack's error names -> core errors. A retry cures `_PASSING_NAMES` and RATE_LIMITED.
_MEANINGS: dict[str, FootnoteError] = {
    # the place
    "channel_not_found": NotFound("I can't see this channel. It was deleted, or you have to invite me with /invite."),
    "is_archived": InvalidState("This channel is archived. Unarchive it, or ask in another one."),
    "not_in_channel": AccessDenied("I'm not in this channel. Invite me with /invite."),
    "thread_not_found": NotFound("The first message of this thread was deleted. Ask in a new thread."),
    "invalid_thread_ts": NotFound("The first message of this thread was deleted. Ask in a new thread."),
    "restricted_action": AccessDenied("This workspace doesn't let me post here. An administrator can change that."),
    "restricted_action_read_only_channel": AccessDenied("This channel is read-only. Ask in another one."),
    "restricted_action_thread_only_channel": AccessDenied("This channel only allows replies. Ask in a thread."),
    "restricted_action_non_threadable_channel": AccessDenied("This channel doesn't allow threads. Ask in another one."),
    "restricted_action_thread_locked": AccessDenied("This thread is locked. Unlock it, or ask in a new one."),
    "method_not_supported_for_channel_type": InvalidState("Slack doesn't allow that in this kind of channel."),
    "external_channel_migrating": PlatformError("Slack is moving this channel. Trying again."),
    # people
    "messages_tab_disabled": AccessDenied(
        "I can't send you a direct message. Ask an administrator to turn on the app's Messages tab."
    ),
    "cannot_dm_bot": AccessDenied("I can't send direct messages to a bot. Ask in a channel."),
    "user_disabled": AccessDenied("I can't message this person, as the account was deactivated."),
    "user_not_found": NotFound("Slack doesn't know this person in this workspace."),
    "users_not_found": NotFound("Slack doesn't know this person in this workspace."),
    "user_not_visible": NotFound("I'm not allowed to see this person."),
    "bot_not_found": NotFound("Slack doesn't know this bot."),
    "no_such_subteam": NotFound("Slack doesn't know this user group. Check the user groups in the configuration."),
    "subteam_not_found": NotFound("Slack doesn't know this user group. Check the user groups in the configuration."),
    "plan_upgrade_required": InvalidState("This Slack plan has no user groups."),
    "user_not_in_channel": InvalidState("You aren't in this channel. Join it, or send me a direct message."),
    # the installation
    "token_revoked": AccessDenied(f"My access to this Slack workspace was revoked. {_INSTALL_AGAIN}."),
    "token_expired": AccessDenied(f"My access to this Slack workspace has expired. {_INSTALL_AGAIN}."),
    "invalid_auth": AccessDenied(f"Slack refuses my token. {_INSTALL_AGAIN}."),
    "not_authed": AccessDenied(f"Slack refuses my token. {_INSTALL_AGAIN}."),
    "account_inactive": AccessDenied(f"I was removed from this Slack workspace. {_INSTALL_AGAIN}."),
    "team_access_not_granted": AccessDenied(f"I have no access to this Slack workspace. {_INSTALL_AGAIN}."),
    "access_denied": AccessDenied(f"I have no access to this Slack workspace. {_INSTALL_AGAIN}."),
    "not_authorized": AccessDenied("This app isn't declared an agent. Update it with `footnote manifest slack`."),
    "no_permission": AccessDenied(f"I'm not allowed to do that in this Slack workspace. {_INSTALL_AGAIN}."),
    "ekm_access_denied": AccessDenied("The administrators of this workspace have stopped messages for now."),
    "org_login_required": PlatformError("Slack is moving this workspace. Trying again."),
    "team_added_to_org": PlatformError("Slack is moving this workspace. Trying again."),
    "not_allowed_token_type": AccessDenied("Slack needs another kind of token here. Check the [slack] configuration."),
    "invalid_client_id": AccessDenied("Slack doesn't know the app. Check client_id in the [slack] configuration."),
    "bad_client_secret": AccessDenied("Slack refuses the app's secret. Check the [slack] configuration."),
    "bad_redirect_uri": InvalidState("The app doesn't list this address. Add it to its redirect URLs."),
    "invalid_code": InvalidState("This installation has expired. Start it again."),
    "code_already_used": InvalidState("This installation was already finished. Start it again."),
    # messages
    MESSAGE_GONE: NotFound("The message was deleted."),
    "cant_update_message": AccessDenied("That message isn't mine, so I can't change it."),
    "cant_delete_message": AccessDenied("I'm not allowed to delete that message."),
    "message_not_owned_by_app": AccessDenied("That message isn't mine, so I can't change it."),
    EDIT_TOO_LATE: InvalidState("This workspace doesn't allow edits to old messages."),
    STREAM_RUNS: PlatformError("The message is still being written. Trying again."),
    STREAM_STOPPED: InvalidState("The answer was stopped."),
    STREAM_OVER: InvalidState("Slack ended the message while it was being written."),
    "already_reacted": InvalidState("I already reacted to that message."),
    "no_reaction": InvalidState("That reaction doesn't exist."),
    # forms and replies to interactions
    **dict.fromkeys(_LATE_TRIGGERS, _FORM_OVER),
    "expired_url": InvalidState("Slack's half hour for a reply is over. Try again."),
    "used_url": InvalidState("Slack accepts no more replies to this. Try again."),
    "hash_conflict": InvalidState("The form has changed. Try again."),
    "not_found": NotFound("The form was closed. Open it again."),
    "push_limit_reached": InvalidState("Too many forms are open. Close one."),
    # files
    "file_not_found": NotFound("The file was deleted, or isn't shared with me."),
    "file_deleted": NotFound("The file was deleted."),
    "cant_delete_file": AccessDenied("That file isn't mine, so I can't delete it."),
    **{name: InvalidState(_OUR_FAULT) for name in _FAULTS},
    **{name: LayoutRefused(_OUR_FAULT) for name in _LAYOUTS},
}
GATEWAY_STATUSES = (502, 503, 504)  # Slack as a whole is down
# Names of the refusals of places that the bot isn't in.
NO_MEMBER = frozenset({"channel_not_found", "not_in_channel"})
# Slack's own failures.
_PASSING_NAMES = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "too_many_websockets"}
)
# All known names; other names are shown to people unchanged.
KNOWN_NAMES = frozenset({*_MEANINGS, *_PASSING_NAMES, *RATE_LIMITED, "missing_scope"})
TIMEOUT_SECONDS = 15  # of one call; a post with its retries has 60
RETRY_SECONDS = 10.0  # for all pauses of a call
Reply = TypeVar("Reply")


def to_error(error: Exception, action: str) -> FootnoteError:
    """Return the core error for a refusal or a broken connection; `action` is an action such as “post”."""
    response = getattr(error, "response", None)
    if isinstance(error, SlackClientError) and response is not None:
        status = getattr(response, "status_code", None) or getattr(response, "status", None)
        body, headers = _body(response), getattr(response, "headers", None) or {}
        name, scope = str(body.get("error") or ""), str(body.get("needed") or "")
        return to_refusal(status if isinstance(status, int) else 0, name, headers, action, scope)
    return PlatformUnreachable(
        f"I couldn't {action}, because Slack can't be reached ({type(error).__name__}). Trying again."
    )


def to_refusal(status: int, name: str, headers: Mapping[str, str], action: str, scope: str = "") -> FootnoteError:
    """Return the core error for a refusal; `name` is "" if Slack gave none, `scope` the one that it misses."""
    if status == 429 or name in RATE_LIMITED:
        seconds = next((value for header, value in headers.items() if header.lower() == "retry-after"), "")
        # a proxy may have dropped the header
        return PlatformError(
            "Slack asks for a pause.", retry_after_seconds=float(seconds) if seconds.isdigit() else 1.0
        )
    if status in GATEWAY_STATUSES:
        return PlatformUnreachable(f"Slack did not {action} ({name or status}). Trying again.")
    if status >= 500 or status in PASSING or name in _PASSING_NAMES:
        return PlatformError(f"Slack did not {action} ({name or status}). Trying again.")
    if name == "missing_scope":
        needed = scope or "of the manifest"
        return AccessDenied(f"I'm not allowed to {action}. Give the app the scope {needed}, and install it again.")
    if known := _MEANINGS.get(name):
        return type(known)(*known.args)  # each raise needs its own cause
    if status == 403:
        return AccessDenied(f"Slack doesn't let me {action} here ({name or status}). Check the app's permissions.")
    if status == 404:
        return NotFound(f"I couldn't {action}, because the place was deleted.")
    return InvalidState(f"Slack refuses to {action} here ({name or status}). Try another channel.")


def name_of(error: BaseException) -> str | None:
    """Return Slack's error name behind a core error, or None."""
    cause = error.__cause__
    return _body(getattr(cause, "response", None)).get("error") if cause is not None else None


def missing_scope(error: BaseException) -> str:
    """Return the scope that Slack missed; "" if the refusal had another reason."""
    body = _body(getattr(error.__cause__, "response", None))
    return str(body.get("needed") or "of the manifest") if body.get("error") == "missing_scope" else ""


@contextmanager
def translated_errors(action: str) -> Iterator[None]:
    """Raise core errors for Slack's."""
    try:
        yield
    except UNREACHABLE as error:
        raise to_error(error, action) from error


def _body(response: Any) -> Mapping[str, Any]:
    """Return nothing for a body that isn't a JSON object, such as a proxy's error page."""
    data = getattr(response, "data", response)
    return data if isinstance(data, Mapping) else {}


def build_client(token: str | None, base_url: str | None = None) -> AsyncWebClient:
    """Return a client that never retries; `base_url` replaces slack.com."""
    return AsyncWebClient(
        token=token, base_url=base_url or AsyncWebClient.BASE_URL, timeout=TIMEOUT_SECONDS, retry_handlers=[]
    )


async def call(
    action: str,
    make: Callable[[], Awaitable[Reply]],
    *,
    pause: Pause = asyncio.sleep,
    retry_seconds: float = RETRY_SECONDS,
) -> Reply:
    """Return the result of `make`, repeated after a short pause that Slack asks for (429), as it did nothing then.

    Raises core errors; a PlatformError with `retry_after_seconds` if the pauses exceed `retry_seconds`.
    """
    while True:
        try:
            with translated_errors(action):
                return await make()
        except PlatformError as error:
            asked = error.retry_after_seconds
            cost = max(asked or 0.0, 1.0)
            if asked is None or cost > retry_seconds:
                raise
            retry_seconds -= cost
        await pause(asked)
