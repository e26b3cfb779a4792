"""The contract of AutoAnswerRepository, on every database."""

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from core.answering.answers.stored import stored_ids
from core.domain.conversation import Role
from core.domain.features import Feedback, Rating
from core.domain.identity import PersonOnPlatform
from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress, message_key
from core.domain.service import ACCEPTED, UNASKED, WOULD_ANSWER, AutoAnswer, ChannelSettings, Decision, Ratings
from core.ports.auto_answers import AutoAnswerRepository
from core.service.addressing import CHATTER, NEEDS_MENTION, OVERHEARD
from storage.database import Database
from storage.database.repositories.auto_answers import SqlAutoAnswerRepository
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.erasure import SqlErasure
from storage.database.repositories.feedback import SqlFeedbackRepository
from storage.database.repositories.inbox import SqlInboxStore
from storage.database.repositories.settings import SqlSettingsRepository
from tests.builders import NOON, build_conversation, build_message
from tests.fakes import ManualClock

CHANNEL = ChannelAddress(platform="slack", workspace="local", channel="dock")


@dataclass
class Dock:
    """A channel whose messages were decided about."""

    database: Database

    def __post_init__(self) -> None:
        self.clock = ManualClock()
        self.inbox = SqlInboxStore(self.database, self.clock)
        self.auto_answers: AutoAnswerRepository = SqlAutoAnswerRepository(self.database)
        self.settings = SqlSettingsRepository(self.database)

    async def decide(
        self, id: str, decision: Decision, channel: str = "dock", thread: str = "", edit: str = ""
    ) -> IncomingMessage:
        """A message in a channel, or in a thread of it."""
        address = ThreadAddress(platform="slack", workspace="local", channel=channel, thread=thread or id)
        key = message_key(address, id)
        message = IncomingMessage(address=address, author="ada", text="so?", event_key=key + edit, message_key=key)
        await self.inbox.accept(message, decision)
        return message


@pytest.fixture
def dock(database: Database) -> Dock:
    return Dock(database)


async def test_decisions_about_a_channel_itself_are_counted_once_for_each_message(dock: Dock) -> None:
    await dock.decide("early", WOULD_ANSWER)
    dock.clock.advance(60)
    since = dock.clock.now()
    for id, decision in (("1", WOULD_ANSWER), ("2", CHATTER), ("3", WOULD_ANSWER), ("4", NEEDS_MENTION)):
        await dock.decide(id, decision)
    await dock.decide("1", WOULD_ANSWER, edit="@2")
    await dock.decide("3", CHATTER, edit="@2")
    await dock.decide("5", WOULD_ANSWER, channel="hall")
    await dock.decide("6", CHATTER, thread="1")

    found = await dock.auto_answers.decided(CHANNEL, since, OVERHEARD)
    assert found.messages == 3
    assert [item.event_key.rpartition(":")[2] for item in found.would_answer] == ["1@2"]
    assert found.would_answer[0].incoming.text == ""


async def test_an_auto_answer_counts_once_by_the_majority_of_its_ratings(dock: Dock) -> None:
    talks, feedback = SqlConversationRepository(dock.database), SqlFeedbackRepository(dock.database)
    await talks.add(build_conversation("c1"))
    rated = {"1": "ddu", "2": "u", "3": "ud", "4": "", "5": "uu"}
    for id, given in rated.items():
        decision, channel = (ACCEPTED if id == "5" else UNASKED), "dock"
        answer = stored_ids(await dock.decide(id, decision, channel)).answer
        await talks.append("c1", [build_message(answer, role=Role.ASSISTANT, conversation_id="c1")])
        for number, sign in enumerate(given):
            rating = Rating.UP if sign == "u" else Rating.DOWN
            await feedback.save(
                Feedback(message_id=answer, author=f"p{number}", rating=rating, created_at=dock.clock.now())
            )

    assert await dock.auto_answers.ratings(CHANNEL, 10) == Ratings(helpful=1, unhelpful=1)
    assert await dock.auto_answers.ratings(CHANNEL, 3) == Ratings(helpful=1)
    assert await dock.auto_answers.ratings(replace(CHANNEL, platform="discord"), 10) == Ratings()


async def test_nobody_gets_reports_in_place_of_an_admin_who_was_removed(dock: Dock) -> None:
    shadow = ChannelSettings(auto_answer=AutoAnswer.SHADOW, auto_answer_by="eve", auto_answer_since=NOON)
    await dock.settings.save_channel(CHANNEL, shadow)
    eve = PersonOnPlatform(workspace="local", platform="slack", id="eve")
    await SqlErasure(dock.database).erase_person(eve, "removed-1", "ada", NOON)
    assert await dock.settings.channel(CHANNEL) == replace(shadow, auto_answer_by="")
    assert await dock.auto_answers.list_due(NOON) == []


async def test_a_report_is_due_a_day_after_the_last_one_and_claimed_once(dock: Dock) -> None:
    shadow = ChannelSettings(auto_answer=AutoAnswer.SHADOW, auto_answer_by="eve", auto_answer_since=NOON)
    await dock.settings.save_channel(CHANNEL, shadow)
    for name, other in (
        ("live", replace(shadow, auto_answer=AutoAnswer.LIVE)),
        ("nobody", replace(shadow, auto_answer_by="")),
        ("new", replace(shadow, auto_answer_since=NOON + timedelta(hours=1))),
    ):
        await dock.settings.save_channel(replace(CHANNEL, channel=name), other)

    assert await dock.auto_answers.list_due(NOON) == [(CHANNEL, NOON)]
    later = NOON + timedelta(days=1)
    assert await dock.auto_answers.claim_report(CHANNEL, NOON, later)
    assert not await dock.auto_answers.claim_report(CHANNEL, NOON, later)
    assert (CHANNEL, NOON) not in await dock.auto_answers.list_due(later - timedelta(minutes=1))

    await dock.settings.save_channel(CHANNEL, replace(shadow, language="German"))
    assert (CHANNEL, later) in await dock.auto_answers.list_due(later)
    again = replace(shadow, auto_answer_since=later + timedelta(days=1))
    await dock.settings.save_channel(CHANNEL, again)
    assert (CHANNEL, later + timedelta(days=1)) in await dock.auto_answers.list_due(later + timedelta(days=1))
