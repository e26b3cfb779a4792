"""Deep answers on Slack: asked for by their prefix or by command, with their steps as tasks while they are made."""

from tests.integration.slackbot.house import shown_of
from tests.integration.slackbot.place import SlackPlace
from tests.librarian import DEEP, KEY_IN_HOUSE


async def test_a_deep_question_shows_its_planned_steps_and_answers_in_its_form(place: SlackPlace) -> None:
    place.says(*[DEEP] * 2)
    place.provider.held = {1}
    async with place.open() as house:
        await house.ada.mention(house.channel, "deep: where is the key, and who hung it there?")

        def steps() -> list[str]:
            streams = [one.stream for one in house.posts() if one.stream is not None]
            return [task["title"] for stream in streams for task in stream.tasks]

        await house.until(lambda: len(steps()) >= 3, "the planned steps")
        assert {"Choosing what to read", "Searching for “where is the key”", "Searching for “who hung the key”"} <= set(
            steps()
        )
        place.provider.go.set()
        [answer] = await house.answered()
        assert KEY_IN_HOUSE in shown_of(answer) and "Asked and not found: who hung it" in shown_of(answer)


async def test_ask_has_deep_as_an_option(place: SlackPlace) -> None:
    place.says(*[DEEP] * 2)
    async with place.open() as house:
        await house.ada.slash(house.channel, "ask where is the key? --deep")
        [answer] = await house.answered()
        assert "Asked and not found: who hung it" in shown_of(answer)
