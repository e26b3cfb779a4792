from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.presentation.direct_threads import message_id_of, private_address, to_private
from bot.slackbot.events.translate import (
    MESSAGE,
    RESPONSE,
    TEAM,
    deleted_ts,
    people_in,
    read_message,
    thread_address,
    to_attachment,
    to_incoming,
    to_talk,
    to_text,
)
from core.domain.incoming import IncomingMessage
from tests.unit.bot.slackbot.slack_objects import ADA, BEN, ME, NAMES, a_message, a_team

TS = "1700000000.000100"
COMMANDS = ("stop", "why", "threads", "help", "search")


def incoming(text: str = f"<@{ME}> where is the key?", *, in_our_thread: bool = False, **changed: Any) -> Any:
    found = to_incoming(
        a_message(text, **changed), team=a_team(), in_our_thread=in_our_thread, names=NAMES, commands=COMMANDS
    )
    assert found is not None
    return found


def test_a_mention_in_a_channel_opens_the_thread_on_itself() -> None:
    asked = incoming()
    assert asked.address == thread_address("house", "C1", TS)
    assert (asked.author, asked.author_name, asked.text) == (ADA, "Ada", "where is the key?")
    assert asked.event_key == asked.message_key == f"slack:house:C1:{TS}"
    assert asked.metadata == {TEAM: "T1", MESSAGE: TS}
    how = asked.circumstances
    assert (how.mentioned, how.direct, how.in_thread, how.mentions_others) == (True, False, False, False)


def test_the_mention_event_and_the_message_event_are_one() -> None:
    as_mention = {**a_message(), "type": "app_mention"}
    del as_mention["channel_type"]
    other = to_incoming(as_mention, team=a_team(), in_our_thread=False, names=NAMES, commands=COMMANDS)
    assert other == incoming()


def test_in_a_thread_the_thread_is_the_address() -> None:
    asked = incoming("and the lamp?", thread_ts="1699999999.000001", in_our_thread=True)
    assert asked.address.thread == "1699999999.000001"
    assert (asked.circumstances.in_thread, asked.circumstances.in_our_thread) == (True, True)
    assert asked.circumstances.mentioned is False


def test_a_message_that_has_replies_is_in_no_thread_itself() -> None:
    asked = incoming(thread_ts=TS)
    assert asked.circumstances.in_thread is False
    assert asked.address.thread == TS


@pytest.mark.parametrize("changed", [{"channel_type": "im"}, {"channel": "D7", "channel_type": None}])
def test_direct_messages_ask_without_a_mention(changed: dict[str, Any]) -> None:
    asked = incoming("where is the key?", **changed)
    assert (asked.circumstances.direct, asked.circumstances.mentioned) == (True, False)


@pytest.mark.parametrize(
    ("text", "others"),
    [
        (f"<@{BEN}> where is it?", True),
        (f"<@{ME}> ask <@{BEN}>", True),
        ("<!here> where is it?", True),
        ("<!subteam^S1|@eng> where is it?", True),
        (f"<@{ME}> where is it?", False),
        ("<#C2|random> is where it is", False),
    ],
)
def test_who_else_is_called(text: str, others: bool) -> None:
    assert incoming(text).circumstances.mentions_others is others


@pytest.mark.parametrize(
    ("changed", "bot", "own"),
    [
        ({}, False, False),
        ({"bot_id": "B9"}, True, False),
        ({"subtype": "bot_message", "user": None, "bot_id": "B9"}, True, False),
        ({"user": ME}, False, True),
        ({"bot_id": "B0BOT"}, True, True),
    ],
)
def test_bots_are_told_from_people(changed: dict[str, Any], bot: bool, own: bool) -> None:
    how = incoming(**changed).circumstances
    assert (how.from_bot, how.is_own) == (bot, own)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (f"<@{ME}> hi", "hi"),
        (f"hi <@{ADA}> and <@U9|cora> and <@U8>", "hi @Ada and @cora and @U8"),
        ("see <#C2|random> or <#C3>", "see #random or #C3"),
        ("<!channel> and <!subteam^S1|@eng> and <!here>", "@channel and @eng and @here"),
        ("<https://x.org/a?b=1&amp;c=2>", "https://x.org/a?b=1&c=2"),
        ("<https://x.org|x.org>", "https://x.org"),
        ("<https://x.org|the site>", "the site (https://x.org)"),
        ("<mailto:a@x.org|a@x.org>", "a@x.org"),
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
    ],
)
def test_text_reads_as_people_see_it(raw: str, shown: str) -> None:
    assert to_text({"text": raw}, NAMES, ME) == shown


@given(st.text(max_size=60))
def test_what_a_person_types_comes_back_whole(text: str) -> None:
    typed = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert to_text({"text": typed}, {}, ME) == text.strip()


def test_commands_are_read_from_what_is_said_to_the_bot_alone() -> None:
    assert incoming(f"<@{ME}> stop").text == "/stop"
    assert incoming("stop", channel_type="im").text == "/stop"
    assert incoming("stop", in_our_thread=True).text == "stop"


