"""Auto-answers in channels: the bar that a channel learns, and the daily reports of shadow mode."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress, message_key
from core.domain.service import WOULD_ANSWER, AutoAnswer, ChannelSettings, Ratings
from core.errors import PlatformError
from core.service.addressing import CHATTER
from core.service.auto_answers import FIRST_BAR, HIGHEST_BAR, LOWEST_BAR, RATED, SHOWN, AutoAnswers, learned_bar
from tests.fakes import ManualClock
from tests.stores import Stores

CHANNEL = ChannelAddress(platform="slack", workspace="local", channel="dock")
counts = st.integers(min_value=0, max_value=10_000)


@given(helpful=counts, unhelpful=counts)
def test_the_bar_stays_in_its_bounds_and_each_rating_moves_it_one_way(helpful: int, unhelpful: int) -> None:
    bar = learned_bar(Ratings(helpful=helpful, unhelpful=unhelpful))
    assert LOWEST_BAR <= bar <= HIGHEST_BAR
    assert learned_bar(Ratings(helpful=helpful, unhelpful=unhelpful + 1)) >= bar
    assert learned_bar(Ratings(helpful=helpful + 1, unhelpful=unhelpful)) <= bar
    inside = LOWEST_BAR < bar < HIGHEST_BAR
    assert not inside or learned_bar(Ratings(helpful=helpful, unhelpful=unhelpful + 1)) > bar


@given(unhelpful=st.integers(min_value=0, max_value=RATED))
def test_two_helpful_ratings_make_up_for_one_that_is_not(unhelpful: int) -> None:
    assert learned_bar(Ratings(helpful=2 * unhelpful, unhelpful=unhelpful)) == pytest.approx(FIRST_BAR)


def test_the_bar_has_both_bounds_within_the_ratings_that_count() -> None:
    assert learned_bar(Ratings(helpful=RATED)) == LOWEST_BAR
    assert learned_bar(Ratings(unhelpful=RATED)) == HIGHEST_BAR
    assert learned_bar(Ratings(unhelpful=1)) == pytest.approx(0.08, abs=0.001)


class Letters:
    """A platform that takes reports."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str, int]] = []
        self.is_down = False

    async def report(self, person: str, text: str, messages: Sequence[IncomingMessage]) -> str:
        if self.is_down:
            raise PlatformError("Slack is down.")
        self.sent.append((person, text, len(messages)))
        return f"D1/{len(self.sent)}"


class Dock:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.stores = Stores()
        self.inbox = self.stores.inbox(self.clock)
        self.letters = Letters()
        self.auto_answers = AutoAnswers(self.stores.auto_answers, self.stores.settings, self.clock)
        self.count = 0

    async def begin(self) -> None:
        shadow = ChannelSettings(
            auto_answer=AutoAnswer.SHADOW, auto_answer_by="eve", auto_answer_since=self.clock.now()
        )
        await self.stores.settings.save_channel(CHANNEL, shadow)

    async def hear(self, *, would_answer: int, chatter: int) -> None:
        for decision in [WOULD_ANSWER] * would_answer + [CHATTER] * chatter:
            self.count += 1
            id = str(self.count)
            address = ThreadAddress(platform="slack", workspace="local", channel="dock", thread=id)
            key = message_key(address, id)
            message = IncomingMessage(address=address, author="ada", text="", event_key=key, metadata={"message": id})
            await self.inbox.accept(message, decision)

    async def a_day_later(self) -> int:
        self.clock.advance(timedelta(days=1).total_seconds())
        return await self.auto_answers.send_reports({"slack": self.letters}, self.inbox)


async def test_the_admin_gets_one_report_a_day_while_there_is_something_to_report() -> None:
    dock = Dock()
    await dock.begin()
    await dock.hear(would_answer=12, chatter=328)
    assert await dock.auto_answers.send_reports({"slack": dock.letters}, dock.inbox) == 0
    assert await dock.a_day_later() == 1
    [(person, text, messages)] = dock.letters.sent
    assert (person, messages) == ("eve", SHOWN)
    assert "I would have answered 12 of 340 messages:" in text
    assert "[10]" in text and "[11]" not in text and "and 2 more" in text
    assert "/settings auto_answer live" in text and "/settings auto_answer off" in text

    assert await dock.auto_answers.send_reports({"slack": dock.letters}, dock.inbox) == 0
    assert await dock.a_day_later() == 0
    await dock.hear(would_answer=1, chatter=0)
    assert await dock.a_day_later() == 1
    assert "1 of 1 message:" in dock.letters.sent[-1][1]


async def test_a_report_that_fails_is_sent_later_whole_and_none_goes_to_other_platforms() -> None:
    dock = Dock()
    await dock.begin()
    await dock.hear(would_answer=1, chatter=1)
    dock.letters.is_down = True
    assert await dock.a_day_later() == 0
    assert await dock.auto_answers.send_reports({}, dock.inbox) == 0
    dock.letters.is_down = False
    assert await dock.auto_answers.send_reports({"slack": dock.letters}, dock.inbox) == 1
    assert "1 of 2 messages" in dock.letters.sent[0][1]


async def test_a_channel_that_went_live_has_no_report() -> None:
    dock = Dock()
    await dock.begin()
    await dock.hear(would_answer=1, chatter=1)
    settings = await dock.stores.settings.channel(CHANNEL)
    live = ChannelSettings(auto_answer=AutoAnswer.LIVE)
    await dock.stores.settings.save_channel(CHANNEL, dock.auto_answers.switch(settings, live, "eve"))
    assert await dock.a_day_later() == 0
