"""A thread of the chat page is told once that an answer is out of date, and asks it again."""

import asyncio

from tests.scripted import says
from tests.unit.bot.web.chat_place import KEY, ChatPlace, Visitor, search

NEW = "# Keys\n\nThe key is with the harbour master."


def place_of(*more: str) -> ChatPlace:
    found = [turn for number, text in enumerate((KEY, *more)) for turn in (search(f"t{number}"), says(f"{text} [1]."))]
    return ChatPlace(script=tuple(found))


async def begin(place: ChatPlace) -> None:
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")


async def change(place: ChatPlace, revision: str = "r2") -> int:
    await place.shelf.add("house.md", f"{NEW} It is {revision}.", title="House", revision=revision)
    return await place.staleness.check()


async def settled(place: ChatPlace) -> None:
    async with asyncio.timeout(60):
        while await place.entries.list_open("local"):  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.01)


async def asked(visitor: Visitor) -> str:
    thread = (await visitor.send("@footnote Where is the key?"))["thread"]
    await visitor.answered(thread)
    return thread


async def test_the_note_is_the_threads_last_message_and_comes_once() -> None:
    place = place_of()
    await begin(place)
    async with place.open() as visitor:
        thread = await asked(visitor)
        assert await change(place) == 1
        await settled(place)
        question, answer, note = (await visitor.show(thread))["messages"]
        assert (answer["stale"], answer["note"], note["note"], note["status"]) == (True, False, True, None)
        assert "“House” no longer says what footnote 1 quotes" in note["html"]
        again = [{"message": answer["id"], "question": "Where is the key?"}]
        assert (answer["again"], note["again"]) == (again, again)
        assert question["role"] == "user"

        assert await change(place, "r3") == 0
        await settled(place)
        assert len((await visitor.show(thread))["messages"]) == 3


async def test_a_note_that_waits_is_no_question_and_survives_a_restart() -> None:
    place = place_of()
    await begin(place)
    async with place.open() as visitor:
        thread = await asked(visitor)
    await change(place)
    place.begin()
    async with place.open(works=False) as visitor:
        assert (await visitor.show(thread))["waiting"] == []
    place.begin()
    async with place.open() as visitor:
        await settled(place)
        assert [item["note"] for item in (await visitor.show(thread))["messages"][1:]] == [False, True]


async def test_asking_again_answers_the_question_once_more_and_the_buttons_go() -> None:
    place = place_of("The key is with the harbour master")
    await begin(place)
    async with place.open() as visitor:
        thread = await asked(visitor)
        await change(place)
        await settled(place)
        answer = (await visitor.show(thread))["messages"][1]
        path = f"/chat/threads/general/{thread}/again"
        pressed = [await visitor.client.post(path, json={"message": answer["id"]}) for _ in range(2)]
        assert pressed[0].status == 200, await pressed[0].text()
        messages = await visitor.answered(thread, count=3)
        assert [item["text"] for item in messages if item["role"] == "user"] == ["Where is the key?"] * 2
        assert "harbour master" in messages[-1]["html"]
        assert all(item["again"] == [] for item in messages if item["role"] == "assistant")
        assert await place.staleness.list_stale("local") == []


async def test_an_answer_of_another_thread_and_one_that_is_gone_are_not_asked_again() -> None:
    place = place_of()
    await begin(place)
    async with place.open() as visitor:
        thread = await asked(visitor)
        answer = (await visitor.show(thread))["messages"][1]
        for path, message in (("elsewhere", answer["id"]), (thread, "unknown")):
            response = await visitor.client.post(f"/chat/threads/general/{path}/again", json={"message": message})
            assert response.status == 404


async def test_the_command_lists_stale_answers_and_asks_one_again() -> None:
    place = place_of("The key is with the harbour master")
    await begin(place)
    async with place.open() as visitor:
        thread = await asked(visitor)
        assert "No stale answers" in (await visitor.send("/stale", thread))["result"]["html"]
        await change(place)
        await settled(place)
        assert "Where is the key?: “House” no longer says" in (await visitor.send("/stale", thread))["result"]["html"]
        assert (await visitor.post("/stale 7", thread)).status == 400
        await visitor.send("/stale 1", thread)
        messages = await visitor.answered(thread, count=3)
        assert "harbour master" in messages[-1]["html"]
