"""Commands typed into the chat page: they ask, stop, tell why, and set how a thread and its channel behave."""

import base64
import html
import json
import re

import pytest

from core.domain.extracts import ExtractType
from core.domain.identity import Role
from core.domain.replies import ChatResponse
from tests.builders import build_source
from tests.entering import sign_in
from tests.scripted import says
from tests.unit.bot.web.chat_place import ANSWER, KEY, ChatPlace, search


async def stocked(*script: ChatResponse) -> ChatPlace:
    place = ChatPlace(script=script)
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
    return place


@pytest.mark.parametrize("line", ["/ask where is the key? --document House", "/summary House"])
async def test_a_command_that_asks_in_a_channel_opens_a_thread_of_its_own(line: str) -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        channel, thread = (await ada.send(line))["result"]["open"]
        question, answer = await ada.answered(thread)
        again = (await ada.send(line, key="k1"))["result"]

    assert channel == "general"
    assert not question["text"].startswith("/")
    assert answer["status"] == "answered"
    assert again is None, "the same event runs nothing twice"


async def test_a_command_that_asks_in_a_thread_is_answered_there() -> None:
    place = await stocked(search(), ANSWER, search("t2"), ANSWER)
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        await ada.answered(thread)
        result = (await ada.send("/ask and where exactly?", thread))["result"]
        messages = await ada.answered(thread, 2)

    assert result["open"] == ["general", thread]
    assert messages[2]["text"] == "and where exactly?"


async def test_what_can_not_be_asked_is_said_to_its_giver_alone() -> None:
    place = await stocked()
    async with place.open() as ada:
        private = await ada.post("/ask where? --private")
        empty = await ada.send("/ask deep:")

    assert (private.status, "Everyone can see" in (await private.json())["error"]) == (400, True)
    assert empty["result"]["open"] is None
    assert "There is nothing after" in empty["result"]["html"]


async def test_extracted_rows_are_shown_with_their_footnotes_to_their_giver_alone() -> None:
    place = await stocked()
    document = await place.shelf.add("council.md", "Ann buys paint.", title="Council")
    item = {"description": "buy paint", "owner": "Ann", "page_number": 1, "span": [0, 15]}
    await place.shelf.extract(document, ExtractType.MEETING, {"title": "Council", "action_items": [item]})
    async with place.open() as ada:
        found = (await ada.send("/facts open action items of Ann"))["result"]
        listed = (await ada.send("/extract Council --type action_item"))["result"]
        refused = await ada.post("/facts type:nonsense")
        links = re.findall(r'<a class="footnote" href="([^"]+)"', found["html"])
        opened = await (await ada.client.get(html.unescape(links[0]))).text()

    assert len(links) == 2 and links[0] == links[1]  # where the row stands, and beside its quote
    assert "<mark" in opened and "Ann buys paint." in opened
    assert found["open"] is None
    assert "buy paint" in found["html"] and "“Ann buys paint.”" in found["html"]
    assert "1 row" in listed["html"]
    assert (refused.status, "Unknown type" in (await refused.json())["error"]) == (400, True)


@pytest.mark.parametrize("name", ["Ada", "Ben"])  # who owns the machine moderates there, under any name
async def test_stop_ends_the_question_that_runs_in_the_thread(name: str) -> None:
    place = await stocked(ANSWER)
    place.provider.held.add(0)
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        await ada.writing(thread)
        jobs = (await ada.send("/jobs", thread))["result"]["html"]
        await ada.name(name)
        stopped = await ada.send("/stop", thread)
        answer = (await ada.answered(thread))[1]

    assert "answer: running" in jobs
    assert "Stopping" in stopped["result"]["html"]
    assert answer["status"] == "stopped"


async def test_why_tells_what_became_of_the_newest_message_with_the_fix() -> None:
    place = await stocked(search(), ANSWER, search("t2"), ANSWER)
    async with place.open() as ada:
        thread = (await ada.send("where is the key?"))["thread"]
        await ada.answered(thread)
        await ada.send("@ben good morning", thread)
        aside = (await ada.send("/why", thread))["result"]["html"]
        await ada.send("@footnote where is the key?", thread)
        await ada.answered(thread, 2)
        answered = (await ada.send("/why", thread))["result"]["html"]

    assert "Mention me to ask" in aside
    assert "Its answer is posted." in answered


