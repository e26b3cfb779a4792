"""What a question names and what was looked at besides, below answers on Slack."""

from bot.presentation.answer_text import ALL_REFERENCES_LABEL
from core.domain.chat import ToolInvocation
from tests.integration.slackbot.house import shown_of
from tests.integration.slackbot.place import KEY, SlackPlace
from tests.scripted import calls, says

MANY = calls(ToolInvocation(id="t1", name="search", arguments={"query": "drawer", "limit": 20}))


async def test_a_linked_document_is_shown_with_path_and_line_and_can_be_cited(place: SlackPlace) -> None:
    place.says(says("It hangs under the stairs [2]."))
    async with place.open() as house:
        answer = await house.ask("where is the key of [[House]]?")
        assert KEY not in shown_of(answer)
        await house.ben.choose(answer, ALL_REFERENCES_LABEL)
        await house.told_once(house.ben, f"House: house.md, cited — {KEY}")


async def test_a_broken_link_is_told_with_what_may_have_been_meant(place: SlackPlace) -> None:
    async with place.open() as house:
        shown = shown_of(await house.ask("where is the key of [[Hous]]?"))
        assert "Hous: leads nowhere" in shown
        assert "Did you mean House?" in shown


async def test_documents_looked_at_are_a_list_for_who_asks_for_it_even_after_a_restart(
    place: SlackPlace,
) -> None:
    for number in range(14):
        await place.shelf.add(f"d{number}.md", f"A drawer of key {number}.", title=f"Drawer {number}")
    place.says(MANY, says("It is in the drawer of key 0 [1]."))
    async with place.open() as house:
        answer = await house.ask("which drawer?")
        assert "Drawer 13" not in shown_of(answer)
        await place.restart()
        await house.ben.choose(answer, ALL_REFERENCES_LABEL)
        listed = shown_of(await house.told_once(house.ben, "d13.md"))
        assert all(f"Drawer {number}: d{number}.md" in listed for number in range(14))
        assert len(house.posts()) == 1
