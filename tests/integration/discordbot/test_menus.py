"""What can be done with any message: ask about it, keep it as an answer. Forms and menus survive a restart."""

import discord
import pytest

from bot.discordbot.actions.handler import LibraryRules
from core.domain.incoming import ThreadAddress
from core.features.kept_answers import KEPT_SOURCE
from tests.integration.discordbot.house import FINAL, House, buttons, texts, told, until
from tests.integration.discordbot.place import DiscordPlace
from tests.integration.discordbot.test_readers import SEEN, _closed_channel
from tests.integration.platform_place import search
from tests.scripted import says

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
async def test_an_answer_is_found_once_a_reviewer_accepts_its_proposal_and_no_more_once_that_is_undone(
    place: DiscordPlace, restarts: bool
) -> None:
    async with place.open() as house:
        await house.ask()
        [answer] = house.posts()
        if restarts:
            await place.restart()
        kept = await house.ben.context_menu(house.thread, "Keep as answer", answer)
        await until(lambda: kept.response is not None)
        assert "Proposed: “where is the key?”. It can be found once a reviewer accepts it." in told(kept)
        assert await _kept(place) == []
        [proposal] = await place.shelf.stores.kept.list_kept("local")
        assert (proposal.author_name, proposal.readers) == ("ben", frozenset({f"channel:{house.channel.id}"}))
        assert proposal.link == f"https://discord.com/channels/{house.guild.id}/{house.thread.id}/{answer.id}"

        admin, id = house.admin(), proposal.id[:6]
        refused = await house.ben.slash(house.channel, "inbox")
        assert "Only reviewers" in told(refused)
        inbox = await admin.slash(house.channel, "inbox")
        assert f"`{id}` Proposed: where is the key? (said by ben, proposed by ben" in told(inbox)
        accepted = await admin.slash(house.channel, "inbox", action="accept", id=id)
        assert "as said by ben" in told(accepted)
        [(title, text, link)] = await _kept(place)
        assert title == "Said by ben: where is the key?"
        assert text.startswith("## where is the key?\n\nThe key hangs under the stairs.\n\nSaid by ben, accepted by ")
        assert link == proposal.link

        place.says(search("t9", "said by ben"), says("Under the stairs [2]."))
        await house.ada.send(house.channel, f"{house.bot} what did ben say about the key?")
        found = await house.shows("Not found in the documents")
        listed = told(await house.choose(house.ben, found, "Also looked at"))
        assert "Said by ben: where is the key?" in listed

        undone = await admin.slash(house.channel, "inbox", action="undo", id=id)
        assert "nothing finds it" in told(undone)
        assert await _kept(place) == []


@RESTARTS
async def test_a_message_of_people_is_proposed_with_the_question_that_a_form_asks_for(
    place: DiscordPlace, restarts: bool
) -> None:
    async with place.open() as house:
        said = await house.ben.send(house.channel, "I put it into the blue box [1].")
        form = await house.ada.context_menu(house.channel, "Keep as answer", said)
        assert form.modal["title"] == "Keep as answer"
        if restarts:
            await place.restart()
        kept = await house.ada.submit_modal(form, {FIELD: "Where is the box?"})
        assert "Proposed: “Where is the box?”" in told(kept)
        [proposal] = await place.shelf.stores.kept.list_kept("local")
        assert (proposal.text, proposal.said_by_name, proposal.author_name) == (said.content, "ben", "ada")
        assert proposal.link.endswith(f"/{house.channel.id}/{said.id}")


async def test_who_wrote_a_message_can_take_it_back_and_it_goes_when_it_is_deleted(place: DiscordPlace) -> None:
    async with place.open() as house:
        for way in ("taken back", "deleted"):
            said = await house.ben.send(house.channel, f"I put it into the blue box, {way}.")
            form = await house.ada.context_menu(house.channel, "Keep as answer", said)
            await house.ada.submit_modal(form, {FIELD: "Where is the box?"})
            [proposal] = await place.shelf.stores.kept.list_kept("local")
            admin = house.admin()
            assert "as said by ben" in told(
                await admin.slash(house.channel, "inbox", action="accept", id=proposal.id[:6])
            )
            assert len(await _kept(place)) == 1
            if way == "deleted":
                await house.ben.delete(said)
                await house.env.settle()
            else:
                assert "Taken back" in told(await house.ben.slash(house.channel, "keep", action="back"))
            assert (await _kept(place), await place.shelf.stores.kept.list_kept()) == ([], [])


async def test_a_message_of_a_private_channel_is_found_there_and_not_in_a_public_one(place: DiscordPlace) -> None:
    async with place.open() as house:
        eve, second = house.admin(), house.admin("second")
        board = _closed_channel(house, {eve: SEEN, second: SEEN})
        said = await eve.send(board, "The safe opens with the brass crank.")
        form = await eve.context_menu(board, "Keep as answer", said)
        await eve.submit_modal(form, {FIELD: "How does the safe open?"})
        [proposal] = await place.shelf.stores.kept.list_kept("local")
        assert "another reviewer" in told(await eve.slash(board, "inbox", action="accept", id=proposal.id[:6]))
        outsider = await house.admin("third").slash(house.channel, "inbox")
        assert "safe" not in told(outsider)
        assert "Kept: " in told(await second.slash(house.channel, "inbox", action="accept", id=proposal.id[:6]))
        titles = {}
        for channel in (board, house.channel):
            address = ThreadAddress(platform="discord", workspace="local", channel=str(channel.id), thread="")
            scope = await place.shelf.access.scope("local", address)
            titles[channel.id] = [document.title for document in await place.shelf.library.documents(scope)]
        assert titles == {
            board.id: ["House", "Said by eve: How does the safe open?"],
            house.channel.id: ["House"],
        }


async def test_members_of_a_configured_role_review_without_being_admins(place: DiscordPlace) -> None:
    place.rules = LibraryRules(reviewers=frozenset({"editors"}))
    async with place.open() as house:
        await house.ask()
        await house.ben.context_menu(house.thread, "Keep as answer", house.posts()[0])
        assert "Only reviewers" in told(await house.ben.slash(house.channel, "inbox"))
        role = house.guild.create_role("editors")
        house.env.backend.add_member_role(house.guild.id, house.ben.id, role.id)
        assert "Proposed: where is the key?" in told(await house.ben.slash(house.channel, "inbox"))
        assert "Only an admin" in told(
            await house.ben.slash(house.channel, "settings", name="language", value="French")
        )


async def test_the_same_message_is_proposed_once(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        for person, words in ((house.ada, "Proposed: "), (house.ada, "Proposed: "), (house.ben, "ada proposed this")):
            kept = await person.context_menu(house.thread, "Keep as answer", house.posts()[0])
            assert words in told(kept)
        assert len(await place.shelf.stores.kept.list_kept()) == 1


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


async def _kept(place: DiscordPlace) -> list[tuple[str, str, str]]:
    """Title, text and link of the kept answers that a reader of the whole workspace finds."""
    scope = await place.shelf.access.scope("local")
    found = [item for item in await place.shelf.corpus.list_readable(scope) if item.source == KEPT_SOURCE]
    return [
        (document.title, page.text, page.deep_link or "")
        for document in found
        for page in await place.shelf.corpus.list_pages(document.id, scope)
    ]
