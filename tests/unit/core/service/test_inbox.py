"""The door: commands, gates, decisions and receipts, over the in-memory inbox."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import NoReturn

import pytest

from core.domain.incoming import AGAIN, LATER, ChannelAddress, Circumstances, IncomingMessage, ThreadAddress
from core.domain.jobs import RETENTION
from core.domain.service import (
    ACCEPTED,
    AutoAnswer,
    ChannelSettings,
    CommandLine,
    Decision,
    InboxEntry,
    InboxStatus,
    Listening,
)
from core.errors import StorageError
from core.service.addressing import NEEDS_MENTION
from core.service.inbox import STANDARD_GATES, Inbox, QuestionLimits, platform_gates
from core.service.turns import Turns
from core.work.questions import to_command
from storage.database.repositories.inbox import SqlInboxStore
from storage.database.repositories.settings import SqlSettingsRepository
from tests.fakes import ManualClock
from tests.stores import InMemoryDatabase, Stores
from tests.turn_model import TURN_MODEL

HERE = ThreadAddress(platform="web", workspace="local", channel="c", thread="t")


def message(id: str = "1", text: str = "Where is the key?", **fields: object) -> IncomingMessage:
    return IncomingMessage(**{"address": HERE, "author": "ada", "event_key": id, "text": text, **fields})


class Door:
    def __init__(self, *gates) -> None:
        self.clock = ManualClock()
        self.store = Stores().inbox(self.clock)
        self.woken = 0
        self.inbox = Inbox(self.store, [*STANDARD_GATES, *gates], self.clock, self.wake)

    def wake(self) -> None:
        self.woken += 1


async def test_a_question_is_stored_before_it_is_acknowledged_and_wakes_the_worker():
    door = Door()
    receipt = await door.inbox.receive(message(conversation_id="c9"))
    assert (receipt.accepted, receipt.decision, receipt.message_key, receipt.conversation_id, door.woken) == (
        True,
        ACCEPTED,
        "1",
        "c9",
        1,
    )
    assert (await door.store.find("1")).status is InboxStatus.QUEUED


class TalkDoor(Door):
    """Takes turns, and notes what is read of the entries."""

    def __init__(self) -> None:
        super().__init__()
        database = Stores().database
        self.settings, self.read = SqlSettingsRepository(database), []
        self.store = SqlInboxStore(database, self.clock)
        listed = self.store.list_versions

        async def list_versions(message_key: str) -> list[InboxEntry]:
            self.read.append(message_key)
            return await listed(message_key)

        self.store.list_versions = list_versions  # type: ignore[method-assign]
        turns = Turns(self.settings, self.store, self.clock, TURN_MODEL)
        self.inbox = Inbox(self.store, platform_gates(self.settings), self.clock, self.wake, turns=turns)


async def test_talk_in_a_channel_is_noted_without_a_look_at_its_versions():
    door = TalkDoor()
    talk = message(circumstances=Circumstances(mentioned=False), text="See you at noon.")
    for _ in range(2):
        assert (await door.inbox.receive(talk)).decision == NEEDS_MENTION
    assert (door.read, door.woken) == ([], 0)
    [entry] = await door.store.list_versions("1")
    assert (entry.decision, entry.status, entry.incoming.text) == (NEEDS_MENTION, InboxStatus.REFUSED, "")


async def test_talk_that_becomes_a_question_by_an_edit_is_answered():
    door = TalkDoor()
    await door.inbox.receive(message(circumstances=Circumstances(mentioned=False)))
    receipt = await door.inbox.receive(message("1@2", message_key="1"))
    assert (receipt.accepted, door.woken) == (True, 1)


async def test_talk_that_arrives_after_its_edit_to_a_question_changes_nothing():
    door = TalkDoor()
    await door.inbox.receive(message("1@2", message_key="1"))
    await door.inbox.receive(message(circumstances=Circumstances(mentioned=False)))
    assert [entry.decision for entry in await door.store.list_versions("1")] == [ACCEPTED]


class FullStore(SqlInboxStore):
    async def accept(self, *_: object) -> NoReturn:
        raise StorageError("The disk is full.")


class YieldingStore(SqlInboxStore):
    """Lets others run where a database would, between looking and storing."""

    async def find(self, event_key: str) -> InboxEntry | None:
        found = await super().find(event_key)
        await asyncio.sleep(0)
        return found


async def test_what_cannot_be_stored_is_refused_with_what_to_do_next():
    door = Door()
    inbox = Inbox(FullStore(InMemoryDatabase(), door.clock), STANDARD_GATES, door.clock, door.wake)
    with pytest.raises(StorageError, match=r"couldn't save this message\. Send it again later\. The disk is full\.$"):
        await inbox.receive(message())
    assert door.woken == 0


async def test_a_repeated_event_gets_the_first_receipt_and_wakes_nobody():
    door = Door()
    first = await door.inbox.receive(message())
    again = await door.inbox.receive(message())
    assert again == replace(first, repeated=True)
    assert (door.woken, len(await door.store.recent("local"))) == (1, 1)


async def test_what_another_process_takes_in_at_the_same_time_wakes_nobody_here():
    door, elsewhere = Door(), Door()
    first = await elsewhere.inbox.receive(message())

    class LateStore(SqlInboxStore):
        """Sees what the other one stored when it stores the same itself."""

        async def accept(
            self, incoming: IncomingMessage, decision: Decision, limits: object
        ) -> tuple[InboxEntry, bool]:
            return await elsewhere.store.accept(incoming, decision)

    here = Inbox(LateStore(InMemoryDatabase(), door.clock), STANDARD_GATES, door.clock, door.wake)
    assert await here.receive(message()) == replace(first, repeated=True)
    assert (door.woken, elsewhere.woken) == (0, 1)


async def test_who_waits_for_the_same_event_goes_on_when_it_could_not_be_stored():
    door = Door()

    class FullAtFirst(YieldingStore):
        is_full = True

        async def accept(
            self, incoming: IncomingMessage, decision: Decision, limits: object
        ) -> tuple[InboxEntry, bool]:
            if self.is_full:
                self.is_full = False
                raise StorageError("The disk is full.")
            return await super().accept(incoming, decision, ())

    inbox = Inbox(FullAtFirst(InMemoryDatabase(), door.clock), STANDARD_GATES, door.clock, door.wake)
    async with asyncio.timeout(60):
        failed, taken = await asyncio.gather(*(inbox.receive(message()) for _ in range(2)), return_exceptions=True)
    assert isinstance(failed, StorageError)
    assert (taken.accepted, taken.repeated) == (True, False)


async def test_an_edit_that_leaves_the_text_as_it_was_is_a_repeated_event():
    door = Door()
    first = await door.inbox.receive(message())
    edit = message(event_key="1@2", message_key="1")
    assert await door.inbox.receive(edit) == replace(first, repeated=True)
    changed = await door.inbox.receive(replace(edit, text="Where is the lock?", event_key="1@3"))
    back = await door.inbox.receive(replace(edit, event_key="1@4"))
    assert (changed.repeated, back.repeated) == (False, False)
    assert [entry.event_key for entry in await door.store.recent("local")] == ["1@4", "1@3", "1"]


async def test_who_takes_back_an_edit_that_was_refused_has_the_answer_to_the_text_before():
    door = Door()
    first = await door.inbox.receive(message())
    refused = await door.inbox.receive(message(event_key="1@2", message_key="1", text=" "))
    back = await door.inbox.receive(message(event_key="1@3", message_key="1"))
    assert (refused.accepted, back) == (False, replace(first, repeated=True))


async def test_what_is_asked_again_is_answered_anew_though_its_text_is_the_same():
    door = Door()
    await door.inbox.receive(message())
    again = await door.inbox.receive(message(event_key=f"1@{AGAIN}1", message_key="1"))
    assert (again.accepted, again.repeated, door.woken) == (True, False, 2)


async def test_a_message_that_comes_after_its_edit_is_out_of_date():
    door = Door()
    edited = await door.inbox.receive(message(event_key="1@2", message_key="1", text="Where is the lock?"))
    assert await door.inbox.receive(message(event_key="1")) == replace(edited, repeated=True)
    assert [entry.incoming.text for entry in await door.store.recent("local")] == ["Where is the lock?"]


async def test_an_edit_of_what_was_refused_is_decided_anew():
    door = Door()
    await door.inbox.receive(message(text="?"))
    receipt = await door.inbox.receive(message(event_key="1@2", message_key="1"))
    assert (receipt.accepted, receipt.repeated) == (True, False)


async def test_who_works_on_an_edited_message_is_told_at_once():
    told, door = [], Door()
    inbox = Inbox(door.store, STANDARD_GATES, door.clock, door.wake, lambda key, before: told.append((key, before)))
    await inbox.receive(message())
    edit = message(event_key="1@2", message_key="1", text="Where is the lock?")
    await inbox.receive(edit)
    await inbox.receive(edit)
    assert told == [("1", 2)]


@pytest.mark.parametrize(
    ("incoming", "code"),
    [
        (message(text=" \n"), "bad_question"),
        (message(text=" ?", circumstances=Circumstances(mentioned=False)), "bad_question"),
        (message(text="x" * 100_000), "bad_question"),
    ],
)
async def test_what_a_gate_refuses_is_recorded_with_its_reason_and_never_queued(incoming, code):
    door = Door()
    receipt = await door.inbox.receive(incoming)
    assert (receipt.accepted, receipt.decision.code, door.woken) == (False, code, 0)
    assert receipt.decision.sentence.endswith(".")
    [entry] = await door.store.recent("local")
    assert (entry.decision, entry.status) == (receipt.decision, InboxStatus.REFUSED)


async def test_a_command_is_handed_back_once_and_never_queued():
    door = Door()
    receipt = await door.inbox.receive(message("1", "/Stop now "))
    again = await door.inbox.receive(message("1", "/Stop now "))
    assert (receipt.accepted, receipt.command) == (False, CommandLine(name="stop", argument="now"))
    assert (again.command, again.repeated) == (None, True)
    assert await door.store.claim(5, {"web"}) == []


class Platform(Door):
    """A door with the gates of chat platforms."""

    def __init__(self, person: int = 0) -> None:
        """`person`: the questions an hour of each."""
        super().__init__()
        self.store = YieldingStore(InMemoryDatabase(), self.clock)
        self.settings = Stores().settings
        limits = QuestionLimits(settings=self.settings, person=person, platforms={"web"})
        self.inbox = Inbox(self.store, platform_gates(self.settings), self.clock, self.wake, limits=limits)

    async def receive(self, id: str, text: str = "Where is the key?", **fields: object) -> str:
        """The code of its decision."""
        return (await self.inbox.receive(message(id, text, **fields))).decision.code


ASIDE = Circumstances(mentioned=False, in_thread=True, in_our_thread=True)


async def test_what_is_set_for_thread_and_channel_decides_who_is_answered():
    door = Platform()
    assert await door.receive("1", circumstances=ASIDE) == "accepted"
    await door.settings.save_listening(HERE, Listening.MUTED)
    assert await door.receive("2", circumstances=ASIDE) == "muted"
    assert await door.receive("3", circumstances=ASIDE, address=replace(HERE, thread="t2")) == "accepted"
    channel = Circumstances(mentioned=False)
    assert await door.receive("4", circumstances=channel, address=replace(HERE, thread="m4")) == "needs_mention"
    await door.settings.save_channel(ChannelAddress.of(HERE), ChannelSettings(auto_answer=AutoAnswer.LIVE))
    assert await door.receive("5", circumstances=channel, address=replace(HERE, thread="m5")) == "accepted"
    assert await door.receive("6", "?", circumstances=channel, address=replace(HERE, thread="m6")) == "bad_question"


async def test_a_command_that_is_said_to_others_is_not_run():
    door = Platform()
    others = replace(ASIDE, mentions_others=True)
    receipt = await door.inbox.receive(message("1", "/delete", circumstances=others))
    assert (receipt.decision.code, receipt.command) == ("not_for_us", None)
    assert (await door.inbox.receive(message("2", "/delete", circumstances=ASIDE))).command is not None


async def test_what_a_bot_writes_is_neither_answered_nor_run():
    door = Platform()
    for id, how in (("1", Circumstances(from_bot=True)), ("2", Circumstances(is_own=True))):
        assert (await door.inbox.receive(message(id, "/delete", circumstances=how))).command is None
    assert door.woken == 0


async def test_a_person_asks_so_often_over_all_channels_and_others_are_free():
    door = Platform(person=2)
    channels = [replace(HERE, channel=name) for name in "abc"]
    assert [await door.receive(f"{place.channel}", address=place) for place in channels] == [
        *("accepted", "accepted", "over_limit")
    ]
    assert await door.receive("ben", author="ben") == "accepted"
    assert await door.receive("elsewhere", address=replace(HERE, workspace="elsewhere")) == "accepted"
    door.clock.advance(3600)
    assert await door.receive("later") == "accepted"


async def test_a_channels_own_limit_holds_there_beside_the_hourly_one():
    door = Platform(person=4)
    for channel in ("c", "d"):
        place = ChannelAddress.of(replace(HERE, channel=channel))
        await door.settings.save_channel(place, ChannelSettings(questions_per_minute=2))
    assert [await door.receive(f"c{number}") for number in range(3)] == ["accepted", "accepted", "over_limit"]
    assert await door.receive("d", address=replace(HERE, channel="d")) == "accepted"
    refused = await door.inbox.receive(message("c4"))
    assert refused.decision.sentence == (
        "In this channel, you have asked 2 questions in this minute. You can ask again at 12:01 UTC."
    )
    door.clock.advance(60)
    assert [await door.receive(f"e{number}") for number in range(2)] == ["accepted", "over_limit"]


async def test_where_no_hourly_limit_holds_only_channels_with_a_limit_are_limited():
    door = Platform()
    assert {await door.receive(str(number)) for number in range(100)} == {"accepted"}
    await door.settings.save_channel(ChannelAddress.of(HERE), ChannelSettings(questions_per_minute=1))
    assert [await door.receive(f"c{number}") for number in range(2)] == ["accepted", "over_limit"]
    local = replace(HERE, platform="terminal", channel="mine")
    unlimited = Platform(person=1)
    assert {await unlimited.receive(f"t{number}", address=local) for number in range(30)} == {"accepted"}


async def test_an_event_that_comes_again_or_twice_at_once_is_counted_once():
    door = Platform(person=2)
    assert await asyncio.gather(door.receive("1"), door.receive("1")) == ["accepted"] * 2
    assert await door.receive("1") == "accepted"
    assert [await door.receive("2"), await door.receive("3")] == ["accepted", "over_limit"]


async def test_an_older_edit_that_comes_again_is_not_counted_either():
    door = Platform(person=4)
    edits = [("1@2", "Where is the lock?"), ("1@3", "Where is the door?"), ("1@2", "Where is the lock?")]
    assert await door.receive("1") == "accepted"
    for key, text in edits:
        assert await door.receive(key, text, message_key="1") == "accepted"
    assert [await door.receive("2"), await door.receive("3")] == ["accepted", "over_limit"]


async def test_a_question_that_is_asked_again_as_promised_is_neither_counted_nor_refused():
    door = Platform(person=1)
    assert await door.receive("1") == "accepted"
    assert await door.receive(f"1@{LATER}x", message_key="1") == "accepted"
    assert await door.receive("2") == "over_limit"
    assert await door.receive(f"1@{LATER}y", "And later?", message_key="1") == "accepted"


async def test_commands_are_not_counted():
    door = Platform(person=1)
    assert [await door.receive(f"c{number}", "/help") for number in range(3)] == ["command"] * 3
    assert await door.receive("1") == "accepted"


async def test_ended_entries_are_forgotten_after_the_retention():
    door = Door()
    await door.inbox.receive(message("1", "/help"))
    await door.inbox.receive(message("2"))
    door.clock.advance((RETENTION + timedelta(days=1)).total_seconds())
    assert await door.inbox.tidy() == 1
    assert [entry.event_key for entry in await door.store.recent("local")] == ["2"]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/help", CommandLine(name="help", argument="")),
        ("  /RENAME a\nb ", CommandLine(name="rename", argument="a\nb")),
        ("/usr/bin is what?", None),
        ("What is /help?", None),
        ("/", None),
    ],
)
def test_a_command_is_a_slash_and_a_word_at_the_beginning(text, command):
    assert to_command(text) == command
