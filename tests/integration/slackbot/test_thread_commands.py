"""/threads and what is done with a conversation by command."""

import json
from typing import Any

import pytest

from core.domain.incoming import ThreadAddress
from tests.builders import build_conversation
from tests.integration.slackbot.house import House, shown_of
from tests.integration.slackbot.place import SlackPlace
from tests.slack_server import Channel, Message, Person, View
from tests.slack_server.choosing import blocks_of
from tests.slack_server.transcript import elements

STAIRS = "under the stairs"
TRANSPORTS = pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])


def links_in(where: Message | View) -> dict[str, str]:
    """Label -> address of the links and of the link buttons in a message or a view."""
    found = [piece for block in blocks_of(where) for piece in _pieces(block) if piece.get("type") == "link"]
    pressed = [one for one in elements(blocks_of(where)) if one.get("url")]
    return {one["text"]: one["url"] for one in found} | {one["text"]["text"]: one["url"] for one in pressed}


def _pieces(block: dict[str, Any]) -> list[dict[str, Any]]:
    inner = [one for one in block.get("elements") or () if isinstance(one, dict)]
    return [piece for one in inner for piece in (one, *_pieces(one))]


def permalink(message: Message) -> str:
    """Of the first message of a thread."""
    return f"https://acme.slack.com/archives/{message.channel.id}/p{message.root.replace('.', '')}"


async def many(place: SlackPlace, house: House, count: int) -> None:
    """Conversations of Ada's in the channel."""
    for number in range(count):
        await place.conversation_store.add(
            build_conversation(
                f"conversation-{number}",
                address=ThreadAddress(
                    platform="slack", workspace="local", channel=house.channel.id, thread=f"1700000000.{number:06}"
                ),
                owner=house.ada.id,
                title=f"Question {number}",
            )
        )


