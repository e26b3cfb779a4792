"""The manifest asks for just what the code uses, and tells Slack of everything that the code hears."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

import bot
from bot.slackbot.events.command_text import COMMAND
from bot.slackbot.events.manifest import (
    ADD_DOCUMENTS,
    ADD_MESSAGE,
    AGENT_EVENTS,
    ASK_ABOUT,
    ASSISTANT_EVENTS,
    EVENTS,
    KEEP_ANSWER,
    READER_EVENTS,
    SCOPES,
    build_manifest,
)
from bot.slackbot.events.transport import MESSAGES
from bot.slackbot.listeners import Listeners
from tests.fakes import ManualClock
from tests.integration.platform_place import PlatformPlace
from tests.slack_server.manifest import manifest_problems
from tests.slack_server.methods import METHODS

BOT = Path(bot.__file__).parent
CODE = [*sorted((BOT / "slackbot").rglob("*.py"))]
URL = "https://notes.example"
NO_SCOPE = {"auth.test", "apps.connections.open"}
# A call of slack_sdk's that is several of Slack's.
SEVERAL = {"files_upload_v2": ("files.getUploadURLExternal", "files.completeUploadExternal")}
HISTORY = {"channels:history", "groups:history", "im:history", "mpim:history"}
# What an event needs (https://docs.slack.dev/reference/events, each event's page).
EVENT_SCOPES = {
    "agent_session_stopped": None,
    "agent_session_title_changed": None,
    "app_context_changed": None,
    "app_home_opened": None,
    "app_mention": "app_mentions:read",
    "app_uninstalled": None,
    "assistant_thread_context_changed": "assistant:write",
    "assistant_thread_started": "assistant:write",
    "channel_deleted": "channels:read",
    "channel_id_changed": "channels:read",
    "channel_left": "channels:read",
    "channel_shared": "channels:read",
    "channel_unshared": "channels:read",
    "group_deleted": "groups:read",
    "group_left": "groups:read",
    "member_joined_channel": "channels:read",
    "member_left_channel": "channels:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "subteam_members_changed": "usergroups:read",
    "subteam_updated": "usergroups:read",
    "team_join": "users:read",
    "tokens_revoked": None,
    "user_change": "users:read",
}
# What interactions need, which are neither called nor subscribed to.
INTERACTIONS = {"commands"}


def called() -> Iterator[str]:
    """The methods of Slack's API that the code names."""
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and is_call(node.attr):
                yield from SEVERAL.get(node.attr, (node.attr.replace("_", "."),))


def is_call(name: str) -> bool:
    return "_" in name.strip("_") and callable(getattr(AsyncWebClient, name, None))


CALLED = sorted({name for name in called() if name in METHODS or name in NO_SCOPE})


class Recorder:
    """As much of a slack_bolt app as listeners are bound to."""

    def __init__(self) -> None:
        self.bound: dict[str, list[Any]] = {}

    def __getattr__(self, kind: str) -> Callable[[Any], Callable[[Any], None]]:
        return lambda what: lambda listener: self.bound.setdefault(kind, []).append(what)


@pytest.fixture
def bound() -> dict[str, list[Any]]:
    place = PlatformPlace()
    place.begin(ManualClock())

    class Parts:
        command = COMMAND
        clock = ManualClock()
        pause = place.pause
        additions = place.additions

    recorder = Recorder()
    Listeners(recorder, Parts(), None, None, None).bind()  # type: ignore[arg-type]  # bound, not run
    return recorder.bound


def test_every_call_is_one_that_the_test_server_knows() -> None:
    """Else the comparison of scopes below would leave it out."""
    unknown = {name for name in called() if name not in METHODS and name not in NO_SCOPE}

    assert unknown - {"api.call"} == set()
    assert {"chat.postMessage", "chat.startStream", "conversations.replies", "views.open"} <= set(CALLED)


@pytest.mark.parametrize("method", [name for name in CALLED if name not in NO_SCOPE])
def test_every_call_is_covered_by_a_scope(method: str) -> None:
    needed = set(METHODS[method].scopes)
    if needed & HISTORY:
        assert SCOPES.keys() >= HISTORY
    assert not needed or needed & SCOPES.keys()


def test_every_event_is_covered_by_a_scope() -> None:
    assert EVENT_SCOPES.keys() == {*EVENTS, *AGENT_EVENTS, *ASSISTANT_EVENTS}
    assert {scope for scope in EVENT_SCOPES.values() if scope} <= SCOPES.keys()


