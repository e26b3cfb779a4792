"""What a question names and what was looked at besides, below answers on Discord."""

from core.answering.providers.scripted import calls, says
from core.domain.answer import ToolInvocation
from tests.integration.discordbot.house import buttons, texts, told
from tests.integration.discordbot.place import KEY, DiscordPlace

MANY = calls(ToolInvocation(id="t1", name="search", arguments={"query": "drawer", "limit": 20}))


async def test_a_linked_document_is_shown_with_path_and_line_and_can_be_cited(place: DiscordPlace) -> None:
    place.says(says("It hangs under the stairs [2]."))
    async with place.open() as house:
        await house.ask("where is the key of [[House]]?")
        shown = texts(await house.shows("under the stairs"))
        assert f"-# House: house.md, cited — {KEY}" in shown
        assert "All references" not in buttons(house.posts()[0])


async def test_a_broken_link_is_told_with_what_may_have_been_meant(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask("where is the key of [[Hous]]?")
        shown = texts(await house.shows("under the stairs"))
        assert "-# Hous: leads nowhere" in shown
        assert "Did you mean House?" in shown


async def test_ten_are_named_and_a_button_opens_the_rest_for_who_presses_even_after_a_restart(
    place: DiscordPlace,
) -> None:
    for number in range(14):
        await place.shelf.add(f"d{number}.md", f"A drawer of key {number}.", title=f"Drawer {number}")
    place.says(MANY, says("It is in the drawer of key 0 [1]."))
    async with place.open() as house:
        await house.ask("which drawer?")
        shown = texts(await house.shows("Also looked at"))
        assert "and 3 more" in shown
        await place.restart()
        listed = told(await house.ben.click(house.posts()[0], label="All references"))
        assert all(f"Drawer {number}: d{number}.md" in listed for number in range(14))
        assert len(house.posts()) == 1
