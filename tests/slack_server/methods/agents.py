"""agents.sessions.*: the status and the title of a thread in an app with the agent view."""

from typing import Any

from tests.slack_server.methods.asked import Asked, Method
from tests.slack_server.refusals import Refusal

JSON = dict[str, Any]

STATUSES = ("active", "processing", "suspended", "closed")
LONGEST_TITLE = 200


def set_status(asked: Asked) -> JSON:
    """The first status of a thread begins its session, with the title and the person who began it."""
    channel = asked.channel("channel_id", write=True)
    _check_agent(asked)
    if asked.params.maybe("status") not in STATUSES:  # words are no status
        raise Refusal("invalid_arguments", messages=["[ERROR] must be a valid enum value: status"])
    title, person = asked.params.maybe("title"), asked.params.maybe("initiator_user_id")
    if len(title or "") > LONGEST_TITLE:
        raise Refusal("invalid_arguments", messages=["[ERROR] must be less than 201 characters: title"])
    if person is not None and person not in channel.members:
        raise Refusal("invalid_arguments", messages=["[ERROR] not a member: initiator_user_id"])
    thread = asked.params.text("thread_ts")
    session = channel.sessions.setdefault(thread, {"title": title, "initiator": person, "statuses": []})
    session["statuses"].append(asked.params.text("status"))
    return {}


def rename(asked: Asked) -> JSON:
    channel = asked.channel("channel_id", write=True)
    _check_agent(asked)
    title, thread = asked.params.text("title"), asked.params.text("thread_ts")
    if not 1 <= len(title) <= LONGEST_TITLE or thread not in channel.sessions:
        raise Refusal("invalid_arguments", messages=["[ERROR] no session, or no title"])
    channel.sessions[thread]["title"] = title
    return {}


def _check_agent(asked: Asked) -> None:
    if not asked.install.is_agent:
        raise Refusal("not_authorized")


METHODS = {
    "agents.sessions.setStatus": Method(run=set_status, scopes=("chat:write",), tier=50),
    "agents.sessions.rename": Method(run=rename, scopes=("chat:write",), tier=50),
}
