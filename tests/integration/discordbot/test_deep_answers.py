"""Deep answers on Discord: asked for by their prefix or by /ask, with their steps by name while they are made."""

from core.domain.conversation import ChannelAddress
from tests.integration.discordbot.house import texts, until
from tests.integration.discordbot.place import DiscordPlace
from tests.librarian import DEEP, KEY_IN_HOUSE


async def test_a_deep_question_shows_its_planned_steps_and_answers_in_its_form(place: DiscordPlace) -> None:
    place.says(*[DEEP] * 2)
    place.provider.held = {1}
    async with place.open() as house:
        await house.ada.send(house.channel, f"{house.bot} deep: where is the key, and who hung it there?")
        await house.drafts("✓ search “where is the key”")
        running = texts(await house.drafts("✓ search “who hung the key”"))
        assert "✓ plan" in running
        place.provider.go.set()
        [answer] = await house.answered()
        assert KEY_IN_HOUSE in texts(answer) and "Asked and not found: who hung it" in texts(answer)
        assert "https://footnote.example.org/s/1" in texts(answer)
        assert house.thread.name == "where is the key, and who hung it there?"


async def test_ask_has_deep_as_an_option(place: DiscordPlace) -> None:
    place.says(*[DEEP] * 2)
    async with place.open() as house:
        await house.ada.slash(house.channel, "ask", question="where is the key?", deep=True)
        [answer] = await house.answered()
        assert "Asked and not found: who hung it" in texts(answer)


async def test_an_admin_makes_a_channel_answer_deeply(place: DiscordPlace) -> None:
    place.says(*[DEEP] * 2)
    async with place.open() as house:
        await house.admin().slash(house.channel, "settings", name="strategy", value="deep")
        address = ChannelAddress(platform="discord", workspace="local", channel=str(house.channel.id))
        assert (await place.settings.channel(address)).strategy == "plan_and_synthesise"
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await until(lambda: len(place.provider.requests) == 2)
        [answer] = await house.answered()
        assert "Asked and not found: who hung it" in texts(answer)
