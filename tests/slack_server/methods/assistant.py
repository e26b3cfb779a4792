"""assistant.threads.*: the status line, the title and the suggested prompts of a thread."""

from typing import Any

from tests.slack_server.methods.asked import Asked, Method
from tests.slack_server.refusals import Refusal

JSON = dict[str, Any]

MOST_LOADING_MESSAGES = 10
MOST_PROMPTS = 4


def set_status(asked: Asked) -> JSON:
    """In the pane, and in any thread; an empty status clears it. It goes with the next answer, or after two minutes."""
    channel = asked.channel("channel_id", write=True)
    thread = _thread(asked, channel.panes | channel.messages.keys())
    loading = asked.params.listed("loading_messages") or []
    if len(loading) > MOST_LOADING_MESSAGES:
        raise Refusal("invalid_arguments", messages=["[ERROR] no more than 10 items allowed: loading_messages"])
    status = asked.params.get("status")
    if status is None:
        raise Refusal("invalid_arguments", messages=["[ERROR] missing required field: status"])
    if status == "":
        channel.statuses.pop(thread, None)
    else:
        channel.statuses[thread] = {"status": status, "loading_messages": loading, "at": asked.world.clock.now()}
    return {}


def set_title(asked: Asked) -> JSON:
    channel = asked.channel("channel_id", write=True)
    channel.titles[_thread(asked, channel.panes)] = asked.params.text("title")
    return {}


def set_prompts(asked: Asked) -> JSON:
    channel = asked.channel("channel_id", write=True)
    thread = asked.params.maybe("thread_ts") or ""
    if thread and thread not in channel.panes and not asked.install.is_agent:
        raise Refusal("invalid_thread_ts")
    prompts = asked.params.listed("prompts") or []
    if not 0 < len(prompts) <= MOST_PROMPTS or any(not one.get("title") or not one.get("message") for one in prompts):
        raise Refusal("invalid_arguments", messages=["[ERROR] 1 to 4 prompts, each with title and message"])
    if thread and asked.install.is_agent:
        return {}  # without a word, it does nothing
    channel.prompts[thread] = {"title": asked.params.maybe("title"), "prompts": prompts}
    return {}


def _thread(asked: Asked, known: "set[str]") -> str:
    thread = asked.params.text("thread_ts")
    if thread not in known:
        raise Refusal("invalid_thread_ts")
    return thread


_EITHER = ("chat:write", "assistant:write")
METHODS = {
    "assistant.threads.setStatus": Method(run=set_status, scopes=_EITHER, tier=100),
    "assistant.threads.setTitle": Method(run=set_title, scopes=("assistant:write",), tier=100),
    "assistant.threads.setSuggestedPrompts": Method(run=set_prompts, scopes=("assistant:write",), tier=100),
}