def test_an_edit_is_another_version_of_the_same_message() -> None:
    event = {
        "type": "message",
        "subtype": "message_changed",
        "channel": "C1",
        "channel_type": "channel",
        "ts": "1700000009.000000",
        "message": {**a_message("new"), "edited": {"user": ADA, "ts": "1700000008.000000"}},
        "previous_message": a_message("old"),
    }
    message = read_message(event)
    assert message is not None
    asked = to_incoming(message, team=a_team(), in_our_thread=True, names=NAMES, commands=COMMANDS)
    assert asked is not None
    assert asked.message_key == f"slack:house:C1:{TS}"
    assert asked.event_key == f"slack:house:C1:{TS}@1700000008.000000"


@pytest.mark.parametrize(
    "event",
    [
        a_message(subtype="channel_join"),
        a_message(subtype="message_replied"),
        {"subtype": "message_deleted", "channel": "C1", "deleted_ts": TS, "ts": "2.0"},
        {"subtype": "message_changed", "channel": "C1", "message": a_message("a"), "previous_message": a_message("a")},
        {
            "subtype": "message_changed",
            "channel": "C1",
            "message": {**a_message("a"), "edited": {"ts": "1.0"}, "attachments": [{}]},
            "previous_message": {**a_message("a"), "edited": {"ts": "1.0"}},
        },
    ],
)
def test_what_nobody_wrote_is_no_message(event: dict[str, Any]) -> None:
    assert read_message(event) is None


def test_deleted_messages_and_tombstones_are_gone() -> None:
    gone = {"subtype": "message_deleted", "channel": "C1", "deleted_ts": TS}
    tombstone = {"subtype": "message_changed", "message": {"subtype": "tombstone", "ts": TS}}
    assert (deleted_ts(gone), deleted_ts(tombstone)) == (TS, TS)
    assert deleted_ts(a_message()) is None
    assert read_message(tombstone) is None


def test_files_come_by_reference_and_ask_by_themselves() -> None:
    file = {"id": "F1", "name": "notes.pdf", "size": 12, "mimetype": "application/pdf"}
    gone = {"id": "F2", "name": "old.pdf", "mode": "tombstone"}
    asked = incoming(f"<@{ME}>", subtype="file_share", files=[file, gone])
    assert asked.text == "What is in notes.pdf?"
    assert asked.attachments == (to_attachment(a_team(), file),)
    assert asked.attachments[0].reference == "T1/F1"


def test_an_empty_message_that_is_not_for_us_is_none() -> None:
    assert to_incoming(a_message(""), team=a_team(), in_our_thread=True, names=NAMES, commands=COMMANDS) is None
    assert incoming(f"<@{ME}>").text == ""


def test_talk_has_its_author_and_time() -> None:
    talk = to_talk(a_message("it rained"), NAMES, ME)
    assert (talk.message_id, talk.author, talk.text) == (TS, "Ada", "it rained")
    assert talk.said_at == datetime(2023, 11, 14, 22, 13, 20, 100, tzinfo=UTC)


def test_a_private_question_is_its_askers_own_under_keys_that_follow() -> None:
    asked: IncomingMessage = incoming()
    private = to_private(replace(asked, metadata={**asked.metadata, RESPONSE: "https://hooks"}))
    assert private.address == private_address(thread_address("house", "C1", ""), ADA)
    assert private.address.private_to == ADA
    assert private.private
    assert private.metadata == {TEAM: "T1", MESSAGE: TS}
    assert private.message_key != asked.message_key
    assert message_id_of(private.message_key) == message_id_of(asked.message_key) == TS


def test_everybody_in_a_message_has_to_be_known_by_name() -> None:
    assert people_in(a_message(f"<@{ME}> and <@{BEN}>, <@{BEN}>")) == [ADA, ME, BEN]


def raw(text: str) -> dict[str, object]:
    return {"type": "raw_text", "text": text}


def rich(*texts: str) -> dict[str, object]:
    pieces = [{"type": "text", "text": text} for text in texts]
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": pieces}]}


def test_a_pasted_table_is_read_behind_the_text() -> None:
    table = {"type": "table", "rows": [[raw("Boat"), raw("Fare")], [rich("Mari", "gold"), raw("3 €")]]}
    message = {"text": "which is cheaper?", "attachments": [{"blocks": [table], "fallback": "[no preview available]"}]}
    assert to_text(message, {}, "U0") == "which is cheaper?\n\nBoat\tFare\nMarigold\t3 €"
    assert to_text({"text": "", "blocks": [table]}, {}, "U0").startswith("Boat\tFare")


def test_a_table_of_a_link_preview_is_not_the_persons() -> None:
    table = {"type": "table", "rows": [[raw("Boat")]]}
    assert (
        to_text({"text": "see", "attachments": [{"from_url": "https://a.example", "blocks": [table]}]}, {}, "U0")
        == "see"
    )
