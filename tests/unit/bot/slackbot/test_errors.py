"""Slack's refusals as sentences, and whether trying again can mend them."""

import re
from pathlib import Path
from types import SimpleNamespace

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

import tests.slack_server
from bot.slackbot.web_api import (
    CLOSED,
    KNOWN_NAMES,
    POST,
    LayoutRefused,
    name_of,
    to_error,
    to_refusal,
    translated_errors,
)
from core.errors import AccessDenied, FootnoteError, InvalidState, NotFound, PlatformError, PlatformUnreachable

# Where the test server names errors: raised, or handed on to where they are.
_RAISED = re.compile(
    r'(?:Refusal|invalid)\(\s*"([a-z_]+)"|error: str = "([a-z_]+)"|_own\(asked, channel, "([a-z_]+)"'
    r'|Refusal\("([a-z_]+)" if .* else "([a-z_]+)"'
)
# Of what a bot answers to an interaction; a client that calls the API never gets it.
_OF_THE_SERVER_ALONE = {"invalid_response_action"}


def refusal(name: str = "", status: int = 200, **more: object) -> SlackApiError:
    headers = {"Retry-After": "30"} if status == 429 else {}
    response = SimpleNamespace(status_code=status, data={"ok": False, "error": name, **more}, headers=headers)
    return SlackApiError("refused", response)  # type: ignore[no-untyped-call]  # slack_sdk gives no type


def names_the_server_raises() -> set[str]:
    folder = Path(tests.slack_server.__file__).parent
    found = (names for path in folder.rglob("*.py") for names in _RAISED.findall(path.read_text("utf-8")))
    return {name for names in found for name in names if name}


def test_every_error_that_the_test_server_raises_is_mapped_on_purpose() -> None:
    raised = names_the_server_raises()
    assert {"is_archived", "cant_update_message", "invalid_blocks", "message_not_found", "missing_scope"} <= raised
    assert raised - _OF_THE_SERVER_ALONE - KNOWN_NAMES == set()


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (refusal("is_archived"), InvalidState, "Unarchive it"),
        (refusal("not_in_channel"), AccessDenied, "/invite"),
        (refusal("channel_not_found"), NotFound, "/invite"),
        (refusal("token_revoked"), AccessDenied, "install the app again"),
        (refusal("account_inactive"), AccessDenied, "install the app again"),
        (refusal("missing_scope", needed="chat:write"), AccessDenied, "chat:write"),
        (refusal("missing_scope"), AccessDenied, "manifest"),
        (refusal("messages_tab_disabled"), AccessDenied, "Messages tab"),
        (refusal("thread_not_found"), NotFound, "Ask in a new thread"),
        (refusal("expired_trigger_id"), InvalidState, "three seconds"),
        (refusal("invalid_blocks"), LayoutRefused, "fault in Footnote"),
        (refusal("some_new_error"), InvalidState, "some_new_error"),
        (refusal("some_new_error", 403), AccessDenied, "some_new_error"),
        (refusal("some_new_error", 404), NotFound, "deleted"),
        (refusal("internal_error"), PlatformError, "Trying again"),
        (refusal("streaming_state_conflict"), PlatformError, "Trying again"),
        (refusal("ratelimited", 429), PlatformError, "pause"),
        (refusal("", 500), PlatformError, "500"),
        (refusal("", 408), PlatformError, "408"),
        (refusal("", 503), PlatformUnreachable, "503"),
        (aiohttp.ClientConnectionError(), PlatformUnreachable, "can't be reached"),
        (TimeoutError(), PlatformUnreachable, "can't be reached"),
    ],
)
def test_each_refusal_says_what_to_do(error: Exception, kind: type[FootnoteError], says: str) -> None:
    found = to_error(error, POST)
    assert type(found) is kind
    assert says in str(found)


def test_every_known_refusal_is_a_sentence_for_people() -> None:
    for name in KNOWN_NAMES:
        sentence = str(to_error(refusal(name), POST))
        assert sentence[0].isupper(), name
        assert sentence.endswith("."), name


def test_a_pause_that_slack_asks_for_is_kept() -> None:
    found = to_error(refusal("ratelimited", 429), POST)
    assert isinstance(found, PlatformError)
    assert found.retry_after_seconds == 30.0


@pytest.mark.parametrize("told", ["", "soon", "-1"])
def test_a_pause_that_nobody_told_is_a_second(told: str) -> None:
    found = to_refusal(429, "", {"retry-after": told}, POST)
    assert isinstance(found, PlatformError)
    assert found.retry_after_seconds == 1.0


@pytest.mark.parametrize("body", ["<html>Bad gateway</html>", b"\x00", None, []])
def test_a_reply_that_is_no_json_is_understood_by_its_status(body: object) -> None:
    """Whoever stands between answers in words of their own."""
    error = SlackApiError("refused", SimpleNamespace(status_code=502, data=body, headers={}))  # type: ignore[no-untyped-call]  # slack_sdk gives no type
    assert isinstance(to_error(error, POST), PlatformError)


def test_a_reply_whose_body_broke_is_understood_by_its_status() -> None:
    """slack_sdk hands over aiohttp's own reply then."""
    error = SlackApiError("unreadable", SimpleNamespace(status=503, headers={}))  # type: ignore[no-untyped-call]  # slack_sdk gives no type
    assert isinstance(to_error(error, POST), PlatformError)


def test_slacks_name_for_an_error_can_be_asked_for() -> None:
    with pytest.raises(CLOSED) as caught, translated_errors(POST):
        raise refusal("message_not_found")
    assert name_of(caught.value) == "message_not_found"
    assert name_of(NotFound("by us")) is None


def test_each_error_is_raised_by_itself() -> None:
    """The same object raised twice would carry the first one's cause and trace."""
    assert to_error(refusal("is_archived"), POST) is not to_error(refusal("is_archived"), POST)


def test_what_is_no_refusal_of_slack_stays_as_it_is() -> None:
    with pytest.raises(KeyError), translated_errors(POST):
        raise KeyError("a fault of ours")
