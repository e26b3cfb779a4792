"""When the bot speaks in a thread on the web where nobody named it, and how people learn why it did not."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from aiohttp.test_utils import TestClient

from core.domain.identity import Role
from core.domain.incoming import ChannelAddress
from core.domain.service import ChannelSettings, FollowUps
from tests.entering import SAME_SITE, sign_in
from tests.unit.bot.web.chat_place import ANSWER, KEY, ChatPlace, RealClock, Visitor, search


class SlowClock(RealClock):
    """A moment stays one on a busy machine."""

    def monotonic(self) -> float:
        return super().monotonic() / 1_000


@asynccontextmanager
async def talking(place: ChatPlace) -> AsyncIterator[tuple[Visitor, Visitor, str]]:
    """Ada, who owns the service and sees all threads, Ben, and Ben's thread, where his question was answered."""
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
    async with place.open(open_to_network=True) as ada, TestClient(ada.client.server, headers=SAME_SITE) as client:
        await sign_in(client, Role.MEMBER, f"Ben {16 * '0'}", "Ben")
        ben = Visitor(client, sent=100)
        thread = (await ben.send("where is the key?"))["thread"]
        await ben.answered(thread)
        yield ada, ben, thread


def answering(count: int, clock: RealClock | None = None) -> ChatPlace:
    script = tuple(turn for at in range(count) for turn in (search(f"t{at}"), ANSWER))
    return ChatPlace(script=script, turns_clock=clock or RealClock())


def said(messages: Sequence[dict[str, object]]) -> list[object]:
    """Who said something: people by name, the bot by its role."""
    return [item["role"] if item["role"] == "assistant" else item["author"] for item in messages]


async def why(visitor: Visitor, thread: str) -> str:
    return str((await visitor.send("/why", thread))["result"]["html"])


async def test_messages_of_a_moment_are_one_question() -> None:
    place = answering(2, SlowClock())
    async with talking(place) as (_, ben, thread):
        first = await ben.send("we tidied the cellar yesterday", thread)
        then = await ben.send("is there a spare key for it?", thread)
        await ben.answered(thread, count=2)
        [entry, *_] = await place.entries_of(thread)

    assert (first["accepted"], then["accepted"]) == (False, True)
    assert entry.incoming.text == "we tidied the cellar yesterday\nis there a spare key for it?"


async def test_thanks_are_not_answered_and_why_tells_it() -> None:
    async with talking(answering(1)) as (_, ben, thread):
        receipt = await ben.send("brilliant, thanks!", thread)
        told = await why(ben, thread)
        state = await ben.show(thread)

    assert (receipt["accepted"], receipt["code"], receipt["talk"]) == (False, "acknowledged", True)
    assert said(state["messages"]) == ["Ben", "assistant", "Ben"]
    assert "acknowledged my answer" in told


async def test_talk_between_two_people_is_not_answered_and_why_tells_it() -> None:
    async with talking(answering(1)) as (ada, ben, thread):
        codes = [
            (await person.send(text, thread))["code"]
            for person, text in [
                (ada, "Ben, are you coming to the pub?"),
                (ben, "only for one, Ada"),
                (ada, "who brings the key?"),
            ]
        ]
        told = await why(ada, thread)
        state = await ben.show(thread)

    assert codes == ["for_people", "chatter", "for_people"]
    assert said(state["messages"]) == ["Ben", "assistant", "Ada", "Ben", "Ada"]
    assert "stayed silent" in told


@pytest.mark.parametrize(
    ("follow_ups", "text", "code"),
    [
        (FollowUps.ASKER, "which key opens the old cellar door under the kitchen?", "accepted"),
        (FollowUps.ASKER, "which ferry leaves the northern harbour first on Sunday mornings?", "not_covered"),
        (FollowUps.NAMED, "which key opens the old cellar door under the kitchen?", "only_named"),
        (FollowUps.NAMED, "@footnote which key opens the old cellar door under the kitchen?", "accepted"),
        (FollowUps.ALL, "which key opens the old cellar door under the kitchen?", "accepted"),
    ],
)
async def test_a_question_of_somebody_else_is_answered_as_it_is_set(
    follow_ups: FollowUps, text: str, code: str
) -> None:
    place = answering(2)
    channel = ChannelAddress(platform="web", workspace="local", channel="general")
    async with talking(place) as (ada, ben, thread):
        await place.shelf.settings.save_channel(channel, ChannelSettings(follow_ups=follow_ups))
        await ben.send("I painted the whole fence on Saturday", thread)
        assert (await ada.send(text, thread))["code"] == code
        answers = 2 if code == "accepted" else 1
        messages = await ben.answered(thread, count=answers)

    assert said(messages).count("assistant") == answers


async def test_a_follow_up_of_the_asker_is_answered_with_the_talk_before_it() -> None:
    place = answering(2)
    async with talking(place) as (ada, ben, thread):
        await ada.send("the spare one went to Piotr", thread)
        await ben.send("@footnote who has the spare key?", thread)
        await ben.answered(thread, count=2)
        prompts = [message.text for message in place.provider.requests[-1].messages]

    assert any("the spare one went to Piotr" in text for text in prompts)


async def test_a_muted_thread_answers_mentions_alone() -> None:
    place = answering(2)
    async with talking(place) as (_, ben, thread):
        await ben.send("/mute", thread)
        silent = await ben.send("and where is the spare key?", thread)
        told = await why(ben, thread)
        named = await ben.send("@footnote where is the spare key?", thread)
        await ben.answered(thread, count=2)

    assert (silent["code"], named["code"]) == ("muted", "accepted")
    assert "muted" in told
