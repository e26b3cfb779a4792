"""A private answer is shared with its channel once, by its reader, as far as everybody there may read it."""

import asyncio
from typing import Any

import pytest

from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.service import ChannelSettings, PersonAddress
from core.errors import StorageError
from tests.integration.slackbot.house import House, buttons, is_final, shown_of
from tests.integration.slackbot.place import KEY, SlackPlace, search
from tests.scripted import says
from tests.slack_server import Channel, Message

RESTARTS = pytest.mark.parametrize("restarts", [False, True], ids=["same process", "after a restart"])
TRANSPORTS = pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])
SHARE = "Share with the channel"
LONG = says("\n\n".join(["The key hangs under the stairs [1]."] * 400))
HOUSE = "local/handbook/house.md"
OVER = 31 * 60  # seconds: Slack takes replies to an interaction for 30 minutes


@RESTARTS
@TRANSPORTS
async def test_the_answer_is_shown_in_a_thread_of_the_channel_and_its_button_is_gone(
    place: SlackPlace, restarts: bool, over_http: bool
) -> None:
    place.over_http = over_http
    async with place.open() as house:
        private = await _private(house)
        if restarts:
            await place.restart()
        await house.ada.choose(private, SHARE)
        answer = await _shared(house)
        assert KEY[:-1] in shown_of(answer)
        assert SHARE not in buttons(answer)
        await house.until(lambda: SHARE not in buttons(private), "the private answer without its button")
        assert KEY[:-1] in shown_of(private)
        assert "Show sources" in buttons(private)
        assert len(place.provider.requests) == 2  # nothing was asked of the model again


async def test_who_presses_twice_shares_once(place: SlackPlace) -> None:
    async with place.open() as house:
        private = await _private(house)
        blocks = list(private.blocks)
        await asyncio.gather(*(house.ada.choose(private, SHARE) for _ in range(3)))
        await _shared(house)
        private.blocks = blocks  # as another client of Ada's still shows it
        await place.restart()
        await house.ada.choose(private, SHARE)
        await house.told(house.ada, "already shared with the channel")
        await house.server.settle()
        assert [shown_of(one) for one in house.posts() if "shares" in shown_of(one)] == [
            "ada shares: where is the key?"
        ]
        assert len([one for one in house.posts() if is_final(one)]) == 1