async def test_a_muted_thread_answers_mentions_alone_until_it_is_unmuted() -> None:
    place = await stocked(search(), ANSWER, search("t2"), ANSWER, search("t3"), ANSWER)
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        await ada.answered(thread)
        await ada.send("/mute", thread)
        left_alone = await ada.send("and the garden?", thread)
        await ada.send("@footnote and the shed?", thread)
        await ada.answered(thread, 2)
        await ada.send("/unmute", thread)
        heard = await ada.send("and the door?", thread)
        messages = await ada.answered(thread, 3)

    assert (left_alone["code"], left_alone["talk"], heard["code"]) == ("muted", True, "accepted")
    assert [item["text"] for item in messages if item["role"] == "user"][1] == "and the garden?"


async def test_a_person_gets_all_that_is_stored_about_them_as_a_file() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        await ada.answered((await ada.send("@footnote where is the key?"))["thread"])
        file = (await ada.send("/mydata"))["result"]["file"]

    found = json.loads(base64.b64decode(file["data"]))
    assert file["name"] == "footnote-my-data.json"
    assert [row["content"] for row in found["messages"]] == ["where is the key?"]


async def test_the_sources_of_a_channel_bound_its_answers_commands_and_pages() -> None:
    place = await stocked(search(), ANSWER, search("t2"), ANSWER)
    await place.shelf.corpus.save_source(build_source("wiki"))
    async with place.open() as ada:
        await ada.send("/settings sources wiki", channel="kids")
        sources = (await ada.send("/sources", channel="kids"))["result"]["html"]
        thread = (await ada.send("@footnote where is the key?", channel="kids"))["thread"]
        _, answer = await ada.answered(thread, channel="kids")

    assert "wiki" in sources and "handbook" not in sources
    assert (answer["status"], answer["sources"]) == ("not_found", [])


async def test_a_footnotes_link_opens_what_its_channel_may_read_now() -> None:
    place = await stocked(search(), ANSWER)
    await place.shelf.corpus.save_source(build_source("wiki"))
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        _, answer = await ada.answered(thread)
        link = re.search(r'href="(/s/[^"]+)"', answer["html"])[1]
        before = (await ada.client.get(link)).status
        await ada.send("/settings sources wiki")
        after = (await ada.client.get(link)).status

    assert (before, after) == (200, 404)


@pytest.mark.parametrize("role", [None, Role.MEMBER])
async def test_only_admins_change_settings(role: Role | None) -> None:
    place = await stocked()
    async with place.open(open_to_network=True) as ada:
        ada.client.session.cookie_jar.clear()
        if role is not None:
            await sign_in(ada.client, role, "Ben 1", "Ben")
        body = {"channel": "general", "text": "/settings limit 3", "key": "k"}
        refused = await ada.client.post("/chat/messages", json=body)
        error = (await refused.json())["error"]
        shown = await ada.send("/settings")

    assert (refused.status, "Only an admin" in error) == (403, True)
    assert "off (the service" in shown["result"]["html"]


async def test_another_thread_is_renamed_exported_and_deleted_by_its_id() -> None:
    place = await stocked(search(), ANSWER)
    async with place.open() as ada:
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        await ada.answered(thread)
        conversation = (await place.conversations.list_conversations("local"))[0]
        await ada.send(f"/threads rename {conversation.id} Old keys")
        renamed = (await ada.show(thread))["title"]
        exported = (await ada.send(f"/threads export {conversation.id[:8]} json"))["result"]["file"]
        deleted = (await ada.send("/threads delete 1"))["result"]
        gone = await ada.client.get(f"/chat/threads/general/{thread}")

    assert renamed == "Old keys"
    assert exported["name"].endswith(".json")
    assert deleted["leave"] is False, "it was not the thread that is open"
    assert gone.status == 404


async def test_the_position_of_a_channel_holds_for_its_questions_and_is_shown_with_ones_own() -> None:
    place = await stocked(search(), says("I found nothing."))
    await place.shelf.add("shed.md", "# Shed\n\nA shed.", "# Roof\n\nThe key of the shed is lost.", title="Shed")
    async with place.open() as ada:
        told = (await ada.send("/position shed.md 1 --channel"))["result"]["html"]
        await ada.send("/position shed.md roof")
        shown = (await ada.send("/position"))["result"]["html"]
        thread = (await ada.send("@footnote where is the key?"))["thread"]
        await ada.answered(thread)

    assert "beyond page 1" in told
    assert shown.index("up to page 2") < shown.index("up to page 1")
    assert "of the shed is lost" not in repr(place.provider.requests)
