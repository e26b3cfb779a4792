"""Discord's messages as core understands them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.discordbot.events.translate import (
    thread_address,
    time_of,
    to_incoming,
    to_talk,
    to_text,
)
from bot.presentation.direct_threads import private_address, private_key, to_private
from core.domain.incoming import Circumstances, IncomingMessage, RepliesTo
from tests.unit.bot.discordbot.discord_objects import (
    ADA,
    BEN,
    CHANNEL,
    DIRECT,
    HELPER_BOT,
    ME,
    THREAD,
    World,
    user,
)

MESSAGE = "300000000000000001"


def hear(message: object, **fields: bool) -> IncomingMessage:
    given = {"in_our_thread": False} | fields
    found = to_incoming(message, me=ME, workspace="house", **given)  # type: ignore[arg-type]
    assert found is not None
    return found


async def test_a_mention_in_a_channel_is_answered_in_the_thread_it_opens() -> None:
    heard = hear(World().message(f"<@{ME}> where is the key?", mentions=[user(ME)]))
    assert heard.text == "where is the key?"
    assert heard.address == thread_address("house", CHANNEL, MESSAGE)
    assert (heard.author, heard.author_name) == (str(ADA), "Ada")
    assert heard.circumstances == Circumstances(mentioned=True)
    assert heard.event_key == heard.message_key == f"discord:house:{CHANNEL}:{MESSAGE}"


async def test_a_message_in_a_thread_is_answered_there() -> None:
    world = World()
    heard = hear(world.message(place=world.thread), in_our_thread=True)
    assert heard.address == thread_address("house", CHANNEL, str(THREAD))
    assert heard.circumstances.in_our_thread
    assert heard.circumstances.in_thread
    assert not heard.circumstances.mentioned


async def test_a_direct_message_has_the_one_thread_of_its_channel() -> None:
    world = World()
    heard = hear(world.message(place=world.direct))
    assert heard.address == thread_address("house", DIRECT, "")
    assert heard.circumstances.direct


async def test_the_first_message_of_a_forum_post_opens_it() -> None:
    world = World(thread_id=int(MESSAGE))
    assert hear(world.message(place=world.thread)).circumstances.opens_post


async def test_a_sticker_in_a_direct_channel_is_heard() -> None:
    world = World()
    heard = hear(world.message("", place=world.direct))
    assert heard.text == ""  # which the inbox refuses with a sentence


async def test_an_edit_is_another_event_of_the_same_message() -> None:
    heard = hear(World().message("New words", edited_timestamp="2026-11-02T09:31:00+00:00"))
    assert heard.message_key == f"discord:house:{CHANNEL}:{MESSAGE}"
    assert heard.event_key == f"{heard.message_key}@2026-11-02T09:31:00+00:00"


async def test_a_reply_to_somebody_asks_about_their_message() -> None:
    world = World()
    said = world.message("Bring the key.", by=BEN)
    heard = hear(world.reply(f"<@{ME}> which one?", said, mentions=[user(ME)]))
    assert heard.about is not None
    assert (heard.about.author, heard.about.text) == ("Ben", "Bring the key.")
    assert heard.circumstances == Circumstances(mentioned=True, replies_to=RepliesTo.SOMEBODY)


async def test_a_reply_to_us_is_a_follow_up_that_names_nobody() -> None:
    world = World()
    ours = world.message("Under the stairs [1].", by=ME)
    heard = hear(world.reply("And the other one?", ours))
    assert heard.about is None
    assert heard.circumstances == Circumstances(mentioned=False, replies_to=RepliesTo.US)


async def test_a_message_that_names_somebody_else_says_so() -> None:
    heard = hear(World().message(f"<@{BEN}> have you seen it?", mentions=[user(BEN)]))
    assert heard.circumstances == Circumstances(mentioned=False, mentions_others=True)
    assert heard.text == "@Ben have you seen it?"


async def test_other_bots_and_webhooks_are_marked() -> None:
    world = World()
    assert hear(world.message(by=HELPER_BOT)).circumstances.from_bot
    assert hear(world.message(webhook_id=5)).circumstances.from_bot


async def test_files_are_named_with_the_place_to_fetch_them_from() -> None:
    file = {
        "id": 7,
        "filename": "notes.pdf",
        "size": 12,
        "url": "u",
        "proxy_url": "p",
        "content_type": "application/pdf",
    }
    heard = hear(World().message("", attachments=[file]))
    assert heard.text == "What is in notes.pdf?"
    [found] = heard.attachments
    assert (found.name, found.size_bytes, found.reference) == ("notes.pdf", 12, f"{CHANNEL}/{MESSAGE}/7")


@pytest.mark.parametrize("kind", [6, 7, 18, 21])  # a pin, a join, a new thread, the first line of a thread
async def test_what_discord_itself_says_is_no_message(kind: int) -> None:
    message = World().message("Ada pinned a message", type=kind)
    assert to_incoming(message, me=ME, workspace="house", in_our_thread=True) is None


async def test_nothing_at_all_is_no_message_but_a_bare_mention_is() -> None:
    world = World()
    assert to_incoming(world.message(""), me=ME, workspace="house", in_our_thread=True) is None
    assert hear(world.message(f"<@{ME}>", mentions=[user(ME)])).text == ""


async def test_names_stand_for_the_numbers_of_people_channels_and_emoji() -> None:
    text = f"<@{BEN}> said in <#{CHANNEL}>: <:key:300000000000000005> <@&400000000000000001>"
    message = World().message(text, mentions=[user(BEN)])
    assert to_text(message, ME) == "@Ben said in #general: :key: <@&400000000000000001>"


@pytest.mark.parametrize(("bot", "is_ours"), [(ME, True), (HELPER_BOT, False)])
async def test_the_role_that_discord_gives_a_bot_means_the_bot(bot: int, is_ours: bool) -> None:
    world = World()
    role = world.role(600000000000000001, "footnote", bot)
    heard = hear(world.message(f"<@&{role}> Where is the key?", mention_roles=[str(role)]))
    assert heard.circumstances.mentioned == is_ours
    assert heard.text == ("Where is the key?" if is_ours else "@footnote Where is the key?")


async def test_talk_keeps_who_said_it_and_when() -> None:
    talk = to_talk(World().message("Bring it.", by=BEN), ME)
    assert (talk.author, talk.text, talk.message_id) == ("Ben", "Bring it.", MESSAGE)
    assert talk.said_at == time_of(MESSAGE)


def test_a_private_address_names_its_reader() -> None:
    address = private_address(thread_address("house", CHANNEL, ""), str(ADA))
    assert address.private_to == str(ADA)
    assert thread_address("house", CHANNEL, MESSAGE).private_to is None


def test_the_time_of_a_message_stands_in_its_id() -> None:
    assert time_of("175928847299117063") == datetime(2016, 4, 30, 11, 18, 25, 796000, tzinfo=UTC)


async def test_a_question_for_its_asker_alone_has_keys_of_its_own_and_no_token() -> None:
    heard = hear(World().message(f"<@{ME}> where is the key?", mentions=[user(ME)]))
    edited = replace(heard, event_key=f"{heard.event_key}@later", metadata={**heard.metadata, "token": "secret"})
    private = to_private(edited)

    assert private.address == private_address(thread_address("house", CHANNEL, ""), str(ADA))
    assert private.private
    assert private.message_key == private_key(heard.address, MESSAGE) != heard.message_key
    assert private.event_key == f"{private.message_key}@later"
    assert int(private.message_key.rpartition(":")[2]) == int(MESSAGE)
    assert private.metadata == heard.metadata
    assert private.text == heard.text