async def test_conversations_are_listed_with_links_to_their_threads(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        await house.ada.slash(house.channel, "threads")
        shown = await house.told_once(house.ada, "Your conversations")
        assert links_in(shown) == {"where is the key?": permalink(answer)}
        await house.ben.slash(house.channel, "threads")
        await house.told_once(house.ben, "No conversations yet")
        await house.ben.slash(house.channel, "threads here")
        assert "where is the key?" in shown_of(await house.told_once(house.ben, "Conversations of this channel"))


@TRANSPORTS
async def test_a_long_list_is_paged_by_buttons_that_survive_a_restart(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    async with place.open() as house:
        await many(place, house, 23)
        await house.ada.slash(house.channel, "threads")
        first = await house.told_once(house.ada, "page 1 of 3")
        assert len(links_in(first)) == 10
        await place.restart()
        await house.ada.click(first, "Next page")
        page = shown_of(await house.told(house.ada, "page 2 of 3"))
        assert "11. " in page and "20. " in page


async def test_opening_shows_the_way_to_the_thread(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        await house.ada.slash(house.channel, "open 1")
        opened = await house.told_once(house.ada, "Continue “where is the key?” in its thread.")
        assert links_in(opened) == {"Go there": permalink(answer)}


async def test_a_private_conversation_and_one_of_another_platform_are_not_linked(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.slash(house.channel, "ask where is the key --private")
        await house.told(house.ada, "under the stairs")
        web = ThreadAddress(platform="web", workspace="local", channel="web", thread="1")
        await place.conversation_store.add(
            build_conversation("elsewhere", address=web, owner=house.ada.id, title="On the web")
        )
        await house.ada.slash(house.channel, "threads")
        shown = await house.told_once(house.ada, "Your conversations")
        assert "where is the key" in shown_of(shown) and "On the web" in shown_of(shown)
        assert links_in(shown) == {}
        await house.ada.slash(house.channel, "open elsewhere")
        await house.told_once(house.ada, "is on web. Continue there")
        [own] = [one for one in await place.conversations.list_conversations("local") if one.address.private_to]
        await house.ada.slash(house.channel, f"open {own.id}")
        await house.told_once(house.ada, "with `/footnote ask … --private` in its channel")


async def test_a_conversation_is_renamed_in_its_thread_for_all_to_see(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        await house.ada.mention(house.channel, "rename Keys of the house", thread=answer)
        said = await house.shows("Renamed to “Keys of the house”.")
        assert said.root == answer.root
        [conversation] = await place.conversations.list_conversations("local")
        assert conversation.title == "Keys of the house"


async def test_only_who_began_it_renames_and_deletes(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        for typed in ("rename Mine", "delete"):
            await house.ben.mention(house.channel, typed, thread=answer)
        await house.until(lambda: len(house.server.calls("chat.postEphemeral")) == 2)
        await house.told(house.ben, "Only a moderator or the person who started")
        await house.ada.mention(house.channel, "delete", thread=answer)
        await house.shows("Deleted “where is the key?” with its messages.")
        assert await place.conversations.list_conversations("local") == []


@pytest.mark.parametrize("dies", [False, True], ids=["goes on", "restarts"])
async def test_deleting_a_conversation_deletes_its_answers_there(place: SlackPlace, dies: bool) -> None:
    async with place.open() as house:
        first = await house.ask()
        await house.ada.reply(first, "and the other one?")
        await house.answered(house.channel, 2)
        if dies:
            house.server.fail_next("chat.delete", status=429, retry_after_seconds=1)
        await house.ada.mention(house.channel, "delete", thread=first)
        await house.shows("Deleted “where is the key?” with its messages.")
        if dies:
            await place.restart()
        await house.until(lambda: STAIRS not in house.server.transcript(house.channel), "no answer")
        assert all(entry.incoming.text == "" for entry in await place.entries.recent("local"))


@TRANSPORTS
@pytest.mark.parametrize(("typed", "ending"), [("export json", ".json"), ("export", ".md"), ("export pdf", ".pdf")])
async def test_a_conversation_is_exported_into_the_direct_channel_of_who_asked(
    place: SlackPlace, over_http: bool, typed: str, ending: str
) -> None:
    place.over_http = over_http
    async with place.open() as house:
        answer = await house.ask()
        await house.ben.mention(house.channel, typed, thread=answer)
        await house.told_once(house.ben, "I sent you the file as a direct message.")
        [name, text] = await sent_file(house, house.ben)
        assert name.endswith(ending)
        assert text.startswith("%PDF-") if ending == ".pdf" else "where is the key?" in text
        if ending == ".json":
            assert json.loads(text)["messages"]
        assert all(not one.files for one in house.server.answers(house.channel))


async def test_a_person_gets_all_that_is_stored_about_them_as_a_direct_message(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        await house.ada.mention(house.channel, "mydata", thread=answer)
        await house.told_once(house.ada, "I sent you the file as a direct message.")
        [name, text] = await sent_file(house, house.ada)
        assert name == "footnote-my-data.json"
        assert [row["content"] for row in json.loads(text)["messages"]] == ["where is the key?"]
        assert all(not one.files for one in house.server.answers(house.channel))


async def test_an_export_from_the_direct_channel_stays_in_its_thread(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.say(house.ada.dm, "where is the key?")
        [answer] = await house.answered(house.ada.dm)
        await house.ada.say(house.ada.dm, "export", thread=answer)
        await sent_file(house, house.ada)
        [shared] = [one for one in house.posts(house.ada.dm) if one.files]
        assert shared.root == answer.root


async def test_what_was_found_in_a_thread_is_summed_up_for_who_asks(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        await house.ben.mention(house.channel, "recap", thread=answer)
        said = await house.told_once(house.ben, "where is the key?")
        assert "Page 1 of" in shown_of(said)
        assert said.only_to == house.ben.id


async def test_without_the_right_to_send_files_that_is_said(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        house.server.fail_next("files.getUploadURLExternal", "missing_scope")
        await house.ada.mention(house.channel, "export", thread=answer)
        said = await house.told_once(house.ada, "I'm not allowed to send files")
        assert said.only_to == house.ada.id
        assert [one for one in house.posts(house.ada.dm) if one.files] == []


async def sent_file(house: House, person: Person) -> tuple[str, str]:
    """Name and content of the file in a direct channel, when there is one."""
    place: Channel = person.dm
    await house.until(lambda: any(one.files for one in house.posts(place)), "the file")
    [file] = [file for one in house.posts(place) for file in one.files]
    return file.name, file.data.decode(errors="replace")
