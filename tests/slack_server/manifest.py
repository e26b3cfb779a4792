"""What Slack refuses in an app's manifest: the fields, lengths and counts of its published schema, of July 2026.

The whole schema was run over the manifests, too, and found nothing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class _Text:
    most: int
    least: int = 0
    pattern: str = ""


@dataclass(frozen=True)
class _List:
    of: Any
    most: int
    least: int = 0


_SWITCH = bool
_ADDRESS = _Text(3500, pattern=r"https?://")
_PROMPTS = _List({"title*": _Text(3000), "message*": _Text(3000)}, 4)
_EVENTS = _List(_Text(50), 100)
_SCOPES = _List(_Text(50), 255)
# A dict is an object: "*" ends the names that it must have, and others than these it may not.
_FORM: Mapping[str, Any] = {
    "display_information*": {
        "name*": _Text(35, 1),
        "description": _Text(140, 1),
        "long_description": _Text(4000, 175),
        "background_color": _Text(7, 4, "#"),
    },
    "features": {
        "app_home": dict.fromkeys(
            ("home_tab_enabled", "messages_tab_enabled", "messages_tab_read_only_enabled"), _SWITCH
        ),
        "agent_view": {
            "agent_description": _Text(300),
            "suggested_prompts": _PROMPTS,
            "actions": _List({"name*": _Text(3000), "description*": _Text(3000)}, 100),
        },
        "assistant_view": {"assistant_description*": _Text(3000), "suggested_prompts": _PROMPTS},
        "bot_user": {"display_name*": _Text(80, 1), "always_online": _SWITCH},
        "shortcuts": _List(
            {
                "name*": _Text(24, 1),
                "type*": _Text(7, pattern="(message|global)$"),
                "callback_id*": _Text(255, 1),
                "description*": _Text(150, 1),
            },
            most=10,
            least=1,
        ),
        "slash_commands": _List(
            {
                "command*": _Text(32, 2, "/"),
                "description*": _Text(2000, 1),
                "usage_hint": _Text(1000, 1),
                "url": _Text(3000, pattern=r"https?://"),
                "should_escape": _SWITCH,
            },
            most=50,
            least=1,
        ),
        "unfurl_domains": _List(_Text(255), 5, 1),
    },
    "oauth_config": {
        "redirect_urls": _List(_Text(2500), 1000),
        "scopes": dict.fromkeys(("bot", "bot_optional", "user", "user_optional"), _SCOPES),
    },
    "settings": {
        "event_subscriptions": {"request_url": _ADDRESS, "bot_events": _EVENTS, "user_events": _EVENTS},
        "interactivity": {
            "is_enabled*": _SWITCH,
            "request_url": _ADDRESS,
            "message_menu_options_url": _ADDRESS,
        },
        **dict.fromkeys(("org_deploy_enabled", "socket_mode_enabled", "token_rotation_enabled"), _SWITCH),
    },
}


def manifest_problems(manifest: Any) -> list[str]:
    """Empty: Slack makes an app of it."""
    problems = [*_problems(manifest, _FORM, "")]
    features = manifest.get("features") if isinstance(manifest, dict) else None
    if isinstance(features, dict) and {"agent_view", "assistant_view"} <= features.keys():
        problems.append("one of agent_view and assistant_view at most [/features]")
    return problems


def _problems(value: Any, form: Any, path: str) -> Iterator[str]:
    match form:
        case Mapping() if isinstance(value, dict):
            known = {name.removesuffix("*"): inner for name, inner in form.items()}
            yield from (f"unknown field [{path}/{name}]" for name in value.keys() - known)
            needed = (name[:-1] for name in form if name.endswith("*"))
            yield from (f"missing field [{path}/{name}]" for name in needed if name not in value)
            for name in value.keys() & known.keys():
                yield from _problems(value[name], known[name], f"{path}/{name}")
        case _List() if isinstance(value, list):
            if not form.least <= len(value) <= form.most:
                yield f"{form.least} to {form.most} items [{path}]"
            for at, one in enumerate(value):
                yield from _problems(one, form.of, f"{path}/{at}")
        case _Text() if isinstance(value, str):
            if not form.least <= len(value) <= form.most:
                yield f"{form.least} to {form.most} characters [{path}]"
            if re.match(form.pattern, value) is None:
                yield f"must match {form.pattern} [{path}]"
        case _ if form is _SWITCH and isinstance(value, bool):
            return
        case _:
            yield f"wrong type [{path}]"