async def test_people_go_on_in_the_shared_answers_thread(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.choose(await _private(house), SHARE)
        answer = await _shared(house)
        await house.ben.mention(house.channel, "and why there?", thread=answer)
        await house.answered(count=2)
        told = str(place.provider.requests[2].messages)
        assert "where is the key?" in told and "and why there?" in told
        assert {one.root for one in house.posts()} == {answer.root}


async def test_what_lies_beyond_the_channels_position_is_not_shown_there(place: SlackPlace) -> None:
    async with place.open() as house:
        await _read_to(place, house, ada=2, channel=1)
        private = await _garden(place, house)
        await house.ada.choose(private, SHARE)
        await house.told(house.ada, "can't be shown here")
        await house.server.settle()
        assert house.posts() == []
        assert SHARE in buttons(private)
        await _read_to(place, house, ada=2, channel=2)
        await house.ada.choose(private, SHARE)
        assert "shed" in shown_of(await _shared(house))


async def test_a_position_that_is_set_back_before_the_answer_comes_holds(place: SlackPlace) -> None:
    async with place.open() as house:
        private = await _garden(place, house)
        blocks = list(private.blocks)
        await place.end_work()
        await house.ada.choose(private, SHARE)
        await house.shows("ada shares: what has the garden?")
        await _read_to(place, house, ada=2, channel=1)
        await place.restart()
        refused = await house.shows("can't be shown here")
        assert "shed" not in "".join(shown_of(one) for one in house.posts())
        assert "Show sources" not in buttons(refused)
        private.blocks = blocks  # as another client of Ada's still shows it
        await _read_to(place, house, ada=2, channel=2)
        await house.until(lambda: not place.worker.running, "the end")
        await house.ada.choose(private, SHARE)
        await house.until(lambda: [one for one in house.posts() if is_final(one) and "shed" in shown_of(one)], "it")


async def test_a_process_that_ends_in_between_leaves_one_answer(place: SlackPlace) -> None:
    async with place.open() as house:
        private = await _private(house)
        await place.end_work()
        await house.ada.choose(private, SHARE)
        await house.shows("ada shares")
        assert not [one for one in house.posts() if is_final(one)]
        await place.restart()
        await _shared(house)
        await house.server.settle()
        assert len(house.posts()) == 2


async def test_an_answer_that_came_as_a_direct_message_is_shared_from_there(place: SlackPlace) -> None:
    async with place.open() as house:
        place.provider.held = {1}
        await house.ada.slash(house.channel, "ask where is the key? --private")
        await house.until(lambda: len(place.provider.requests) == 1, "the search")
        house.server.advance(OVER)
        place.provider.go.set()
        [private] = await house.answered(house.ada.dm)
        await house.ada.choose(private, SHARE)
        answer = await _shared(house)
        await house.until(lambda: SHARE not in buttons(private), "the private answer without its button")
        await house.told(house.ada, "Shared with the channel", house.ada.dm)
        assert KEY[:-1] in shown_of(answer)
        assert len([one for one in house.posts() if is_final(one)]) == 1


async def test_of_an_answer_in_several_messages_the_one_with_the_button_loses_it(place: SlackPlace) -> None:
    place.says(search(), LONG)
    async with place.open() as house:
        await house.ada.slash(house.channel, "ask where is the key? --private")
        await house.until(lambda: any(SHARE in buttons(one) for one in house.whispered(house.ada, "")), "the button")
        parts = house.whispered(house.ada, "under the stairs")
        [last] = [one for one in parts if SHARE in buttons(one)]
        before = [shown_of(one) for one in parts]
        assert len(parts) > 1
        await house.ada.choose(last, SHARE)
        await house.until(lambda: SHARE not in buttons(last), "the last part without its button")
        assert [shown_of(one) for one in parts] == before
        await house.until(lambda: _times(house.posts()) >= 400, "the whole answer in the channel")


async def test_a_reply_that_slack_takes_no_more_leaves_a_word_instead(place: SlackPlace) -> None:
    async with place.open() as house:
        private = await _private(house)
        house.server.fail_next("response_url", status=404, times=2)
        await house.ada.choose(private, SHARE)
        answer = await _shared(house)
        await house.told(house.ada, "Shared with the channel.")
        assert KEY[:-1] in shown_of(answer)
        assert SHARE in buttons(private)  # Slack did not take the update


async def test_what_was_deleted_since_can_be_shared_again(place: SlackPlace) -> None:
    async with place.open() as house:
        private = await _private(house)
        blocks = list(private.blocks)
        await house.ada.choose(private, SHARE)
        answer = await _shared(house)
        shared = await place.conversations.find(_thread(house, answer.root))
        assert shared is not None
        await place.conversations.delete(shared.id, "local")
        private.blocks = blocks
        await house.until(lambda: not place.worker.running, "the end")
        await house.ada.choose(private, SHARE)
        await house.answered(count=2)


async def test_nobody_else_shares_it_and_nothing_else_is_shared(place: SlackPlace) -> None:
    async with place.open() as house:
        private = await _private(house)
        opened = await house.ask("where is the key, in the open?")
        stolen, own = buttons(private)[SHARE], buttons(opened)["Show sources"].replace("passages", "share")
        for action, person, words in (
            (stolen, house.ben, "private to another person"),
            (own, house.ben, "only who it was for can share it"),
        ):
            opened.blocks = _one_button(action)
            await house.ben.click(opened, "Old")
            await house.told(person, words)
        assert not [one for one in house.posts() if "shares" in shown_of(one)]


async def test_what_a_gate_refuses_is_taken_back_and_can_be_shared_later(place: SlackPlace) -> None:
    async with place.open() as house:
        address = ChannelAddress(platform="slack", workspace="local", channel=house.channel.id)
        private = await _private(house)
        await place.settings.save_channel(address, ChannelSettings(questions_per_minute=1))
        await house.ask("where is the key, in the open?")
        await house.ada.choose(private, SHARE)
        await house.told(house.ada, "You can ask again at")
        await house.until(lambda: not [one for one in house.posts() if "shares" in shown_of(one)], "nothing shared")
        await place.settings.save_channel(address, ChannelSettings())
        await house.ada.choose(private, SHARE)
        assert KEY[:-1] in shown_of(await _shared(house))


async def test_what_can_not_be_stored_is_taken_back_and_told(
    place: SlackPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*args: Any) -> Any:
        raise StorageError("The database is locked.")

    async with place.open() as house:
        private = await _private(house)
        monkeypatch.setattr(place.entries, "accept", broken)
        await house.ada.choose(private, SHARE)
        await house.told(house.ada, "I couldn't save this message")
        await house.until(lambda: house.posts() == [], "nothing shared")
        assert SHARE in buttons(private)


async def test_where_the_bot_was_removed_nothing_is_shared(place: SlackPlace) -> None:
    async with place.open() as house:
        private = await _private(house)
        await house.ada.remove(house.channel)
        await house.ada.choose(private, SHARE)
        await house.told(house.ada, "Invite me")
        assert house.posts() == []


async def _private(house: House) -> Message:
    """The answer to a private question of Ada's."""
    await house.ada.slash(house.channel, "ask where is the key? --private")
    await house.until(lambda: any(SHARE in buttons(one) for one in house.whispered(house.ada, KEY[:-1])), "an answer")
    assert house.posts() == []
    return house.whispered(house.ada, KEY[:-1])[-1]


async def _garden(place: SlackPlace, house: House) -> Message:
    """A private answer from the second page."""
    place.says(search("t1", "the garden has a shed"), says("The garden has a shed [1]."))
    await house.ada.slash(house.channel, "ask what has the garden? --private")
    await house.until(lambda: any(SHARE in buttons(one) for one in house.whispered(house.ada, "shed")), "an answer")
    return house.whispered(house.ada, "shed")[-1]


async def _shared(house: House, place: Channel | None = None) -> Message:
    """The answer below what says that it is shared."""
    said = await house.shows("ada shares: ", place)
    await house.until(lambda: any(is_final(one) and one.root == said.ts for one in house.posts(place)), "the answer")
    return next(one for one in house.posts(place) if is_final(one) and one.root == said.ts)


async def _read_to(place: SlackPlace, house: House, *, ada: int, channel: int) -> None:
    address = ChannelAddress(platform="slack", workspace="local", channel=house.channel.id)
    await place.settings.save_position(address, HOUSE, channel)
    await place.settings.save_position(PersonAddress(workspace="local", person=house.ada.id), HOUSE, ada)


def _thread(house: House, ts: str) -> ThreadAddress:
    return ThreadAddress(platform="slack", workspace="local", channel=house.channel.id, thread=ts)


def _times(messages: list[Message]) -> int:
    return "".join(shown_of(one) for one in messages).count("under the stairs")


def _one_button(action_id: str) -> list[dict[str, Any]]:
    button = {"type": "button", "text": {"type": "plain_text", "text": "Old"}, "action_id": action_id}
    return [{"type": "actions", "block_id": "old", "elements": [button]}]
