import json

import pytest

from bot.slackbot.actions.interaction_handler import InteractionContext, decode_origin, encode_origin, to_context
from tests.unit.bot.slackbot.slack_objects import ADA, a_team

TEAM = a_team()


def test_a_slash_command_is_given_in_the_channel_itself() -> None:
    ctx = to_context({"user_id": ADA, "channel_id": "C1", "trigger_id": "t", "response_url": "https://hooks"}, TEAM)
    assert ctx == InteractionContext(team=TEAM, person=ADA, channel="C1", trigger_id="t", response_url="https://hooks")


def test_a_button_is_pressed_in_the_thread_of_its_message() -> None:
    body = {
        "user": {"id": ADA},
        "channel": {"id": "C1"},
        "container": {"message_ts": "2.0", "thread_ts": "1.0", "channel_id": "C1", "is_ephemeral": True},
        "trigger_id": "t",
    }
    ctx = to_context(body, TEAM)
    assert (ctx.channel, ctx.thread, ctx.message_ts, ctx.is_ephemeral) == ("C1", "1.0", "2.0", True)


def test_a_shortcut_knows_its_message() -> None:
    ctx = to_context(
        {"user": {"id": ADA}, "channel": {"id": "C1"}, "message": {"ts": "5.0"}, "message_ts": "5.0"}, TEAM
    )
    assert (ctx.thread, ctx.message_ts) == ("", "5.0")


def test_a_form_is_sent_where_it_was_opened() -> None:
    opened = InteractionContext(
        team=TEAM, person=ADA, channel="C1", thread="1.0", response_url="https://hooks", trigger_id="t"
    )
    view = {"private_metadata": encode_origin(opened, command="ask")}
    ctx = to_context({"user": {"id": ADA}, "view": view, "trigger_id": "u"}, TEAM)
    assert (ctx.channel, ctx.thread, ctx.response_url, ctx.trigger_id) == ("C1", "1.0", "https://hooks", "u")
    assert decode_origin(view)["command"] == "ask"


@pytest.mark.parametrize("text", ["", "no json", json.dumps([1]), json.dumps("C1")])
def test_views_of_others_say_nothing(text: str) -> None:
    assert decode_origin({"private_metadata": text}) == {}
    assert to_context({"user": {"id": ADA}, "view": {"private_metadata": text}}, TEAM).channel == ""
