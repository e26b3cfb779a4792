"""Turn-taking: when the bot speaks where nobody named it, over the real inbox and settings."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.incoming import ChannelAddress, Circumstances, IncomingMessage, RepliesTo, ThreadAddress, message_key
from core.domain.service import AutoAnswer, ChannelSettings, FollowUps, InboxStatus, Listening
from core.domain.turns import Act
from core.errors import StorageError
from core.ports import TurnModel
from core.service.inbox import Inbox, platform_gates
from core.service.turns import BURST_SECONDS, Turns, addressed
from storage.database.repositories.inbox import SqlInboxStore
from storage.models.local.turns import LocalTurnModel
from tests.fakes import ManualClock
from tests.stores import InMemoryDatabase, Stores
from tests.turn_model import TURN_MODEL, UnsureTurns

CHANNEL = ChannelAddress(platform="web", workspace="local", channel="dock")


class Dock:
    """A channel with the bot. The library knows of anchors."""

    def __init__(self, model: TurnModel = TURN_MODEL) -> None:
        self.clock = ManualClock()
        database = InMemoryDatabase()
        self.store = SqlInboxStore(database, self.clock)
        self.settings = Stores().settings
        self.looked_up: list[str] = []
        self.is_broken = False
        self.relevance = self.least = 0.9
        turns = Turns(self.settings, self.store, self.clock, model, self.evidence, self.bar)
        self.inbox = Inbox(self.store, platform_gates(self.settings), self.clock, lambda: None, turns=turns)
        self.count = 0
        self.root = ""

    async def evidence(self, incoming: IncomingMessage, text: str) -> float:
        self.looked_up.append(text)
        if self.is_broken:
            raise StorageError("The index is closed.")
        return self.relevance if "anchor" in text else 0.0

    async def bar(self, channel: ChannelAddress) -> float:
        return self.least

    async def say(
        self,
        author: str,
        text: str,
        *,
        thread: str | None = None,
        seconds: float = 60.0,
        is_answered: bool = True,
        **how: object,
    ) -> str:
        """A message in the thread (the last one that was opened); give the code of the decision."""
        self.clock.advance(seconds)
        self.count += 1
        there = self.root if thread is None else thread
        address = ThreadAddress(platform="web", workspace="local", channel="dock", thread=there or str(self.count))
        key = message_key(address, str(self.count))
        circumstances = Circumstances(
            **{"mentioned": False, "in_thread": bool(there), "in_our_thread": bool(there), **how}
        )
        message = IncomingMessage(
            address=address, author=author, author_name=author, text=text, event_key=key, circumstances=circumstances
        )
        receipt = await self.inbox.receive(message)
        if receipt.accepted and is_answered:
            for entry in await self.store.claim(5, {"web"}):
                await self.store.finish(entry.seq, InboxStatus.DONE)
        return receipt.decision.code

    async def ask(self, text: str = "how heavy is the anchor?", author: str = "ada") -> None:
        """A mention in the channel opens the thread."""
        assert await self.say(author, text, thread="", mentioned=True) == "accepted"
        self.root = str(self.count)

    async def text(self) -> str:
        [newest, *_] = await self.store.recent("local")
        return newest.incoming.text


async def opened() -> Dock:
    dock = Dock()
    await dock.ask()
    return dock


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("and the spare one?", "accepted"),
        ("who forged it?", "accepted"),
        ("which documents have you got?", "accepted"),
        ("what was the first thing i asked you", "accepted"),
        ("and if the chain breaks before that", "accepted"),
        ("who", "accepted"),
        ("and for leaving it where it is", "accepted"),
        ("for anybody who picks it up?", "accepted"),
        ("sorry, I meant the small one", "accepted"),
        ("thanks, and how long is the chain?", "accepted"),
        ("thank you!", "acknowledged"),
        ("👍", "acknowledged"),
        ("we rowed there before breakfast", "chatter"),
        ("I rowed there once", "chatter"),
        ("are you coming along?", "for_people"),
        ("pizza afterwards?", "for_people"),
        ("did you get my postcard?", "for_people"),
    ],
)
async def test_the_asker_goes_on_without_a_mention(text: str, code: str) -> None:
    dock = await opened()
    assert await dock.say("ada", text) == code
    assert dock.looked_up == []  # nothing has to be searched


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("what does the spare anchor weigh?", "accepted"),
        ("where do puffins sleep?", "accepted"),  # as a follow-up it is about the anchor
        ("who's bringing the soup?", "for_people"),
        ("oh nice", "acknowledged"),
        ("ada, how far did you get?", "for_people"),
    ],
)
async def test_others_ask_about_what_the_library_covers(text: str, code: str) -> None:
    assert await (await opened()).say("ben", text) == code


@pytest.mark.parametrize(
    ("author", "text", "code"),
    [
        ("ada", "who paints the anchor next?", "accepted"),
        ("ada", "who brings the paint next?", "not_covered"),
        ("ben", "who paints the anchor next?", "for_people"),
    ],
)
async def test_what_may_be_talk_is_answered_if_the_asker_says_it_and_the_library_covers_it(
    author: str, text: str, code: str
) -> None:
    dock = Dock(UnsureTurns(Act.PEOPLE, 0.45))
    await dock.ask("hello there")
    assert await dock.say(author, text) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("the passengers on the boat from 71", "accepted"),
        ("oh sorry, the wax that the landlord sells", "accepted"),
        ("we rowed there before breakfast", "chatter"),
        ("wow that's a lot", "chatter"),
    ],
)
async def test_after_a_question_that_was_asked_back_its_asker_completes_it(text: str, code: str) -> None:
    dock = Dock()
    await dock.ask("how many?")
    assert await dock.say("ada", text) == code


async def test_what_others_say_after_a_question_that_was_asked_back_completes_nothing() -> None:
    dock = Dock()
    await dock.ask("how many?")
    assert await dock.say("ben", "oh sorry, the wax that the landlord sells") == "chatter"


async def test_a_statement_after_a_short_follow_up_completes_nothing() -> None:
    dock = await opened()
    assert await dock.say("ada", "until when?") == "accepted"
    assert await dock.say("ada", "the north gate is still closed by the way") == "chatter"


async def test_a_remark_about_the_subject_asks_nothing() -> None:
    dock = await opened()
    assert await dock.say("ada", "I love that old anchor") == "chatter"


async def test_after_talk_among_people_a_question_has_to_stand_by_itself() -> None:
    dock = await opened()
    assert await dock.say("ben", "mine is in the shed") == "chatter"
    assert await dock.say("ada", "your shed again?") == "for_people"
    assert await dock.say("ada", "do puffins sleep in trees?") == "not_covered"
    assert await dock.say("ada", "how deep does the anchor go?") == "accepted"


async def test_a_question_about_anybody_may_be_about_documents() -> None:
    assert await (await opened()).say("ada", "did anyone lose an anchor?") == "accepted"
    assert await (await opened()).say("ben", "did anyone bring an anchor?") == "for_people"


async def test_thanks_show_that_a_question_goes_on() -> None:
    dock = await opened()
    assert await dock.say("ben", "I would have bet on copper") == "chatter"
    assert await dock.say("ada", "thanks! and where did she leave it?") == "accepted"


async def test_after_one_remark_a_question_may_still_be_about_the_answer() -> None:
    dock = await opened()
    assert await dock.say("ben", "heavy things they are") == "chatter"
    assert await dock.say("ben", "since when do divers lift them?") == "accepted"


async def test_a_call_by_name_is_for_that_person() -> None:
    dock = await opened()
    await dock.say("ben", "I know that anchor")
    assert await dock.say("ada", "is the anchor old, ben?") == "for_people"


async def test_in_peoples_threads_the_bot_waits_to_be_named() -> None:
    dock = Dock()
    await dock.say("ben", "the anchor is lost", thread="")
    dock.root = str(dock.count)
    assert await dock.say("ada", "how heavy is the anchor?", mentioned=True) == "accepted"
    assert await dock.say("ada", "and who sells anchors?") == "needs_mention"
    await dock.settings.save_channel(CHANNEL, ChannelSettings(follow_ups=FollowUps.ALL))
    assert await dock.say("ada", "and who sells anchors?") == "accepted"
    assert await dock.say("ben", "me too") == "chatter"


async def test_a_channel_may_want_mentions_only() -> None:
    dock = await opened()
    await dock.settings.save_channel(CHANNEL, ChannelSettings(follow_ups=FollowUps.NAMED))
    assert await dock.say("ada", "and the spare anchor?") == "only_named"
    assert await dock.say("ada", "and the spare anchor?", replies_to=RepliesTo.US) == "accepted"
    assert await dock.say("ada", "and the spare anchor?", mentioned=True) == "accepted"


async def test_a_listening_thread_answers_what_the_library_covers() -> None:
    dock = Dock()
    await dock.say("ben", "questions for the yard go here", thread="")
    dock.root = str(dock.count)
    address = ThreadAddress(platform="web", workspace="local", channel="dock", thread=dock.root)
    await dock.settings.save_listening(address, Listening.LISTENING)
    assert await dock.say("ada", "what does an anchor cost?") == "accepted"
    assert await dock.say("ben", "noted") == "acknowledged"
    assert await dock.say("ben", "do puffins swim?") in ("accepted", "not_covered")


async def test_a_channel_that_answers_by_itself_leaves_the_rest_alone() -> None:
    dock = Dock()
    await dock.settings.save_channel(CHANNEL, ChannelSettings(auto_answer=AutoAnswer.LIVE))
    said = {
        "what does an anchor weigh": "unasked",
        "when does the cinema open?": "not_covered",
        "hi all": "chatter",
        "🎈🎈": "chatter",
        "could you pass me the rope?": "for_people",
        "the anchor is on the lorry": "chatter",
    }
    assert {text: await dock.say("ada", text, thread="") for text in said} == said
    dock.is_broken = True
    assert await dock.say("ben", "what does an anchor weigh", thread="") == "cannot_tell"


async def test_without_its_model_the_bot_answers_only_who_names_it() -> None:
    dock = Dock(LocalTurnModel(Path("nowhere") / "turns.onnx"))
    await dock.ask()
    assert await dock.say("ben", "how long is the anchor?") == "cannot_tell"
    assert await dock.say("ben", "how long is the anchor?", mentioned=True) == "accepted"
    await dock.say("ben", "hi", mentioned=True, is_answered=False)
    assert await dock.say("ben", "how long is the anchor?", seconds=1.0) == "cannot_tell"


async def test_a_channel_in_shadow_mode_notes_what_it_would_have_answered() -> None:
    dock = Dock()
    said = {
        "what does an anchor weigh": "would_answer",
        "when does the cinema open?": "not_covered",
        "hi all": "chatter",
        "could you pass me the rope?": "for_people",
    }
    await dock.settings.save_channel(CHANNEL, ChannelSettings(auto_answer=AutoAnswer.SHADOW))
    assert {text: await dock.say("ada", text, thread="") for text in said} == said
    [shadowed] = [item for item in await dock.store.recent("local") if item.decision.code == "would_answer"]
    assert shadowed.incoming.text == ""
    assert await dock.store.list_open("local") == []
    assert await dock.say("ada", "what does an anchor weigh", thread="", mentioned=True) == "accepted"


async def test_an_edit_of_a_message_that_was_answered_by_itself_is_answered_in_shadow_mode_too() -> None:
    dock = Dock()
    await dock.settings.save_channel(CHANNEL, ChannelSettings(auto_answer=AutoAnswer.LIVE))
    assert await dock.say("ada", "what does an anchor weigh", thread="") == "unasked"
    await dock.settings.save_channel(CHANNEL, ChannelSettings(auto_answer=AutoAnswer.SHADOW))
    [entry] = await dock.store.recent("local")
    edited = replace(entry.incoming, text="what does an anchor cost", event_key=f"{entry.message_key}@2")
    assert (await dock.inbox.receive(edited)).accepted


async def test_a_channel_speaks_from_the_bar_that_it_has_learned() -> None:
    dock = Dock()
    await dock.settings.save_channel(CHANNEL, ChannelSettings(auto_answer=AutoAnswer.LIVE))
    for dock.least, code in ((0.9, "unasked"), (0.91, "not_covered")):
        assert await dock.say("ada", "what does an anchor weigh", thread="") == code
    assert await dock.say("ada", "what does an anchor weigh", thread="1", in_our_thread=True) == "accepted"


async def test_a_burst_is_one_thought() -> None:
    dock = await opened()
    await dock.say("ben", "I was at the harbour")
    assert await dock.say("ben", "who dropped the anchor there?", seconds=1) == "accepted"
    assert await dock.text() == "I was at the harbour\nwho dropped the anchor there?"
    await dock.say("ben", "I was at the harbour")
    assert await dock.say("ben", "who dropped the anchor there?", seconds=BURST_SECONDS + 1) == "accepted"
    assert await dock.text() == "who dropped the anchor there?"


async def test_a_question_right_behind_a_greeting_replaces_it() -> None:
    dock = Dock()
    await dock.ask("hello!")
    assert await dock.say("ada", "how old is the anchor?", seconds=1) == "accepted"
    assert await dock.text() == "hello!\nhow old is the anchor?"


@pytest.mark.parametrize("thread", [None, ""])  # in the thread that the mention opens, and in the channel
async def test_what_follows_a_mention_that_asks_nothing_yet_belongs_to_it(thread: str | None) -> None:
    dock = Dock()
    await dock.ask("about the anchor")
    assert await dock.say("ada", "it is on the left side", seconds=1, thread=thread) == "accepted"
    assert await dock.say("ada", "how heavy is it?", seconds=1, thread=thread) == "accepted"
    joined, middle, first = await dock.store.recent("local")

    assert joined.incoming.text == "about the anchor\nit is on the left side\nhow heavy is it?"
    assert joined.message_key == middle.message_key == first.message_key
    assert joined.incoming.address == first.incoming.address
    assert joined.incoming.circumstances.mentioned


@pytest.mark.parametrize(
    ("mentioned", "author", "seconds"),
    [
        ("how heavy is the anchor?", "ada", 1),  # it asks something
        ("about the anchor", "ben", 1),
        ("about the anchor", "ada", BURST_SECONDS + 1),
    ],
)
async def test_other_mentions_stay_by_themselves(mentioned: str, author: str, seconds: float) -> None:
    dock = Dock()
    await dock.ask(mentioned)
    await dock.say(author, "how old is the anchor?", seconds=seconds)

    assert await dock.text() == "how old is the anchor?"


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("lunch at noon?", {}),
        ("look at this", {"mentions_others": True}),
        ("so it is", {"replies_to": RepliesTo.SOMEBODY}),
        ("/why", {}),
    ],
)
async def test_messages_to_people_do_not_continue_a_mention(text: str, how: dict[str, object]) -> None:
    dock = Dock()
    await dock.ask("about the anchor")

    assert await dock.say("ada", text, seconds=1, **how) in ("for_people", "not_for_us", "command")


async def test_the_tail_of_a_question_that_is_being_answered_is_no_question_of_its_own() -> None:
    dock = await opened()
    assert await dock.say("ada", "and the chain?", is_answered=False) == "accepted"
    assert await dock.say("ada", "the long one I mean", seconds=0.5) == "chatter"


async def test_an_edit_of_an_answered_message_is_answered_whatever_it_says_now() -> None:
    dock = await opened()
    await dock.say("ada", "and the spare one?")
    [answered, *_] = await dock.store.recent("local")
    edited = replace(answered.incoming, text="never mind", event_key=f"{answered.event_key}@2")
    assert (await dock.inbox.receive(edited)).accepted


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Footnote, is the anchor new?", "is the anchor new?"),
        ("hey footnote what weighs more", "what weighs more"),
        ("dis footnote, qui lève l'ancre ?", "qui lève l'ancre ?"),
        ("Footnote can you list the anchors", "can you list the anchors"),
        ("how heavy is it, footnote?", "how heavy is it?"),
        ("gracias footnote, muy amable", "gracias, muy amable"),
        ("thanks Footnote!", "thanks!"),
        ("thanks to the others, footnote was asleep", None),
        ("footnote is slow today", None),
        ("footnote looks odd", None),
        ("the footnote is wrong", None),
        ("footnotes help", None),
    ],
)
def test_the_name_is_an_address_only_before_what_is_asked(text: str, rest: str | None) -> None:
    assert addressed(text) == rest


async def test_who_calls_the_bot_by_name_is_answered_anywhere() -> None:
    dock = Dock()
    assert await dock.say("ada", "footnote, do puffins swim?", thread="") == "accepted"
    assert await dock.text() == "do puffins swim?"
    assert await dock.say("ben", "footnote is asleep again", thread="") == "needs_mention"
