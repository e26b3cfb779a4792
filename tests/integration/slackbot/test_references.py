"""What a question names and what was looked at besides, below answers on Slack."""

from core.domain.chat import ToolInvocation
from tests.integration.slackbot.house import buttons, shown_of
from tests.integration.slackbot.place import KEY, SlackPlace
from tests.scripted import calls, says

MANY = calls(ToolInvocation(id="t1", name="search", arguments={"query": "drawer", "limit": 20}))


async def test_a_linked_document_is_shown_with_path_and_line_and_can_be_cited(place: SlackPlace) -> None:
    place.says(says("It hangs under the stairs [2]."))
    async with place.open() as house:
        answer = await house.ask("where is the key of [[House]]?")
        assert f"House: house.md, cited — {KEY}" in shown_of(answer)
        assert "All references" not in buttons(answer)


async def test_a_broken_link_is_told_with_what_may_have_been_meant(place: SlackPlace) -> None:
    async with place.open() as house:
        shown = shown_of(await house.ask("where is the key of [[Hous]]?"))
        assert "Hous: leads nowhere (no document has this name) — Did you mean House?" in shown


async def test_ten_are_named_and_a_button_opens_the_rest_for_who_presses_even_after_a_restart(
    place: SlackPlace,
) -> None:
    for number in range(14):
        await place.shelf.add(f"d{number}.md", f"A drawer of key {number}.", title=f"Drawer {number}")
    place.says(MANY, says("It is in the drawer of key 0 [1]."))
    async with place.open() as house:
        answer = await house.ask("which drawer?")
        assert "and 3 more" in shown_of(answer)
        await place.restart()
        await house.ben.click(answer, "All references")
        listed = shown_of(await house.told_once(house.ben, "d13.md"))
        assert all(f"Drawer {number}: d{number}.md" in listed for number in range(14))
        assert len(house.posts()) == 1
