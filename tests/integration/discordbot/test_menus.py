"""What can be done with any message: ask about it, keep it as an answer. Forms and menus survive a restart."""

import discord
import pytest

from core.features.kept_answers import KEPT_SOURCE
from tests.integration.discordbot.house import FINAL, House, buttons, texts, told, until
from tests.integration.discordbot.place import DiscordPlace

_MESSAGE = discord.AppCommandType.message
RESTARTS = pytest.mark.parametrize("restarts", [False, True], ids=["same process", "after a restart"])
FIELD = "fnfield:question"


@RESTARTS
async def test_a_question_about_a_message_is_asked_by_a_form(place: DiscordPlace, restarts: bool) -> None:
    async with place.open() as house:
        said = await house.ben.send(house.channel, "The stairs creak at midnight.")
        form = await house.ada.context_menu(house.channel, "Ask about this", said)
        assert form.modal["title"] == "Ask about this"
        if restarts:
            await place.restart()
        await house.ada.submit_modal(form, {FIELD: "is the key near?"})
        await house.answered()
        assert "ada** asks: is the key near?" in texts(house.posts(house.channel)[0])
        assert "The stairs creak at midnight." in str(place.provider.requests[0].messages)


@RESTARTS
async def test_an_answer_of_the_bot_is_kept_with_its_question(place: DiscordPlace, restarts: bool) -> None:
    async with place.open() as house:
        await house.ask()
        [answer] = house.posts()
        if restarts:
            await place.restart()
        kept = await house.ben.context_menu(house.thread, "Keep as answer", answer)
        await until(lambda: kept.response is not None)
        assert "Kept: “where is the key?” can be found and cited" in told(kept)
        [(text, link)] = await _kept(place)
        assert text.startswith("## where is the key?\n\nThe key hangs under the stairs.\n\nKept by ben on ")
        assert link == f"https://discord.com/channels/{house.guild.id}/{house.thread.id}/{answer.id}"


@RESTARTS
async def test_a_message_of_people_is_kept_with_the_question_that_a_form_asks_for(
    place: DiscordPlace, restarts: bool
) -> None:
    async with place.open() as house:
        said = await house.ben.send(house.channel, "I put it into the blue box [1].")
        form = await house.ada.context_menu(house.channel, "Keep as answer", said)
        assert form.modal["title"] == "Keep as answer"
        if restarts:
            await place.restart()
        kept = await house.ada.submit_modal(form, {FIELD: "Where is the box?"})
        assert "Kept: “Where is the box?”" in told(kept)
        [(text, link)] = await _kept(place)
        assert "I put it into the blue box [1]." in text
        assert link.endswith(f"/{house.channel.id}/{said.id}")


async def test_the_same_message_is_kept_once(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        for words in ("Kept: ", "Kept again: "):
            kept = await house.ada.context_menu(house.thread, "Keep as answer", house.posts()[0])
            assert words in told(kept)
        assert len(await _kept(place)) == 1


async def test_what_is_no_answer_is_not_kept(place: DiscordPlace) -> None:
    async with place.open() as house:
        await _stopped(place, house)
        kept = await house.ada.context_menu(house.thread, "Keep as answer", house.posts()[0])
        assert "Only answers can be kept" in told(kept)


async def test_a_message_that_is_gone_when_the_form_comes_back_is_named(place: DiscordPlace) -> None:
    async with place.open() as house:
        said = await house.ben.send(house.channel, "The stairs creak at midnight.")
        form = await house.ada.context_menu(house.channel, "Ask about this", said)
        await house.ben.delete(said)
        assert "deleted" in told(await house.ada.submit_modal(form, {FIELD: "is the key near?"}))
        assert [code for code in await place.codes() if code == "accepted"] == []


async def test_a_form_is_for_messages_of_the_channel_it_is_sent_in_alone(place: DiscordPlace) -> None:
    async with place.open() as house:
        board = house.guild.create_text_channel("board")
        secret = await house.ada.send(board, "The safe opens with 1234.")
        said = await house.ben.send(house.channel, "The stairs creak at midnight.")
        for name in (f"fnform:about@{board.id}/{secret.id}", "fnform:about@x/y", "fnform:about"):
            form = await house.ben.context_menu(house.channel, "Ask about this", said)
            sent = form._interaction.modal
            assert sent is not None
            sent["custom_id"] = name  # as a client that is not Discord's may send it
            refused = told(await house.ben.submit_modal(form, {FIELD: "what does it say?"}))
            assert "Choose the message" in refused
        assert await place.codes() == ["needs_mention", "needs_mention"]


async def test_an_answer_for_one_person_is_not_kept_for_all(place: DiscordPlace) -> None:
    async with place.open() as house:
        result = await house.ada.slash(house.channel, "ask", question="where is the key?", private=True)
        await until(lambda: set(FINAL) <= set(buttons(result.response.message)))
        kept = await house.ada.context_menu(house.channel, "Keep as answer", result.response.message)
        assert "answer is private" in told(kept)
        assert [item for item in await place.shelf.corpus.list_documents("local") if item.source == KEPT_SOURCE] == []


async def test_an_answer_to_a_direct_message_is_not_kept_for_all(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send_dm("where is the key?")
        await house.answered(house.ada.user.dm_channel)
        assert "no web address" in told(await house.ada.user.slash("keep"))


async def test_without_a_place_to_keep_answers_there_is_no_menu_for_it(place: DiscordPlace) -> None:
    place.folder = None
    async with place.open() as house:
        commands = house.ada.available_commands(house.channel)
        assert "keep" not in commands
        menus = [command.name for command in place.client.tree.walk_commands(type=_MESSAGE)]
        assert sorted(menus) == ["Add to the library", "Ask about this"]


async def _stopped(place: DiscordPlace, house: House) -> None:
    place.provider.held = {1}
    await house.ada.send(house.channel, f"{house.bot} where is the key?")
    draft = await house.drafts("I have looked")
    await house.ada.click(draft, label="Stop")
    await house.shows("topped")


async def _kept(place: DiscordPlace) -> list[tuple[str, str]]:
    """Text and link of the workspace's kept answers."""
    scope = await place.shelf.access.scope("local")
    documents = await place.shelf.corpus.list_documents("local")
    [document] = [item for item in documents if item.source == KEPT_SOURCE]
    return [(page.text, page.deep_link or "") for page in await place.shelf.corpus.list_pages(document.id, scope)]
