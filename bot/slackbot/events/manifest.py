"""The manifest of the Slack app, for https://api.slack.com/apps."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from bot.slackbot.events.command_text import COMMAND

# Events after which other people may read a place than before.
READER_EVENTS = (
    "channel_deleted",
    "channel_id_changed",
    "channel_left",
    "channel_shared",
    "channel_unshared",
    "group_deleted",
    "group_left",
    "member_joined_channel",
    "member_left_channel",
    "subteam_members_changed",
    "subteam_updated",
    "team_join",
    "user_change",
)
# The events of the assistant view, which only apps made before July 2026 have, and of the agent view.
ASSISTANT_EVENTS = ("assistant_thread_context_changed", "assistant_thread_started")
AGENT_EVENTS = ("agent_session_stopped", "agent_session_title_changed", "app_context_changed")
# The events that every app has to be subscribed to.
EVENTS = (
    *READER_EVENTS,
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "tokens_revoked",
)
# Names of the shortcuts, and of their forms.
ASK_ABOUT = "ask_about"
KEEP_ANSWER = "keep_answer"
ADD_MESSAGE = "add_to_library"
ADD_DOCUMENTS = "add_documents"
# JSON as Slack takes it (https://docs.slack.dev/reference/app-manifest).
Manifest: TypeAlias = Mapping[str, Any]
EVENTS_PATH = "/slack/events"
INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"
# The purpose of each scope, as in docs/slack.md; tests compare them with the calls in the code.
SCOPES: Mapping[str, str] = {
    "app_mentions:read": "receive mentions",
    "assistant:write": "the assistant pane: status, title, suggested questions",
    "channels:history": "follow-ups in public channels that it was invited to, earlier messages of their threads, and "
    "what is said in channels that an admin made a source",
    "channels:read": "who can read a public channel; a greeting where it is invited",
    "chat:write": "answers",
    "commands": "/footnote and the shortcuts",
    "files:read": "files and canvases that are attached to a question or added to the library",
    "files:write": "exports, and long tables and code of answers",
    "groups:history": "the same in private channels that it was invited to",
    "groups:read": "the same in private channels",
    "im:history": "direct messages to it",
    "im:read": "whose direct message it is",
    "im:write": "private answers as direct messages",
    "mpim:history": "the same in group messages with it",
    "mpim:read": "who can read a group message",
    "reactions:write": "a reaction to thanks, instead of a reply",
    "usergroups:read": "the members of user groups that may read a source or add documents",
    "users:read": "names of askers, and whether they are admins or guests",
}
_DESCRIPTION = "Answers from your team's own documents, with footnotes that link to the exact passages."
_LONG_DESCRIPTION = (
    "Mention Footnote in a channel, or send it a direct message. It searches your team's own documents and answers in "
    "a thread. Each footnote quotes a document word for word, with the page and a link. If the documents don't have an "
    "answer, Footnote says so. Follow-up questions in the thread don't need a mention."
)
_PANE = "Ask about your team's documents. Each answer links to the exact passages it comes from."
_PROMPTS = (
    ("What can I ask?", "What documents do you have, and what can I ask about them?"),
    ("Help", f"{COMMAND.removeprefix('/')} help"),
)
_SHORTCUTS = (
    (ASK_ABOUT, "message", "Ask about this", "Ask Footnote about this message"),
    (KEEP_ANSWER, "message", "Keep as answer", "Keep this answer, so that later answers can cite it"),
    (ADD_MESSAGE, "message", "Add to the library", "Add this message's files or links, so that answers can cite them"),
    (ADD_DOCUMENTS, "global", "Add documents", "Add files or a link, so that answers can cite them"),
)
_HINT = "QUESTION | search WORDS | threads | sources | jobs | stop | why | help"


def missing_scopes(granted: str) -> list[str]:
    """Return the needed scopes that a token lacks, sorted; `granted` is the list of Slack's header, with commas."""
    return sorted(SCOPES.keys() - set(granted.replace(" ", "").split(",")))


def build_manifest(*, by_socket: bool, url: str | None, is_assistant: bool = False) -> Manifest:
    """The manifest of Socket Mode, or of HTTP requests to `url` ("https://footnote.example.org").

    With a URL teams can install the app there. Without Socket Mode there has to be one. `is_assistant` is for an app
    that was made before July 2026: a new one is refused with the assistant view, and an old one can't go back to it.
    """
    requests = None if by_socket else f"{url}{EVENTS_PATH}"
    events = (*EVENTS, *(ASSISTANT_EVENTS if is_assistant else AGENT_EVENTS))
    to_requests = {"request_url": requests} if requests else {}
    command = {
        "command": COMMAND,
        "description": "Ask your documents",
        "usage_hint": _HINT,
        "should_escape": False,
        **({"url": requests} if requests else {}),
    }
    return {
        "display_information": {
            "name": "Footnote",
            "description": _DESCRIPTION,
            "long_description": _LONG_DESCRIPTION,
            "background_color": "#17625c",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            **_view(is_assistant),
            "bot_user": {"display_name": "Footnote", "always_online": True},
            "shortcuts": [
                {"name": name, "type": kind, "callback_id": callback, "description": description}
                for callback, kind, name, description in _SHORTCUTS
            ],
            "slash_commands": [command],
        },
        "oauth_config": {
            **({"redirect_urls": [f"{url}{REDIRECT_PATH}"]} if url else {}),
            "scopes": {"bot": sorted(SCOPES)},
        },
        "settings": {
            "event_subscriptions": {**to_requests, "bot_events": sorted(events)},
            "interactivity": {
                "is_enabled": True,
                **to_requests,
                **({"message_menu_options_url": requests} if requests else {}),
            },
            "org_deploy_enabled": False,
            "socket_mode_enabled": requests is None,
            "token_rotation_enabled": False,
        },
    }


def _view(is_assistant: bool) -> Manifest:
    """Return the feature that shows the app's threads in Slack's side pane. An app may not have both."""
    prompts = [{"title": title, "message": message} for title, message in _PROMPTS]
    if is_assistant:
        return {"assistant_view": {"assistant_description": _PANE, "suggested_prompts": prompts}}
    return {"agent_view": {"agent_description": _PANE, "suggested_prompts": prompts}}
