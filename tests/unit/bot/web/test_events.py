"""Live events: in order, resumed where a reader left off, bounded, and gone with their readers."""

import asyncio
import json

import pytest

from bot.web.events import RESET, Event, EventHub


async def take(hub: EventHub, topic: str, count: int, after: str | None = None) -> list[Event]:
    found: list[Event] = []
    events = hub.read(topic, after)
    async with asyncio.timeout(60):
        async for event in events:
            found.append(event)
            if len(found) == count:
                break
    await events.aclose()
    return found


def numbers(events: list[Event]) -> list[object]:
    return [event.data.get("n") for event in events]


async def test_a_reader_gets_events_in_order_as_they_come() -> None:
    hub = EventHub()
    reading = asyncio.create_task(take(hub, "a", 3))
    await asyncio.sleep(0)
    for number in range(3):
        hub.publish("a", "text", {"n": number})
        hub.publish("b", "text", {"n": -number})
    assert numbers(await reading) == [0, 1, 2]


async def test_a_reader_who_comes_back_gets_what_it_missed_and_nothing_twice() -> None:
    hub = EventHub()
    ids = [hub.publish("a", "text", {"n": number}) for number in range(5)]
    assert numbers(await take(hub, "a", 3, after=ids[1])) == [2, 3, 4]


async def test_a_position_taken_before_the_state_was_read_loses_nothing() -> None:
    hub = EventHub()
    cursor = hub.cursor("a")
    hub.publish("b", "text", {"n": 7})
    hub.publish("a", "text", {"n": 1})
    assert numbers(await take(hub, "a", 1, after=cursor)) == [1]


@pytest.mark.parametrize("stale", ["feedbeef-3", "nonsense", "", "-1"])
async def test_a_position_of_an_earlier_process_means_reading_the_state_anew(stale: str) -> None:
    hub = EventHub()
    hub.publish("a", "text", {"n": 1})
    (event,) = await take(hub, "a", 1, after=stale)
    assert event.kind == RESET
    hub.publish("a", "text", {"n": 2})
    assert numbers(await take(hub, "a", 1, after=event.id)) == [2]


async def test_a_position_that_left_the_ring_means_reading_the_state_anew() -> None:
    hub = EventHub(ring_events=3)
    ids = [hub.publish("a", "text", {"n": number}) for number in range(5)]
    assert (await take(hub, "a", 1, after=ids[0]))[0].kind == RESET
    assert numbers(await take(hub, "a", 3, after=ids[1])) == [2, 3, 4]


async def test_a_slow_reader_is_reset_instead_of_being_buffered_for() -> None:
    hub = EventHub(ring_events=3)
    events = hub.read("a")
    first = asyncio.create_task(anext(events))
    await asyncio.sleep(0)
    hub.publish("a", "text", {"n": 0})
    assert (await first).data == {"n": 0}
    for number in range(1, 10):
        hub.publish("a", "text", {"n": number})
    assert (await anext(events)).kind == RESET
    await events.aclose()


async def test_readers_that_go_leave_nothing_behind() -> None:
    hub = EventHub(idle_topics=2)
    for name in "abcdef":
        hub.publish(name, "text", {"n": 1})
        await take(hub, name, 1, after=hub.cursor(name).rpartition("-")[0] + "-0")
    assert (hub.readers, hub.topics) == (0, 2)


async def test_a_forgotten_topic_resets_those_who_come_back_to_it() -> None:
    hub = EventHub(idle_topics=0)
    seen = hub.publish("a", "text", {"n": 1})
    hub.publish("a", "text", {"n": 2})
    hub.publish("b", "text", {"n": 3})
    assert (await take(hub, "a", 1, after=seen))[0].kind == RESET


async def test_news_for_all_reaches_only_those_who_read_now() -> None:
    hub = EventHub()
    hub.publish("b", "text", {"n": 0})
    reading = asyncio.create_task(take(hub, "a", 1))
    await asyncio.sleep(0)
    before = hub.cursor("b")
    hub.publish_all("threads", {"n": 1})
    assert numbers(await reading) == [1]
    hub.publish("b", "text", {"n": 2})
    assert numbers(await take(hub, "b", 1, after=before)) == [2]


async def test_closing_ends_every_reader() -> None:
    hub = EventHub()
    reading = [asyncio.create_task(take(hub, "a", 1)) for _ in range(3)]
    await asyncio.sleep(0)
    hub.close()
    assert await asyncio.gather(*reading) == [[], [], []]
    assert hub.readers == 0


def test_an_event_is_one_block_whatever_its_text_holds() -> None:
    data = {"text": "one\ntwo\r\n\nevent: forged\u2028"}
    block = Event(id="x-1", kind="text", data=data).encode().decode()
    lines = block.split("\n")
    assert lines[:2] == ["id: x-1", "event: text"]
    assert lines[3:] == ["", ""]
    assert json.loads(lines[2].removeprefix("data: ")) == data
