"""What a question names and what was looked at besides, in threads of the chat page."""

from core.domain.chat import ToolInvocation
from tests.scripted import calls, says
from tests.unit.bot.web.chat_place import ANSWER, KEY, search
from tests.unit.bot.web.test_chat import stocked

MANY = calls(ToolInvocation(id="t1", name="search", arguments={"query": "drawer", "limit": 20}))


async def test_a_linked_document_is_shown_with_path_and_line_and_a_broken_link_with_a_guess() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key of [[House]], and [[Hous]]?"))["thread"]
        answer = (await ada.answered(thread))[-1]
        [named, broken] = answer["references"]["named"]
        opened = await ada.client.get(named["href"])

    assert (named["label"], named["detail"], named["summary"]) == ("House", "house.md", KEY)
    assert (broken["detail"], broken["summary"]) == (
        "leads nowhere (no document has this name)",
        "Did you mean House?",
    )
    assert opened.status == 200


async def test_more_than_ten_are_all_there_to_be_opened() -> None:
    place = await stocked(MANY, says("It is in the drawer of key 0 [1]."))
    for number in range(14):
        await place.shelf.add(f"d{number}.md", f"A drawer of key {number}.", title=f"Drawer {number}")
    async with place.open() as ada:
        thread = (await ada.send("@footnote which drawer?"))["thread"]
        references = (await ada.answered(thread))[-1]["references"]

    assert (len(references["seen"]), references["shown"]) == (13, 10)
