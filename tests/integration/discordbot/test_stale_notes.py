"""A thread on Discord is told once, and quietly, that its answers are out of date, and asks again by a button."""

import discord

from core.features.staleness.stale_notes import to_note
from tests.integration.discordbot.house import House, buttons, texts, told, until
from tests.integration.discordbot.place import ANSWER, DiscordPlace, search, turns

NEW = "# Keys\n\nThe key is with the harbour master."
NOTE = "is out of date"


async def change(place: DiscordPlace, text: str = NEW, revision: str = "r2") -> int:
    """The document as it is read anew; how many notes are due."""
    [document] = await place.shelf.corpus.list_documents("local")
    await place.shelf.add(document.path, text, title=document.title, revision=revision)
    return await place.staleness.check()


def notes(house: House) -> list[discord.Message]:
    return [item for item in house.posts() if NOTE in texts(item)]


async def test_a_thread_gets_one_quiet_note_and_further_syncs_none(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        assert await change(place) == 1
        note = await house.shows(NOTE)
        assert "“House” no longer says what footnote 1 quotes" in texts(note)
        assert "Ask again" in buttons(note)
        assert note.flags.suppress_notifications

        assert await change(place, f"{NEW} Ask him.", "r3") == 0
        await place.restart()
        assert await place.staleness.check() == 0
        assert await place.entries.list_open("local") == []
        assert len(notes(house)) == 1


async def test_a_note_due_while_the_bot_is_away_is_posted_once_when_it_is_back(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        async with place.asleep():
            await place.worker.stop()
            await change(place)
        await house.shows(NOTE)
        await place.restart()
        assert len(notes(house)) == 1


async def test_a_note_whose_post_was_made_before_a_crash_is_not_made_again(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        await place.worker.stop()
        await change(place)
        [entry] = await place.entries.claim(1, {"discord"})
        answer = to_note(await place.staleness.list_stale("local"), entry.incoming.conversation_id or "")
        await place.client.platform.post(entry.address, entry.message_key, answer, look_first=False)
        await place.entries.release_abandoned()
        await place.restart()
        await until(lambda: not place.worker.running)
        while await place.entries.list_open("local"):  # the worker finds the post, and ends the entry
            await house.env.settle()
        assert len(notes(house)) == 1


async def test_its_button_asks_again_in_the_place_of_the_old_answer(place: DiscordPlace) -> None:
    place.says(search(), ANSWER, search("t2", "who has the key"), ANSWER)
    async with place.open() as house:
        await house.ask()
        [old] = house.posts()
        await change(place, "# Keys\n\nThe key hangs under the stairs now, they say.")
        note = await house.shows(NOTE)
        await place.restart()

        assert "Asked again" in told(await house.ben.click(note, label="Ask again"))
        await until(lambda: place.provider.requests and not place.worker.running)
        await house.answered()
        assert [item.id for item in house.posts()] == [old.id, note.id]
        assert await place.staleness.list_stale("local") == []


async def test_a_muted_thread_is_not_told(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        await house.ada.slash(house.thread, "mute")
        assert await change(place) == 0
        assert notes(house) == []


async def test_a_private_answer_is_told_of_to_its_reader_alone(place: DiscordPlace) -> None:
    place.says(*turns(1))
    async with place.open() as house:
        result = await house.ada.slash(house.channel, "ask", question="where is the key?", private=True)
        await until(lambda: "[[1]](" in told(result))
        assert await change(place) == 1
        while await place.entries.list_open("local"):
            await house.env.settle()
        assert house.posts(house.channel) == [] and not house.channel.threads