def test_no_scope_is_asked_for_that_nothing_needs() -> None:
    by_calls = {scope for name in CALLED if name in METHODS for scope in METHODS[name].scopes}
    by_events = {scope for scope in EVENT_SCOPES.values() if scope}

    assert SCOPES.keys() <= by_calls | by_events | INTERACTIONS


def test_the_events_that_are_bound_are_those_of_the_manifest(bound: dict[str, list[Any]]) -> None:
    new, old = (build_manifest(by_socket=True, url=None, is_assistant=old)["settings"] for old in (False, True))
    told = {*new["event_subscriptions"]["bot_events"], *old["event_subscriptions"]["bot_events"]}

    assert new["event_subscriptions"]["bot_events"] == sorted((*EVENTS, *AGENT_EVENTS))
    assert old["event_subscriptions"]["bot_events"] == sorted((*EVENTS, *ASSISTANT_EVENTS))
    named = {name for name in bound["event"] if isinstance(name, str)}
    heard = named | set(READER_EVENTS) | set(MESSAGES)  # by SlackAudiences.hear, and the short way of SlackApp
    assert {name.split(".")[0] for name in told} == heard


def test_commands_and_shortcuts_that_are_bound_are_those_of_the_manifest(bound: dict[str, list[Any]]) -> None:
    features = build_manifest(by_socket=True, url=None)["features"]

    assert [one["command"] for one in features["slash_commands"]] == bound["command"] == [COMMAND]
    offered = [ASK_ABOUT, KEEP_ANSWER, ADD_MESSAGE, ADD_DOCUMENTS]
    assert [one["callback_id"] for one in features["shortcuts"]] == bound["shortcut"] == offered


def test_in_socket_mode_no_address_is_named() -> None:
    manifest = build_manifest(by_socket=True, url=None)

    assert manifest["settings"]["socket_mode_enabled"] is True
    assert not [name for name in keys_of(manifest) if "url" in name]


def test_over_http_every_request_goes_to_one_address() -> None:
    manifest = build_manifest(by_socket=False, url=URL)
    settings, [command] = manifest["settings"], manifest["features"]["slash_commands"]
    addresses = [
        settings["event_subscriptions"]["request_url"],
        settings["interactivity"]["request_url"],
        settings["interactivity"]["message_menu_options_url"],
        command["url"],
    ]

    assert settings["socket_mode_enabled"] is False
    assert addresses == [f"{URL}/slack/events"] * 4
    assert manifest["oauth_config"]["redirect_urls"] == [f"{URL}/slack/oauth_redirect"]


def test_socket_mode_with_an_address_leads_back_from_an_installation() -> None:
    manifest = build_manifest(by_socket=True, url=URL)

    assert manifest["oauth_config"]["redirect_urls"] == [f"{URL}/slack/oauth_redirect"]
    assert manifest["settings"]["socket_mode_enabled"] is True
    assert "request_url" not in manifest["settings"]["event_subscriptions"]


@pytest.mark.parametrize(
    "manifest",
    [
        build_manifest(by_socket=True, url=None),
        build_manifest(by_socket=True, url=None, is_assistant=True),
        build_manifest(by_socket=True, url=URL),
        build_manifest(by_socket=False, url=URL),
    ],
)
def test_it_is_one_that_slacks_published_schema_takes(manifest: dict[str, Any]) -> None:
    assert manifest_problems(manifest) == []


def test_what_the_schema_does_not_take_is_found() -> None:
    manifest = build_manifest(by_socket=False, url=URL)
    manifest["features"]["shortcuts"][0]["name"] = "x" * 25
    manifest["features"]["assistant_view"] = {"assistant_descriptoin": "x"}
    manifest["settings"]["interactivity"] |= {"is_enabled": "yes", "request_url": "ftp://x"}
    del manifest["features"]["bot_user"]["display_name"]

    assert sorted(manifest_problems(manifest)) == [
        "1 to 24 characters [/features/shortcuts/0/name]",
        "missing field [/features/assistant_view/assistant_description]",
        "missing field [/features/bot_user/display_name]",
        "must match https?:// [/settings/interactivity/request_url]",
        "one of agent_view and assistant_view at most [/features]",
        "unknown field [/features/assistant_view/assistant_descriptoin]",
        "wrong type [/settings/interactivity/is_enabled]",
    ]


def test_every_scope_says_what_it_is_for() -> None:
    assert list(SCOPES) == sorted(SCOPES)
    assert all(SCOPES.values())


def test_the_guide_names_each_scope() -> None:
    guide = (BOT.parent / "docs" / "slack.md").read_text(encoding="utf-8")

    assert [scope for scope in SCOPES if f"`{scope}`" not in guide] == []


def keys_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)
