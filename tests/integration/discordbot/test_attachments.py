"""Files sent with a question on Discord: read for its thread alone."""

from core.domain.chat import ToolInvocation
from tests.integration.discordbot.house import texts, told
from tests.integration.discordbot.place import ANSWER, DiscordPlace, search
from tests.scripted import calls, says
from tests.unit.storage.documents.pdf_files import build_pdf

PDF = build_pdf([[(50, 700, "The ferry sails at seven.")]])
FERRY = calls(ToolInvocation(id="f", name="search", arguments={"query": "when does the ferry sail"}))


async def test_a_text_and_a_pdf_are_read_and_cited_in_their_thread(place: DiscordPlace) -> None:
    place.says(FERRY, says("It sails at seven [2]."))  # what came with the question has the first numbers, in its order
    async with place.open() as house:
        files = [("tides.txt", b"The tide turns at noon."), ("ferry.pdf", PDF)]
        await house.ada.send(house.channel, f"{house.bot} when does the ferry sail?", attachments=files)
        await house.shows("It sails at seven")
        [answer] = await house.answered()
        assert "[ferry, p. 1](" in texts(answer)
        assert "attached in this thread" in told(await house.ada.slash(house.thread, "sources"))


async def test_another_thread_can_not_read_them(place: DiscordPlace) -> None:
    place.says(FERRY, says("It sails at seven [1]."), FERRY, says("I can't tell."))
    async with place.open() as house:
        await house.ada.send(house.channel, f"{house.bot} when does the ferry sail?", attachments=[("ferry.pdf", PDF)])
        await house.answered()
        assert "attached" not in told(await house.ada.slash(house.channel, "sources"))
        assert "ferry" not in told(await house.ada.slash(house.channel, "search", words="ferry sails"))
        await house.ben.send(house.channel, f"{house.bot} when does the ferry sail?")
        await house.answered()
        assert "ferry.pdf" not in str(place.provider.requests[-1])


async def test_files_without_a_word_ask_what_is_in_them(place: DiscordPlace) -> None:
    place.says(FERRY, says("It sails at seven [1]."))
    async with place.open() as house:
        await house.ada.send(house.channel, house.bot, attachments=[("ferry.pdf", PDF)])
        await house.answered()
        assert house.thread.name == "What is in ferry.pdf?"


async def test_a_file_that_can_not_be_read_is_named_and_the_answer_goes_on(place: DiscordPlace) -> None:
    place.says(search(), ANSWER)
    async with place.open() as house:
        files = [("broken.pdf", b"%PDF-1.7 no")]
        await house.ada.send(house.channel, f"{house.bot} where is the key?", attachments=files)
        await house.shows("I could not read broken.pdf")
        assert await house.shows("under the stairs")


async def test_a_file_that_was_taken_back_is_named(place: DiscordPlace) -> None:
    place.says(search(), ANSWER)
    async with place.open() as house:
        house.env.inject_error("GET", "/channels/*/messages/*", status=404, code=10008)
        await house.ada.send(house.channel, f"{house.bot} where is the key?", attachments=[("ferry.pdf", PDF)])
        assert await house.shows("I could not read ferry.pdf")


async def test_they_go_with_their_thread(place: DiscordPlace) -> None:
    place.says(FERRY, says("It sails at seven [1]."))
    async with place.open() as house:
        await house.ada.send(house.channel, f"{house.bot} when does the ferry sail?", attachments=[("ferry.pdf", PDF)])
        await house.answered()
        assert len(await place.shelf.corpus.list_sources("local")) == 2
        house.env.backend.delete_channel(house.thread.id)
        await house.env.settle()
        assert len(await place.shelf.corpus.list_sources("local")) == 1
