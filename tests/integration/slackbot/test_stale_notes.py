"""A thread on Slack is told once that its answers are out of date, and asks again by a button."""

import pytest

from tests.integration.slackbot.house import House, buttons, shown_of
from tests.integration.slackbot.place import ANSWER, SlackPlace, search
from tests.slack_server import Message

NEW = "# Keys\n\nThe key is with the harbour master."
NOTE = "is out of date"


async def change(place: SlackPlace, text: str = NEW, revision: str = "r2") -> int:
    """The document as it is read anew; how many notes are due."""
    [document] = await place.shelf.corpus.list_documents("local")
    await place.shelf.add(document.path, text, title=document.title, revision=revision)
    return await place.staleness.check()


def notes(house: House) -> list[Message]:
    return [item for item in house.posts() if NOTE in shown_of(item)]


async def is_idle(place: SlackPlace) -> bool:
    return await place.entries.list_open("local") == []


@pytest.mark.parametrize("over_http", [False, True])
async def test_a_thread_gets_one_note_and_further_syncs_none(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    async with place.open() as house:
        answer = await house.ask()
        assert await change(place) == 1
        note = await house.shows(NOTE)
        assert note.root == answer.root
        assert "“House” no longer says what footnote 1 quotes" in shown_of(note)
        assert "Ask again" in buttons(note)
        assert not house.channel.statuses

        assert await change(place, f"{NEW} Ask him.", "r3") == 0
        await place.restart()
        assert await place.staleness.check() == 0
        assert await is_idle(place)
        assert len(notes(house)) == 1


async def test_a_note_whose_post_was_made_before_a_crash_is_not_made_again(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ask()
        house.server.lose_reply_of_next("chat.postMessage")  # made, but nobody is told
        assert await change(place) == 1
        await house.until(lambda: notes(house))
        await place.restart()
        while not await is_idle(place):
            await house.server.settle()
        assert len(notes(house)) == 1


async def test_its_button_asks_again_in_the_place_of_the_old_answer(place: SlackPlace) -> None:
    place.says(search(), ANSWER, search("t2", "who has the key"), ANSWER)
    async with place.open() as house:
        answer = await house.ask()
        await change(place, "# Keys\n\nThe key hangs under the stairs now, they say.")
        note = await house.shows(NOTE)
        await place.restart()
        edits = answer.edits
        await house.ben.click(note, "Ask again")
        await house.told(house.ben, "Asked again")
        await house.until(lambda: answer.edits > edits, "the new answer in the old one's place")
        await house.answered()
        assert [item.ts for item in house.posts()] == [answer.ts, note.ts]


async def test_a_muted_thread_is_not_told(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        await house.ada.mention(house.channel, "mute", thread=answer)
        await house.until(lambda: house.server.answers(house.channel, thread=answer)[1:], "muted")
        assert await change(place) == 0
        assert notes(house) == []


async def test_a_private_answer_is_told_of_to_its_reader_alone(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.slash(house.channel, "ask where is the key? --private")
        await house.told(house.ada, "under the stairs")
        assert await change(place) == 1
        await house.shows(NOTE, house.ada.dm)
        assert house.posts() == []
