"""Deep answers in the browser: asked for by their prefix, with their steps by name while they are made."""

import asyncio

from core.serializers.objects import Json
from tests.librarian import DEEP, KEY_IN_HOUSE
from tests.unit.bot.web.chat_place import KEY, ChatPlace, Visitor


async def planned_steps(ada: Visitor, thread: str) -> list[Json]:
    """The steps of the thread's running answer, when all that was planned is done."""
    async with asyncio.timeout(60):
        while True:
            live = [item["live"] for item in (await ada.show(thread))["waiting"] if item["live"]]
            steps = [step for item in live for step in item["steps"] if step["parent"] is not None]
            if len([step for step in steps if step["kind"] == "tool" and step["status"] == "done"]) == 2:
                return steps
            await asyncio.sleep(0.01)


async def test_a_deep_question_shows_its_planned_steps_and_answers_in_its_form() -> None:
    place = ChatPlace((DEEP, DEEP))
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
    place.provider.held = {1}
    async with place.open() as ada:
        sent = await ada.send("@footnote deep: where is the key, and who hung it there?")
        steps = await planned_steps(ada, sent["thread"])
        place.provider.go.set()
        question, answer = await ada.answered(sent["thread"])
        home = await (await ada.client.get("/chat/home")).json()

    shown = [step["words"] for step in steps if step["kind"] == "tool"]
    assert shown == ["Searching for “where is the key”", "Searching for “who hung the key”"]
    assert KEY_IN_HOUSE in answer["html"] and 'class="footnote"' in answer["html"]
    assert answer["gaps"] == ["who hung it"]
    assert question["text"].startswith("deep: ")
    assert [row["title"] for row in home["threads"]] == ["where is the key, and who hung it there?"]
